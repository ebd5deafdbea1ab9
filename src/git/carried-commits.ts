// Commits on their way between machines: a bundle of what the other side does not have, and the careful way in. A bundle may come from
// somebody hostile: it must have exactly the one ref that was agreed, its objects are checked by git, and nothing else moves.

import { err, ok, type Problem, type Result } from "../core/result.ts";
import { git, inRepository } from "./git.ts";
import { rememberCommit } from "./known-commits.ts";
import { isAncestor } from "./pin.ts";
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
  const listed = await git(repository, ["bundle", "list-heads", file], { ...options, maxBytes: 64 * 1024 });
  if (!listed.ok) return refused(listed.error.message);
  if (listed.value.trim() !== `${commit} ${ref}`) return refused("it has other refs than the one that was agreed");
  const verified = await git(repository, ["bundle", "verify", "--quiet", file], { ...options, timeoutMs: TRANSFER_MS });
  if (!verified.ok) return refused(verified.error.message);
  const args = [...CHECKED, "fetch", ...QUIET, "--", file, `+${ref}:${ref}`];
  const fetched = await git(repository, args, {
    ...options,
    env: { ...options.env, GIT_ALLOW_PROTOCOL: "file" },
    timeoutMs: TRANSFER_MS,
  });
  if (!fetched.ok) return refused(fetched.error.message);
  rememberCommit(repository, commit);
  return ok(null);
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
  const input = commit === null ? `delete ${ref}\n` : `update ${ref} ${commit}\n`;
  const set = await git(repository, ["update-ref", "--no-deref", "--stdin"], { ...inRepository(repository), input });
  return set.ok ? ok(null) : set;
}

function refused(why: string): Result<never> {
  const problem: Problem = { code: "commits_refused", message: `The commits of a worker were not taken: ${why}` };
  return err(problem);
}
