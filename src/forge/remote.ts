// A plain git remote: Passrail pushes branches, and a person merges them where they like. Proof is what the remote shows after a fetch.

import { err, ok, type Result } from "../core/result.ts";
import { checkBranchName } from "../git/branch-name.ts";
import { inRepository } from "../git/git.ts";
import { resolveCommits } from "../git/repository.ts";
import { bringHome } from "./bring-home.ts";
import { type MirrorRepository, fetchBranch } from "./mirror-repository.ts";
import type { Forge } from "./forge.ts";
import { type Network, remoteGit } from "./network.ts";

export type RemoteOptions = {
  readonly mirror: MirrorRepository;
  readonly network: Network;
  readonly address: string;
  /** The user's repository. */
  readonly commonDir: string;
};

export function createRemoteForge({ mirror, network, address, commonDir }: RemoteOptions): Forge {
  const head = (branch: string) => fetchBranch(mirror, network, address, branch);
  const send = (args: readonly string[]) =>
    remoteGit(network, mirror.gitDir, ["push", "--quiet", "--no-verify", ...args]);
  const contains: Forge["contains"] = async (branch, commit) => {
    const there = await head(branch);
    if (!there.ok) return there;
    return there.value === null ? ok(false) : mirror.isAncestor(commit, there.value);
  };
  const remote: Remote = { mirror, network, address, head, send, contains };
  const push: Forge["push"] = (work) => pushBranch(remote, work);

  return {
    name: "remote",
    gitDir: mirror.gitDir,
    defaultTarget: () => defaultTarget(remote),
    push,
    async propose(work) {
      const pushed = await push(work);
      if (!pushed.ok) return pushed;
      const { branch, target, commit } = work;
      return ok({ number: null, url: null, branch, target, commit });
    },
    async proposed(work) {
      const there = await contains(work.branch, work.commit);
      if (!there.ok) return there;
      return ok(there.value ? { number: null, url: null, ...work } : null);
    },
    withdraw: async () => ok(null),
    checkAccess: () => checkPush(remote, commonDir),
    async look({ target, commit }) {
      const there = await head(target);
      if (!there.ok) return there;
      if (there.value === null) return ok({ state: "open", note: `the remote has no branch ${target}` });
      const reached = await mirror.isAncestor(commit, there.value);
      if (!reached.ok) return reached;
      return ok(reached.value ? { state: "merged", commit } : { state: "open", note: null });
    },
    land: (work) => landCommit(remote, work),
    contains,
    head,
    keep: (commit) => bringHome(commonDir, mirror.gitDir, commit),
    async removeBranch({ branch, commit }) {
      const there = await head(branch);
      if (!there.ok) return there;
      if (there.value !== commit) return ok(null);
      const sent = await send([lease(branch, commit), "--", address, `:refs/heads/${branch}`]);
      return sent.ok ? ok(null) : sent;
    },
  };
}

type Remote = Pick<RemoteOptions, "mirror" | "network" | "address"> &
  Pick<Forge, "head" | "contains"> & {
    readonly send: (args: readonly string[]) => ReturnType<typeof remoteGit>;
  };

/** A dry run reaches the part of the remote that takes pushes, with the login that a push has, and changes nothing. */
async function checkPush(remote: Remote, commonDir: string): Promise<Result<null>> {
  const found = await resolveCommits(commonDir, ["HEAD"], inRepository(commonDir));
  if (!found.ok) return found;
  const [commit] = found.value;
  // A project without a commit has nothing to push; listing still shows whether the remote answers.
  const asked =
    commit == null
      ? await remoteGit(remote.network, remote.mirror.gitDir, ["ls-remote", "--", remote.address, "HEAD"])
      : await remote.send(["--dry-run", "--", remote.address, `${commit}:refs/heads/${CHECKED}`]);
  return asked.ok ? ok(null) : asked;
}

/** Never created: the name of the branch in a dry run. */
const CHECKED = "passrail-access-check";

async function defaultTarget({ mirror, network, address }: Remote): Promise<Result<string>> {
  const listed = await remoteGit(network, mirror.gitDir, ["ls-remote", "--symref", "--", address, "HEAD"]);
  if (!listed.ok) return listed;
  const named = /^ref: refs\/heads\/([^\t\n]{1,200})\tHEAD$/mu.exec(listed.value)?.[1];
  return named === undefined ? err(noTarget("the remote's HEAD names no branch")) : checkBranchName(named);
}

async function pushBranch(remote: Remote, { branch, commit }: Parameters<Forge["push"]>[0]): Promise<Result<null>> {
  const { mirror, address } = remote;
  const checked = checkBranchName(branch);
  if (!checked.ok) return checked;
  const there = await remote.head(branch);
  if (!there.ok) return there;
  const safe = await isOursToReplace(mirror, branch, there.value, commit);
  if (!safe.ok) return safe;
  if (there.value !== commit) {
    // Written down first: after a crash the push is known as ours.
    const noted = await mirror.note(`pushed/${branch}`, commit);
    if (!noted.ok) return noted;
    const sent = await remote.send([lease(branch, there.value), "--", address, `${commit}:refs/heads/${branch}`]);
    if (!sent.ok) return sent;
  }
  return proven(
    await remote.contains(branch, commit),
    `${branch} on the remote does not hold ${commit} after the push`,
  );
}

async function landCommit(remote: Remote, work: Parameters<Forge["land"]>[0]): Promise<Result<null>> {
  const { commit, target, expect } = work;
  const checked = checkBranchName(target);
  if (!checked.ok) return checked;
  const onTop = await remote.mirror.isAncestor(expect, commit);
  if (!onTop.ok) return onTop;
  if (!onTop.value) return err({ code: "target_moved", message: `${commit} is not on top of ${target} (${expect}).` });
  const sent = await remote.send([lease(target, expect), "--", remote.address, `${commit}:refs/heads/${target}`]);
  if (!sent.ok) {
    const moved = sent.error.code === "remote_moved" ? { code: "target_moved" } : {};
    return err({ ...sent.error, ...moved });
  }
  return proven(
    await remote.contains(target, commit),
    `${target} on the remote does not hold ${commit} after the push`,
  );
}

/** The remote takes the push only if its branch is where we saw it; "" means that there is none. */
function lease(branch: string, seen: string | null): string {
  return `--force-with-lease=refs/heads/${branch}:${seen ?? ""}`;
}

/** Commits that the push removes from the branch must be ours: an ancestor, or commits that we pushed there before. */
async function isOursToReplace(
  mirror: MirrorRepository,
  branch: string,
  there: string | null,
  commit: string,
): Promise<Result<null>> {
  if (there === null || there === commit) return ok(null);
  const older = await mirror.isAncestor(there, commit);
  if (!older.ok) return older;
  const earlier = await mirror.noted(`pushed/${branch}`);
  if (!earlier.ok) return earlier;
  if (older.value || earlier.value === there) return ok(null);
  return err({
    code: "branch_diverged",
    message: `${branch} on the remote is at ${there}, which is neither part of ${commit} nor pushed by Passrail; nothing was pushed.`,
    hint: `Look at what is there, and merge it into the branch or remove it: git fetch && git log ${there}`,
  });
}

export function proven(seen: Result<boolean>, otherwise: string): Result<null> {
  if (!seen.ok) return seen;
  return seen.value ? ok(null) : err({ code: "not_proven", message: `${otherwise}.` });
}

export function noTarget(why: string) {
  return {
    code: "target_unknown",
    message: `The target branch of the work is unknown: ${why}.`,
    hint: "Say it in passrail.yaml: merge: { target: main }",
  };
}
