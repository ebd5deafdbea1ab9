// Brings commits from a clone to the project's repository through a bundle, so that the hardened git only reads the clone. Commits that do
// not fit on the branch are pinned.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { whereCheckedOut } from "./add-worktree.ts";
import { git, inRepository, type GitLocation } from "../git/git.ts";
import { rememberCommit } from "../git/known-commits.ts";
import { isAncestor, pinCommit } from "../git/pin.ts";
import { resolveCommits } from "../git/repository.ts";
import { patiently } from "../git/patiently.ts";

export type Return = {
  readonly place: GitLocation;
  readonly key: string;
  /** The project's common git directory. */
  readonly repository: string;
  readonly branch: string;
  readonly runId: string;
  /** The ref there that the branch moves to; default: the branch itself, and what is checked out comes along. */
  readonly ref?: string;
};

/** Moves the project's branch forward to the clone's; `others` are further commits of the clone to bring along. */
export async function bringBack(from: Return, others: readonly string[]): Promise<Result<null>> {
  const { place, repository, branch, runId } = from;
  const name = `refs/heads/${branch}`;
  const here = await resolveCommits(place.top, from.ref === undefined ? [name, "HEAD"] : [from.ref], { place });
  if (!here.ok) return here;
  const tip = here.value[0] ?? null;
  const project = await resolveCommits(repository, [name], inRepository(repository));
  if (!project.ok) return project;
  const old = project.value[0] ?? null;
  const wanted = [tip, here.value[1] ?? null, ...others].filter((commit) => commit !== null);
  const asked = [...new Set(wanted)].filter((commit) => commit !== old);
  const there = await resolveCommits(repository, asked, inRepository(repository));
  if (!there.ok) return there;
  const missing = asked.filter((_, index) => there.value[index] === null);
  const taken = missing.length === 0 ? ok(null) : await transfer(from, missing, old, tip);
  if (!taken.ok) return taken;
  // Temporary refs hold the commits until the branch or a pin does.
  const drops = missing.map((_, index) => `delete ${incoming(from, index)}`);
  const further = missing.filter((commit) => commit !== tip);
  const isDropped = further.length === 0;
  const moved = tip === null || tip === old ? ok(null) : await moveBranch(from, tip, old, isDropped ? drops : []);
  if (!moved.ok) return moved;
  for (const commit of further) {
    const pinned = await pinCommit(repository, runId, commit);
    if (!pinned.ok) return pinned;
  }
  return isDropped ? ok(null) : updateRefs(repository, drops);
}

async function transfer(
  from: Return,
  commits: readonly string[],
  old: string | null,
  tip: string | null,
): Promise<Result<null>> {
  const { place, repository, branch } = from;
  const folder = await mkdtemp(join(tmpdir(), "passrail-bundle-"));
  try {
    const file = join(folder, "work.bundle");
    // A bundle carries refs. The branch is one; any other commit temporarily gets one in the clone.
    const refs = commits.map((commit, index) =>
      commit === tip ? (from.ref ?? `refs/heads/${branch}`) : `refs/passrail/outgoing/${index}`,
    );
    const lines = commits.flatMap((commit, index) => (commit === tip ? [] : [`update ${refs[index]} ${commit}`]));
    const named = lines.length === 0 ? ok(null) : await updateRefs(place, lines);
    if (!named.ok) return named;
    const known = await knownCommits(from, old);
    if (!known.ok) return known;
    const revisions = [...refs, ...known.value.map((commit) => `^${commit}`)].join("\n");
    // The clone need not have what the project has.
    const bundled = await git(place.top, ["bundle", "create", "--quiet", file, "--ignore-missing", "--stdin"], {
      place,
      input: `${revisions}\n`,
      timeoutMs: TRANSFER_MS,
    });
    if (!bundled.ok) return bundled;
    const specs = refs.map((ref, index) => `+${ref}:${incoming(from, index)}`);
    const quiet = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"];
    const options = inRepository(repository);
    const env = { ...options.env, GIT_ALLOW_PROTOCOL: "file" };
    const fetch = ["fetch", ...quiet, "--", file, ...specs];
    return await patiently(() => git(repository, fetch, { ...options, env, timeoutMs: TRANSFER_MS }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Commits that need not be transferred: the branch as the project has it, and its head. */
async function knownCommits({ repository }: Return, old: string | null): Promise<Result<readonly string[]>> {
  const heads = await resolveCommits(repository, ["HEAD"], inRepository(repository));
  if (!heads.ok) return heads;
  return ok([old, heads.value[0] ?? null].filter((commit) => commit !== null));
}

/** `more`: changes of refs for the same transaction. */
async function moveBranch(
  from: Return,
  tip: string,
  old: string | null,
  more: readonly string[],
): Promise<Result<null>> {
  const { repository, branch, runId, place } = from;
  const listed = await whereCheckedOut({
    branch,
    project: repository,
    repository: { gitDir: repository, commonDir: repository, top: repository, prefix: "" },
    top: place.top,
  });
  if (!listed.ok) return listed;
  const why =
    listed.value !== null
      ? `it is checked out at ${listed.value}`
      : old !== null && !(await isAncestor(repository, old, tip))
        ? "it has gone another way meanwhile"
        : null;
  if (why !== null) {
    const pinned = await pinCommit(repository, runId, tip);
    if (!pinned.ok) return pinned;
    return err({
      code: "branch_diverged",
      message: `Branch ${branch} was not moved to ${tip.slice(0, 12)}: ${why}. The work is kept under ${pinned.value}.`,
      hint: `Look at it and merge it yourself: git log ${branch}..${pinned.value}`,
    });
  }
  const move = old === null ? `create refs/heads/${branch} ${tip}` : `update refs/heads/${branch} ${tip} ${old}`;
  const moved = await updateRefs(repository, [move, ...more]);
  // git lets a branch name nothing but a commit that is there.
  if (moved.ok) rememberCommit(repository, tip);
  return moved;
}

async function updateRefs(at: GitLocation | string, lines: readonly string[]): Promise<Result<null>> {
  const dir = typeof at === "string" ? at : at.top;
  const options = typeof at === "string" ? inRepository(at) : { place: at };
  const input = lines.map((line) => `${line}\n`).join("");
  const done = await git(dir, ["update-ref", "--no-deref", "--stdin"], { ...options, input });
  return done.ok ? ok(null) : done;
}

const incoming = ({ key }: Return, index: number): string => `refs/passrail/incoming/${key}/${index}`;

const TRANSFER_MS = 600_000;
