// Where finished work of a project goes, as far as this machine knows it: the settings, the remote's address and the target that the
// repository remembers. It asks no network: a page that is only looked at must not.

import type { LandingPlace } from "../core/view/landing.ts";
import { gitHubName, remoteAddress } from "../forge/remote-address.ts";
import { git } from "../git/git.ts";
import type { MergeSettings } from "../settings/merge.ts";

export type LandingSettings = Pick<MergeSettings, "mode" | "forge" | "remote" | "target">;

/** `gitHubHost`: GH_HOST of the environment. */
export async function findLandingPlace(
  project: string,
  { mode, forge, remote, target }: LandingSettings,
  gitHubHost = "github.com",
): Promise<LandingPlace> {
  const found = forge === "local" ? undefined : await remoteAddress(project, remote);
  // An address that cannot be used is still a remote: the landing says what is wrong with it.
  const address = found === undefined || !found.ok ? null : found.value;
  const isLocal = forge === "local" || (forge === "auto" && found?.ok === true && address === null);
  const isGitHub =
    forge === "github" || (forge === "auto" && address !== null && gitHubName(address, gitHubHost) !== undefined);
  const known = isLocal ? await shortName(project, "HEAD") : await shortName(project, `refs/remotes/${remote}/HEAD`);
  const branch = known === null || isLocal ? known : known.slice(remote.length + 1);
  return {
    mode,
    remote: isLocal ? null : remote,
    hasPullRequests: !isLocal && isGitHub,
    target: target ?? branch,
  };
}

async function shortName(project: string, ref: string): Promise<string | null> {
  const named = await git(project, ["symbolic-ref", "--quiet", "--short", ref]);
  const name = named.ok ? named.value.trim() : "";
  return name === "" ? null : name;
}
