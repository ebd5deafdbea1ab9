// Keeps work reachable before its workspace is removed: refs/passrail/keep/<runId> names the newest; an older pin that would become
// unreachable moves to refs/passrail/keep/<runId>.<n>. This file never removes pins.

import { err, ok, type Result } from "../core/result.ts";
import { git, inRepository, type GitLocation, readConfig } from "./git.ts";
import type { IndexCopy } from "./index-file.ts";
import { fileTooLarge, type LargeFile, WORK_LIMITS, type WorkLimits } from "./large-files.ts";
import { type CommitFacts, factsOfCommit, rememberCommit, rememberFacts, surelyContains } from "./known-commits.ts";
import { moveRef } from "./move-ref.ts";
import { isExpendable } from "./nested.ts";
import { type Person, readPlainCommit, writePlainCommit } from "./plain-commit.ts";
import { isPlainlyWritten, readConfigText } from "./plain-config.ts";
import { ASK_GIT } from "./plain-file.ts";
import { resolveCommits } from "./repository.ts";
import { type SnapshotSource, withSnapshot, writeTree } from "./snapshot.ts";
import { syncWork } from "./sync-work.ts";

const keepRef = (runId: string): string => `refs/passrail/keep/${runId}`;

const PIN_TRIES = 5;

/** Points the run's keep ref at `commit`; returns the name of the ref. */
export async function pinCommit(commonDir: string, runId: string, commit: string): Promise<Result<string>> {
  const ref = keepRef(runId);
  const readRef = () => resolveCommits(commonDir, [ref], inRepository(commonDir));
  // Two tracks of a run may end at once, each in a process of its own: who comes second finds the other's pin and looks again.
  for (let tried = 1; ; tried += 1) {
    const found = await readRef();
    if (!found.ok) return found;
    const old = found.value[0] ?? null;
    const pinned = await pinOver(commonDir, ref, commit, old);
    if (pinned.ok || tried === PIN_TRIES) return pinned;
    const now = await readRef();
    if (!now.ok || (now.value[0] ?? null) === old) return pinned;
  }
}

async function pinOver(commonDir: string, ref: string, commit: string, old: string | null): Promise<Result<string>> {
  const options = inRepository(commonDir);
  const isOlder = old !== null && old !== commit && surelyContains(commit, old);
  if (!isOlder && old !== null && (await isAncestor(commonDir, commit, old))) return ok(ref);
  const lines: string[] = [];
  if (!isOlder && old !== null && !(await isAncestor(commonDir, old, commit))) {
    const aside = await freeName(commonDir, ref);
    if (!aside.ok) return aside;
    lines.push(`create ${aside.value} ${old}`);
  }
  lines.push(old === null ? `create ${ref} ${commit}` : `update ${ref} ${commit} ${old}`);
  if (lines.length === 1) {
    const place = { gitDir: commonDir, commonDir };
    if ((await moveRef(place, { name: ref, to: commit, from: old, by: PASSRAIL })) === "moved") return ok(ref);
  }
  // No deref: a symbolic ref planted under this name must not move a branch.
  const input = `${lines.join("\n")}\n`;
  const written = await git(commonDir, ["update-ref", "--no-deref", "--stdin"], { ...options, input });
  return written.ok ? ok(ref) : written;
}

export type CommitHow = {
  readonly message?: string;
  readonly limits?: WorkLimits;
  /** Only changes below this folder of the work tree. */
  readonly dir?: string;
  /** It holds what the last diff has shown; the snapshot's own condition counts. */
  readonly asShown?: boolean;
  /** What becomes of files that are too large; without it they are a problem. */
  readonly leave?: (top: string, large: readonly LargeFile[]) => Promise<Result<null>>;
  /** Called with a commit that differs from the parent, and with the index that has its files. */
  readonly onMade?: (commit: string, index: IndexCopy | null) => Promise<Result<null>>;
};

/** The working state as a commit on top of `parent`, without moving a branch; `parent` itself when there is nothing to add. */
export async function commitWork(
  place: GitLocation,
  start: SnapshotSource["start"],
  parent: string | null,
  runId: string,
  {
    message = `Uncommitted work of run ${runId}`,
    limits = WORK_LIMITS,
    leave,
    onMade,
    asShown = false,
    dir = place.top,
  }: CommitHow = {},
): Promise<Result<string>> {
  // Changes that an agent staged elsewhere are not below the folder.
  const begin = dir === place.top ? start : ({ from: "commit", commit: parent } as const);
  return withSnapshot({ place, dir, start: begin, keep: "repository", asShown, limits }, async (snapshot) => {
    const { nested, large } = snapshot;
    if (large.length > 0) {
      const left = leave === undefined ? err(fileTooLarge(place.top, large)) : await leave(place.top, large);
      if (!left.ok) return left;
    }
    for (const path of nested) {
      if (!(await isExpendable(place.top, path))) return err(nestedWork(place.top, path));
    }
    // `git write-tree` believes what the index claims too.
    if (parent !== null && snapshot.claimed !== null) {
      const facts = await readFacts(place, parent);
      if (facts.ok && facts.value.tree === snapshot.claimed) return ok(parent);
    }
    const tree = await writeTree(place, snapshot);
    if (!tree.ok) return tree;
    const made = await commitTree(place, tree.value, parent, runId, message);
    if (!made.ok || made.value === parent) return made;
    const synced = await syncWork(place, { tip: made.value, since: parent });
    if (!synced.ok) return synced;
    const done = await onMade?.(made.value, snapshot.index());
    return done?.ok === false ? done : made;
  });
}

/** The commit with this tree: the parent, the pin of an interrupted close, or a new one. */
async function commitTree(
  place: GitLocation,
  tree: string,
  parent: string | null,
  runId: string,
  message: string,
): Promise<Result<string>> {
  const earlier = parent === null ? ok([]) : await sameWork(place, keepRef(runId), tree, parent);
  if (!earlier.ok) return earlier;
  if (earlier.value[0] !== undefined) return ok(earlier.value[0]);
  const parents = parent === null ? [] : [parent];
  const made = await writeCommit(place, { tree, parents }, message);
  if (!made.ok) return made;
  rememberCommit(place.commonDir, made.value);
  rememberFacts(made.value, { tree, parents });
  return made;
}

async function writeCommit(
  place: GitLocation,
  { tree, parents }: CommitFacts,
  message: string,
): Promise<Result<string>> {
  const by = await committer(place);
  if (!by.ok) return by;
  const config = readConfigText(place.commonDir);
  if (config !== ASK_GIT && isPlainlyWritten(config)) {
    const commit = { tree, parents, by: by.value, message, at: new Date() };
    const id = writePlainCommit(place.commonDir, commit);
    if (id !== ASK_GIT) return ok(id);
  }
  const args = ["commit-tree", tree, ...parents.flatMap((each) => ["-p", each]), "-m", message];
  const made = await git(place.top, args, { place, env: asVariables(by.value) });
  return made.ok ? ok(made.value.trim()) : made;
}

/** The commits that already hold this tree: the parent itself, or the pin of an interrupted close. */
async function sameWork(place: GitLocation, pin: string, tree: string, parent: string): Promise<Result<string[]>> {
  const pinned = await resolveCommits(place.top, [pin], { place });
  if (!pinned.ok) return pinned;
  const same: string[] = [];
  for (const commit of [parent, pinned.value[0] ?? null]) {
    if (commit === null) continue;
    const facts = await readFacts(place, commit);
    if (!facts.ok) return facts;
    const { tree: itsTree, parents } = facts.value;
    if (itsTree === tree && (commit === parent || (parents.length === 1 && parents[0] === parent))) same.push(commit);
  }
  return ok(same);
}

const HEADER_BYTES = 256 * 1024;

/** From the object itself: its parents as the commit has them, whatever grafts and shallow files say. */
export async function readFacts(place: GitLocation, commit: string): Promise<Result<CommitFacts>> {
  const known = factsOfCommit(commit) ?? readPlainCommit(place.commonDir, commit);
  if (known !== ASK_GIT) {
    rememberFacts(commit, known);
    return ok(known);
  }
  const shown = await git(place.top, ["cat-file", "commit", commit], {
    place,
    encoding: "latin1",
    maxBytes: HEADER_BYTES,
    overflow: "cut",
  });
  if (!shown.ok) return shown;
  const header = /^tree ([0-9a-f]+)\n((?:parent [0-9a-f]+\n)*)author /u.exec(shown.value);
  if (header === null)
    return err({ code: "git_failed", message: `The commit ${commit} in ${place.top} cannot be read.` });
  const parents = (header[2] ?? "").split("\n").flatMap((line) => (line === "" ? [] : [line.slice("parent ".length)]));
  const facts = { tree: header[1] ?? "", parents };
  rememberFacts(commit, facts);
  return ok(facts);
}

export async function isAncestor(commonDir: string, older: string, newer: string): Promise<boolean> {
  if (isPlainlyIn(commonDir, older, newer)) return true;
  if (older !== newer && isPlainlyIn(commonDir, newer, older)) return false;
  return (await git(commonDir, ["merge-base", "--is-ancestor", older, newer], inRepository(commonDir))).ok;
}

const WALKED_AT_MOST = 50;

/** Whether the commits themselves say that `newer` builds on `older`, within a few steps; false: git may know more. */
export function isPlainlyIn(commonDir: string, older: string, newer: string): boolean {
  const seen = new Set([newer]);
  for (const commit of seen) {
    if (commit === older) return true;
    if (seen.size > WALKED_AT_MOST) return false;
    const facts = factsOfCommit(commit) ?? readPlainCommit(commonDir, commit);
    if (facts === ASK_GIT) continue;
    rememberFacts(commit, facts);
    for (const parent of facts.parents) seen.add(parent);
  }
  return false;
}

async function freeName(commonDir: string, ref: string): Promise<Result<string>> {
  const listed = await git(commonDir, ["for-each-ref", "--format=%(refname)", `${ref}.*`], inRepository(commonDir));
  if (!listed.ok) return listed;
  const taken = new Set(listed.value.split("\n"));
  let number = 1;
  while (taken.has(`${ref}.${number}`)) number += 1;
  return ok(`${ref}.${number}`);
}

export const PASSRAIL: Person = { name: "Passrail", email: "passrail@localhost" };

/** Who commits: the repository's user. */
export async function committer(place: GitLocation): Promise<Result<Person>> {
  const config = await readConfig(place.top, place);
  if (!config.ok) return config;
  const last = (key: string) => config.value.findLast(([name, value]) => name === key && value.trim() !== "")?.[1];
  return ok({ name: last("user.name") ?? PASSRAIL.name, email: last("user.email") ?? PASSRAIL.email });
}

export function asVariables({ name, email }: Person): Record<string, string> {
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}

function nestedWork(top: string, path: string) {
  const dir = `${top}/${Buffer.from(path, "latin1").toString("utf8")}`;
  return {
    code: "nested_repository",
    message: `${dir} is a repository of its own with work that is on no remote; removing the workspace would lose it.`,
    hint: `Push or copy it (git -C ${dir} push), or delete that folder, and close again.`,
  };
}
