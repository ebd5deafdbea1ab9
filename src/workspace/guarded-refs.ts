// The refs of a repository before and after an attempt, except the branch that the attempt may move. A person commits, fetches and deletes
// branches meanwhile, and git does not record who did. So: a ref that now holds commits of the running attempt is put back, because nobody
// can have approved them, unless the person's own checkout moved it (its reflog says so: a merge by hand); a pin that is gone is put back;
// any other branch or tag that moved is reported, and what it named stays reachable.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { git, inRepository } from "../git/git.ts";
import { ASK_GIT } from "../git/plain-file.ts";
import { readHead, readRefs as readPlainRefs } from "../git/plain-refs.ts";
import { resolveCommits } from "../git/repository.ts";

export type GuardedRefs = {
  readonly refs: ReadonlyMap<string, string>;
  /** The branches that the attempt may move: its own, or in place the one that is checked out. */
  readonly own: readonly string[];
  /** The commit of its branch before the attempt. */
  readonly from: string | null;
  readonly isInPlace: boolean;
};

const COMMITS_AT_MOST = 1000;
const LOG_BYTES = 1024 * 1024;
const TOLD_AT_MOST = 5;

/** Throws if git cannot list them. */
export async function readRefs(commonDir: string, branch: string | null): Promise<GuardedRefs> {
  const own = branch === null ? await checkedOut(commonDir) : `refs/heads/${branch}`;
  const refs = await listRefs(commonDir);
  return {
    refs,
    own: own === null ? [] : [own],
    from: own === null ? null : (refs.get(own) ?? null),
    isInPlace: branch === null,
  };
}

/** `others`: branches of other attempts, which move with their work. */
export async function compareRefs(
  commonDir: string,
  before: GuardedRefs,
  others: ReadonlySet<string>,
): Promise<{ readonly tampered: readonly string[]; readonly warnings: readonly string[] }> {
  const now = await listRefs(commonDir);
  const switched = before.isInPlace ? await checkedOut(commonDir) : null;
  const own = new Set(switched === null ? before.own : [...before.own, switched]);
  const moved = [...before.refs].filter(
    ([name, old]) => !own.has(name) && !others.has(name) && isCompared(name) && now.get(name) !== old,
  );
  if (moved.length === 0) return { tampered: [], warnings: [] };
  // The agent may have merged what was there before: that is not its work.
  const known = [...(before.from === null ? [] : [before.from]), ...moved.map(([, old]) => old)];
  const mine = new Set<string>();
  for (const name of own) for (const commit of await newCommits(commonDir, now.get(name), known)) mine.add(commit);
  const tampered: string[] = [];
  const warnings: string[] = [];
  for (const [name, old] of moved) {
    const current = now.get(name);
    if (name.startsWith("refs/passrail/")) {
      if (current === undefined && (await put(commonDir, name, old, null)))
        warnings.push(`refs_moved: ${name} was gone`);
      continue;
    }
    const theirs = await newCommits(commonDir, current, known);
    const isMine = current !== undefined && theirs.some((commit) => mine.has(commit));
    if (isMine && (before.isInPlace || !(await isMovedByPerson(commonDir, current)))) {
      const back = (await put(commonDir, name, old, current)) ? "was put back to" : "could not be put back to";
      tampered.push(`${name} was moved to unapproved work (${current.slice(0, 12)}) and ${back} ${old.slice(0, 12)}`);
      continue;
    }
    await keep(commonDir, name, old, current);
    const how = current === undefined ? "is gone" : `moved to ${current.slice(0, 12)}`;
    warnings.push(`refs_moved: ${name} ${how} while the attempt worked; before, it was ${old.slice(0, 12)}`);
  }
  return { tampered, warnings: warnings.slice(0, TOLD_AT_MOST) };
}

/** Remote branches, stashes and notes change with every fetch and are of no consequence here. */
function isCompared(name: string): boolean {
  return name.startsWith("refs/heads/") || name.startsWith("refs/tags/") || name.startsWith("refs/passrail/keep/");
}

async function listRefs(commonDir: string): Promise<ReadonlyMap<string, string>> {
  const plain = await readPlainRefs(commonDir);
  if (plain !== ASK_GIT) return plain;
  const args = ["for-each-ref", "--format=%(refname) %(objectname)"];
  const listed = await git(commonDir, args, inRepository(commonDir));
  if (!listed.ok) throw new Error(listed.error.message);
  const refs = new Map<string, string>();
  for (const line of listed.value.split("\n")) {
    const at = line.lastIndexOf(" ");
    if (at > 0) refs.set(line.slice(0, at), line.slice(at + 1));
  }
  return refs;
}

async function checkedOut(commonDir: string): Promise<string | null> {
  const head = readHead({ gitDir: commonDir, commonDir });
  if (head !== null && head !== ASK_GIT) return head.branch;
  const name = await git(commonDir, ["symbolic-ref", "--quiet", "HEAD"], { ...inRepository(commonDir), exits: [0, 1] });
  if (!name.ok) throw new Error(name.error.message);
  return name.value.startsWith("0\0") ? name.value.slice(2).trim() : null;
}

/** The main checkout is the person's: its reflog names every commit that its HEAD came to. */
async function isMovedByPerson(commonDir: string, commit: string): Promise<boolean> {
  const file = await open(join(commonDir, "logs", "HEAD"), constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
  if (file === null) return false;
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(size, LOG_BYTES)),
      position: Math.max(0, size - LOG_BYTES),
    });
    const lines = buffer.toString("latin1", 0, bytesRead).split("\n");
    return lines.some((line) => line.split(" ", 2)[1] === commit);
  } finally {
    await file.close();
  }
}

async function newCommits(
  commonDir: string,
  to: string | undefined,
  known: readonly string[],
): Promise<readonly string[]> {
  if (to === undefined || known.includes(to)) return [];
  // A tag may name something else than a commit.
  const found = await resolveCommits(commonDir, [to, ...known], inRepository(commonDir));
  if (!found.ok) throw new Error(found.error.message);
  const [commit, ...rest] = found.value;
  if (!commit) return [];
  const input = [commit, ...rest.flatMap((each) => (each === null ? [] : [`^${each}`]))].join("\n");
  const args = ["rev-list", `--max-count=${COMMITS_AT_MOST}`, "--stdin"];
  const listed = await git(commonDir, args, { ...inRepository(commonDir), input: `${input}\n` });
  return listed.ok ? listed.value.split("\n").filter((line) => line !== "") : [];
}

async function put(commonDir: string, name: string, to: string, current: string | null): Promise<boolean> {
  const line = current === null ? `create ${name} ${to}` : `update ${name} ${to} ${current}`;
  const input = `option no-deref\n${line}\n`;
  return (await git(commonDir, ["update-ref", "--stdin"], { ...inRepository(commonDir), input })).ok;
}

/** What the ref named stays reachable, unless its new commit contains it. */
async function keep(commonDir: string, name: string, old: string, current: string | undefined): Promise<void> {
  const isIn = async (newer: string): Promise<boolean> =>
    (await git(commonDir, ["merge-base", "--is-ancestor", old, newer], inRepository(commonDir))).ok;
  if (current !== undefined && (await isIn(current))) return;
  const ref = `refs/passrail/moved/${name.slice("refs/".length)}/${old.slice(0, 12)}`;
  await put(commonDir, ref, old, null);
}
