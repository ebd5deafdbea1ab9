// Commits on their way between machines: a bundle of what the other side does not have, and the careful way in. A bundle may come from
// somebody hostile: it must have exactly the one ref that was agreed, its objects are checked by git, and nothing else moves.

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { git, inRepository } from "./git.ts";
import { isKnownCommit, rememberCommit } from "./known-commits.ts";
import { moveRef } from "./move-ref.ts";
import { patiently } from "./patiently.ts";
import { isAncestor, PASSRAIL } from "./pin.ts";
import { ASK_GIT } from "./plain-file.ts";
import { readNames } from "./plain-refs.ts";
import { resolveCommits } from "./repository.ts";

const TRANSFER_MS = 600_000;
const QUIET = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"];
const CHECKED = ["-c", "fetch.fsckObjects=true", "-c", "transfer.fsckObjects=true"];

/** Where the work of an attempt is kept, on the machine that made it and on its node. */
export function workRef(runId: string, stage: string, attempt: number): string {
  return `refs/passrail/wip/${runId}/${stage}-${attempt}`;
}

export type OutgoingCommits = {
  /** The common git directory. */
  readonly repository: string;
  /** The bundle has it under this name. */
  readonly ref: string;
  readonly commit: string;
  /** Commits that the other side has. */
  readonly known: readonly string[];
  readonly file: string;
};

/** Writes the bundle. The ref stays. */
export async function bundleCommits({ repository, ref, commit, known, file }: OutgoingCommits): Promise<Result<null>> {
  const named = await setRef(repository, ref, commit);
  if (!named.ok) return named;
  const input = [ref, ...known.map((each) => `^${each}`), ""].join("\n");
  const made = await git(repository, ["bundle", "create", "--quiet", file, "--ignore-missing", "--stdin"], {
    ...inRepository(repository),
    input,
    timeoutMs: TRANSFER_MS,
  });
  return made.ok ? ok(null) : made;
}

export type Incoming = Pick<OutgoingCommits, "repository" | "ref" | "commit" | "file">;

/** Afterwards the repository has the commit, and the ref names it. Can be repeated. */
export async function takeBundle({ repository, ref, commit, file }: Incoming): Promise<Result<null>> {
  const options = inRepository(repository);
  const refs = refsIn(file);
  if (refs === null) return refused("they are no bundle of git");
  if (refs.length !== 1 || refs[0] !== `${commit} ${ref}`)
    return refused("it has other refs than the one that was agreed");
  // git itself refuses a bundle that builds on what is not here.
  const args = [...CHECKED, "fetch", ...QUIET, "--", file, `+${ref}:${ref}`];
  const env = { ...options.env, GIT_ALLOW_PROTOCOL: "file" };
  // Other attempts open and close their worktrees meanwhile.
  const fetched = await patiently(() => git(repository, args, { ...options, env, timeoutMs: TRANSFER_MS }));
  if (!fetched.ok) return refused(fetched.error.message);
  rememberCommit(repository, commit);
  return ok(null);
}

const HEADER_BYTES = 1024 * 1024;

/** The lines of a bundle's header that name refs; null if it is none. */
function refsIn(file: string): readonly string[] | null {
  const text = readStart(file, HEADER_BYTES);
  const end = text?.indexOf("\n\n") ?? -1;
  const [first = "", ...lines] = end === -1 ? [] : (text?.slice(0, end).split("\n") ?? []);
  if (!/^# v[23] git bundle$/u.test(first)) return null;
  return lines.filter((line) => !line.startsWith("-") && !line.startsWith("@"));
}

function readStart(path: string, bytes: number): string | null {
  try {
    const file = openSync(path, "r");
    try {
      const buffer = Buffer.alloc(Math.min(bytes, fstatSync(file).size));
      return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0)).toString("latin1");
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/** Whether each of these commits builds on the one before it. */
export async function isLine(repository: string, commits: readonly string[]): Promise<boolean> {
  for (const [index, newer] of commits.entries()) {
    const older = commits[index - 1];
    if (older !== undefined && older !== newer && !(await isAncestor(repository, older, newer))) return false;
  }
  return true;
}

export async function hasCommit(repository: string, commit: string): Promise<boolean> {
  const found = await resolveCommits(repository, [commit], inRepository(repository));
  return found.ok && found.value[0] === commit;
}

/** Of these commits those that the repository has. */
export async function knownOf(repository: string, commits: readonly string[]): Promise<readonly string[]> {
  if (commits.length === 0) return [];
  const found = await resolveCommits(repository, commits, inRepository(repository));
  return found.ok ? commits.filter((commit, at) => found.value[at] === commit) : [];
}

/** `commit` null: removes it. */
export async function setRef(repository: string, ref: string, commit: string | null): Promise<Result<null>> {
  const place = { gitDir: repository, commonDir: repository };
  const [now = ASK_GIT] = readNames(place, [ref]);
  if (now === commit) return ok(null);
  if (now !== ASK_GIT && commit !== null && isKnownCommit(repository, commit)) {
    if ((await moveRef(place, { name: ref, to: commit, from: now, by: PASSRAIL })) === "moved") return ok(null);
  }
  const input = commit === null ? `delete ${ref}\n` : `update ${ref} ${commit}\n`;
  const set = await git(repository, ["update-ref", "--no-deref", "--stdin"], { ...inRepository(repository), input });
  return set.ok ? ok(null) : set;
}

function refused(why: string): Result<never> {
  const problem: Problem = { code: "commits_refused", message: `The commits of a worker were not taken: ${why}` };
  return err(problem);
}
