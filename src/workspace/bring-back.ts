// Brings commits from a clone to the project's repository through a bundle, so that the hardened git only reads the clone. Commits that do
// not fit on the branch are pinned.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { whereCheckedOut } from "./add-worktree.ts";
import { git, inRepository, type GitLocation } from "../git/git.ts";
import { isAncestor, pinCommit } from "../git/pin.ts";
import { resolveCommits } from "../git/repository.ts";

export type Return = {
  readonly place: GitLocation;
  readonly key: string;
  /** The project's common git directory. */
  readonly repository: string;
  readonly branch: string;
  readonly runId: string;
};

/** Moves the project's branch forward to the clone's; `others` are further commits of the clone to bring along. */
export async function bringBack(from: Return, others: readonly string[]): Promise<Result<null>> {
  const { place, repository, branch, runId } = from;
  const name = `refs/heads/${branch}`;
  const here = await resolveCommits(place.top, [name, "HEAD"], { place });
  if (!here.ok) return here;
  const tip = here.value[0] ?? null;
  const wanted = [...new Set([tip, here.value[1] ?? null, ...others].filter((commit) => commit !== null))];
  const there = await resolveCommits(repository, [name, ...wanted], inRepository(repository));
  if (!there.ok) return there;
  const [old = null, ...found] = there.value;
  const missing = wanted.filter((_, index) => found[index] === null);
  const taken = missing.length === 0 ? ok(null) : await transfer(from, missing, old);
  if (!taken.ok) return taken;
  const moved = tip === null || tip === old ? ok(null) : await moveBranch(from, tip, old);
  if (!moved.ok) return moved;
  // Temporary refs held the commits until here; now the branch or a pin holds them.
  for (const commit of missing) {
    if (commit === tip) continue;
    const pinned = await pinCommit(repository, runId, commit);
    if (!pinned.ok) return pinned;
  }
  return missing.length === 0 ? ok(null) : dropIncoming(from, missing.length);
}

async function transfer(from: Return, commits: readonly string[], old: string | null): Promise<Result<null>> {
  const { place, repository } = from;
  const folder = await mkdtemp(join(tmpdir(), "passrail-bundle-"));
  try {
    const file = join(folder, "work.bundle");
    // A bundle carries refs, so each commit temporarily gets one in the clone.
    const refs = commits.map((_, index) => `refs/passrail/outgoing/${index}`);
    const input = commits.map((commit, index) => `update ${refs[index]} ${commit}\n`).join("");
    const named = await git(place.top, ["update-ref", "--no-deref", "--stdin"], { place, input });
    if (!named.ok) return named;
    const known = await knownCommits(from, old);
    if (!known.ok) return known;
    const revisions = [...refs, ...known.value.map((commit) => `^${commit}`)].join("\n");
    const bundled = await git(place.top, ["bundle", "create", "--quiet", file, "--stdin"], {
      place,
      input: `${revisions}\n`,
      timeoutMs: TRANSFER_MS,
    });
    if (!bundled.ok) return bundled;
    const specs = refs.map((ref, index) => `+${ref}:${incoming(from, index)}`);
    const quiet = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"];
    const options = inRepository(repository);
    const fetched = await git(repository, ["fetch", ...quiet, "--", file, ...specs], {
      ...options,
      env: { ...options.env, GIT_ALLOW_PROTOCOL: "file" },
      timeoutMs: TRANSFER_MS,
    });
    return fetched.ok ? ok(null) : fetched;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Commits that both have, so that only the rest is transferred: the branch as the project has it, and its head. */
async function knownCommits({ place, repository }: Return, old: string | null): Promise<Result<readonly string[]>> {
  const heads = await resolveCommits(repository, ["HEAD"], inRepository(repository));
  if (!heads.ok) return heads;
  const names = [old, heads.value[0] ?? null].filter((commit) => commit !== null);
  if (names.length === 0) return ok([]);
  const found = await resolveCommits(place.top, names, { place });
  return found.ok ? ok(found.value.filter((commit) => commit !== null)) : found;
}

async function moveBranch(from: Return, tip: string, old: string | null): Promise<Result<null>> {
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
  const input = `option no-deref\n${old === null ? `create refs/heads/${branch} ${tip}` : `update refs/heads/${branch} ${tip} ${old}`}\n`;
  const moved = await git(repository, ["update-ref", "--stdin"], { ...inRepository(repository), input });
  return moved.ok ? ok(null) : moved;
}

async function dropIncoming(from: Return, count: number): Promise<Result<null>> {
  const input = Array.from({ length: count }, (_, index) => `delete ${incoming(from, index)}\n`).join("");
  const options = { ...inRepository(from.repository), input };
  const dropped = await git(from.repository, ["update-ref", "--no-deref", "--stdin"], options);
  return dropped.ok ? ok(null) : dropped;
}

const incoming = ({ key }: Return, index: number): string => `refs/passrail/incoming/${key}/${index}`;

const TRANSFER_MS = 600_000;
