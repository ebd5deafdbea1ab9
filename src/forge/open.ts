// Which forge a project has: what the settings name, else what its remote's address tells.

import { err, ok, type Result } from "../core/result.ts";
import { findProject, findRepository } from "../workspace/repository.ts";
import { openCourier } from "./courier.ts";
import type { Forge } from "./forge.ts";
import { createLocalForge } from "./local.ts";
import type { Network } from "./network.ts";
import { createRemoteForge } from "./remote.ts";
import { gitHubName, keepAddress, remoteAddress } from "./remote-address.ts";
import type { MergeSettings } from "./settings.ts";

export type ForgeOptions = {
  /** The state folder. */
  readonly home: string;
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folders of the project whose changes are Passrail's own. */
  readonly own: readonly string[];
  readonly settings: Pick<MergeSettings, "forge" | "remote">;
};

export async function openForge({ home, project, environment, own, settings }: ForgeOptions): Promise<Result<Forge>> {
  const found = await findProject(project);
  if (!found.ok) return found;
  const repository = await findRepository(found.value);
  if (!repository.ok) return repository;
  const courier = await openCourier(home, repository.value.commonDir);
  if (!courier.ok) return courier;
  const address = await remoteAddress(found.value, settings.remote);
  if (!address.ok) return address;
  if (settings.forge === "local" || (settings.forge === "auto" && address.value === null))
    return ok(createLocalForge(repository.value, courier.value, own));
  if (address.value === null) {
    return err({
      code: "remote_missing",
      message: `${project} has no remote ${settings.remote}, and the settings want the forge ${settings.forge}.`,
      hint: `git remote add ${settings.remote} <address>, or merge: { forge: auto } in passrail.yaml`,
    });
  }
  const kept = await keepAddress(courier.value.folder, address.value);
  if (!kept.ok) return kept;
  const host = environment["GH_HOST"] ?? "github.com";
  const named = settings.forge === "remote" ? undefined : gitHubName(address.value, host);
  const token = environment["GITHUB_TOKEN"] ?? environment["GH_TOKEN"] ?? "";
  const network: Network = {
    environment,
    token: named === undefined || token === "" ? null : { host, value: token },
  };
  const remote = createRemoteForge({
    courier: courier.value,
    network,
    address: address.value,
    commonDir: repository.value.commonDir,
  });
  if (named === undefined && settings.forge !== "github") return ok(remote);
  return err({ code: "not_there_yet", message: "" });
}
