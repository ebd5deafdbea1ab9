// The forge of a project: the one that settings name, else the one that its remote's address implies.

import { err, ok, type Result } from "../core/result.ts";
import { findProject, findRepository } from "../git/repository.ts";
import { type MirrorRepository, openMirrorRepository } from "./mirror-repository.ts";
import type { Forge } from "./forge.ts";
import { inTurn } from "./in-turn.ts";
import { createLocalForge } from "./local.ts";
import { createGitHubApi } from "./github/api.ts";
import { createGitHubForge } from "./github/forge.ts";
import { type GitHubTransport, openTransport } from "./github/transport.ts";
import { type Network, remoteGit } from "./network.ts";
import { createRemoteForge } from "./remote.ts";
import { gitHubName, keepAddress, remoteAddress } from "./remote-address.ts";
import type { MergeSettings } from "../settings/merge.ts";

export type ForgeOptions = {
  /** The state folder. */
  readonly home: string;
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folders of the project whose changes are Passrail's own. */
  readonly own: readonly string[];
  readonly settings: Pick<MergeSettings, "forge" | "remote">;
  /** For the processes that talk to the remote. */
  readonly marker?: string;
};

/** One at a time per project: the first landings of a project create its mirror and keep its address. */
export function openForge(options: ForgeOptions): Promise<Result<Forge>> {
  return inTurn(`open ${options.home}\0${options.project}`, () => open(options));
}

async function open({ home, project, environment, own, settings, marker = "" }: ForgeOptions): Promise<Result<Forge>> {
  const found = await findProject(project);
  if (!found.ok) return found;
  const repository = await findRepository(found.value);
  if (!repository.ok) return repository;
  const mirror = await openMirrorRepository(home, repository.value.commonDir);
  if (!mirror.ok) return mirror;
  const address = await remoteAddress(found.value, settings.remote);
  if (!address.ok) return address;
  if (settings.forge === "local" || (settings.forge === "auto" && address.value === null))
    return ok(createLocalForge(repository.value, mirror.value, own));
  if (address.value === null) {
    return err({
      code: "remote_missing",
      message: `${project} has no remote ${settings.remote}, and the settings want the forge ${settings.forge}.`,
      hint: `git remote add ${settings.remote} <address>, or merge: { forge: auto } in passrail.yaml`,
    });
  }
  const kept = await keepAddress(mirror.value.folder, address.value);
  if (!kept.ok) return kept;
  const host = environment["GH_HOST"] ?? "github.com";
  const named = settings.forge === "remote" ? undefined : gitHubName(address.value, host);
  const token = environment["GITHUB_TOKEN"] ?? environment["GH_TOKEN"] ?? "";
  const network: Network = {
    environment,
    marker: marker === "" ? null : marker,
    token: named === undefined || token === "" ? null : { host, value: token },
  };
  const remote = createRemoteForge({
    mirror: mirror.value,
    network,
    address: address.value,
    commonDir: repository.value.commonDir,
  });
  if (named === undefined && settings.forge !== "github") return ok(remote);
  if (named === undefined) {
    return err({
      code: "remote_unusable",
      message: `The settings say that the forge is GitHub, but the remote ${settings.remote} is not on ${host}.`,
      hint: "Another GitHub server is named by GH_HOST; for any other remote: merge: { forge: remote } in passrail.yaml",
    });
  }
  let transport: Promise<Result<GitHubTransport>> | undefined;
  const api = createGitHubApi(() => (transport ??= openTransport({ environment, host })), named);
  const isPartOf = (number: number, commit: string, head: string) =>
    holdsPulled(mirror.value, network, address.value ?? "", { number, commit, head });
  return ok(createGitHubForge({ remote, api, isPartOf }));
}

/** Fetches the head of a pull request and looks for the commit in it. */
async function holdsPulled(
  mirror: MirrorRepository,
  network: Network,
  address: string,
  { number, commit, head }: { readonly number: number; readonly commit: string; readonly head: string },
): Promise<Result<boolean>> {
  const ref = `refs/passrail/pull/${number}`;
  const options = ["--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet"];
  const spec = `+refs/pull/${number}/head:${ref}`;
  const fetched = await remoteGit(network, mirror.gitDir, ["fetch", ...options, "--", address, spec]);
  if (!fetched.ok) return fetched.error.code === "remote_refused" ? ok(false) : fetched;
  return mirror.isAncestor(commit, head);
}
