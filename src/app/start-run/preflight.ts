// The state of every repository that a run works on, before it starts: the branch, the commit, uncommitted files. A flow may ask that each is
// clean and on its base branch; a person may allow an exception. The run then begins at exactly this commit, whatever is checked out later.

import { join } from "node:path";
import type { Flow } from "../../core/flow/flow.ts";
import type { Json } from "../../core/json.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { findProject, findRepository, resolveCommits } from "../../git/repository.ts";
import { git } from "../../git/git.ts";
import type { GivenFolder } from "./given-files.ts";

/** Exceptions that a person allows: uncommitted files, another branch than the base. */
export const EXCEPTIONS = ["dirty", "branch"] as const;
export type PreflightException = (typeof EXCEPTIONS)[number];

export type RepositoryState = {
  /** The name of the folder's input; "project" for the project itself. */
  readonly name: string;
  /** Relative to the project. */
  readonly dir: string;
  /** Null for a detached HEAD. */
  readonly branch: string | null;
  /** Null if nothing says which branch is the base. */
  readonly base: string | null;
  readonly commit: string;
  /** Paths that are not committed, the first few. */
  readonly dirty: readonly string[];
  readonly dirtyCount: number;
};

const SHOWN_PATHS = 5;

/** The project's repository and those of the named folders; a folder without one has no state. */
export async function inspectRepositories(
  project: string,
  folders: readonly GivenFolder[],
  target: string | null,
): Promise<Result<readonly RepositoryState[]>> {
  const found = await findProject(project);
  if (!found.ok) return found;
  const root = found.value;
  const own = await topOf(root);
  if (!own.ok) return own;
  const states: RepositoryState[] = [];
  const nested: GivenFolder[] = [];
  for (const folder of folders) {
    const top = await topOf(join(root, folder.path));
    if (!top.ok) return top;
    if (top.value === null || top.value === own.value) {
      if (folder.isRepository === true) return err(noRepository(folder));
      continue;
    }
    if (top.value !== join(root, folder.path)) return err(insideOther(folder));
    nested.push(folder);
  }
  if (own.value !== null) {
    const state = await stateOf(root, { name: "project", dir: "." }, target, nested);
    if (!state.ok) return state;
    if (state.value.length === 0 && nested.length > 0) return err(withoutCommit(project));
    states.push(...state.value);
  }
  for (const { name, path, repository } of nested) {
    const state = await stateOf(join(root, path), { name: repository ?? name, dir: path }, null, []);
    if (!state.ok) return state;
    if (state.value.length === 0) return err(withoutCommit(path));
    states.push(...state.value);
  }
  return ok(states);
}

/** Why the run does not start, with the words that allow it. */
export function preflightProblem(
  { preflight = [], name }: Flow,
  states: readonly RepositoryState[],
  allow: readonly PreflightException[],
): Problem | undefined {
  const wrong = preflight.includes("base-branch") && !allow.includes("branch") ? states.filter(isElsewhere) : [];
  const dirty = preflight.includes("clean") && !allow.includes("dirty") ? states.filter(isDirty) : [];
  if (wrong.length === 0 && dirty.length === 0) return undefined;
  const sentences = [
    ...wrong.map(
      ({ dir, branch, base }) => `${placeName(dir)} is on ${branch ?? "no branch"}, not on its base ${base ?? ""}`,
    ),
    ...dirty.map(
      ({ dir, dirty: paths, dirtyCount }) => `${placeName(dir)} has uncommitted files: ${listed(paths, dirtyCount)}`,
    ),
  ];
  const flags = [...(wrong.length > 0 ? ["--allow-branch"] : []), ...(dirty.length > 0 ? ["--allow-dirty"] : [])];
  return {
    code: "preflight_failed",
    message: `Flow ${name} starts from clean base branches. ${sentences.join("; ")}.`,
    hint: `Commit, stash or switch; or start from what is committed there now: ${flags.join(" ")}`,
  };
}

/** The exceptions without which these repositories do not pass. */
export function preflightNeeds(
  { preflight = [] }: Flow,
  states: readonly (Pick<RepositoryState, "branch" | "base"> & { readonly dirty: number })[],
): readonly PreflightException[] {
  return EXCEPTIONS.filter((exception) =>
    exception === "dirty"
      ? preflight.includes("clean") && states.some(({ dirty }) => dirty > 0)
      : preflight.includes("base-branch") && states.some(isElsewhere),
  );
}

/** What is stored with the run, for people and for the stages. */
export function repositoryFacts(states: readonly RepositoryState[]): Json {
  return states.map(({ name, dir, branch, base, commit, dirtyCount }) => ({
    name,
    dir,
    branch,
    base,
    commit,
    dirty: dirtyCount,
  }));
}

const placeName = (dir: string): string => (dir === "." ? "The project" : dir);

function isElsewhere({ branch, base }: Pick<RepositoryState, "branch" | "base">): boolean {
  return base !== null && branch !== base;
}

function isDirty({ dirtyCount }: RepositoryState): boolean {
  return dirtyCount > 0;
}

/** Null if the folder is in no repository. */
async function topOf(dir: string): Promise<Result<string | null>> {
  const found = await findRepository(dir);
  if (found.ok) return ok(found.value.top);
  return found.error.code === "not_a_git_repository" ? ok(null) : found;
}

/** Empty for a repository without a commit: nothing can start from it. */
async function stateOf(
  dir: string,
  place: Pick<RepositoryState, "name" | "dir">,
  target: string | null,
  nested: readonly GivenFolder[],
): Promise<Result<readonly RepositoryState[]>> {
  const names = ["HEAD", "refs/heads/main", "refs/heads/master"];
  const commits = await resolveCommits(dir, names);
  if (!commits.ok) return commits;
  const [commit, main, master] = commits.value;
  if (commit === null || commit === undefined) return ok([]);
  const head = await nameIn(dir, ["symbolic-ref", "--quiet", "--short", "HEAD"]);
  const remote = await nameIn(dir, ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
  const status = await git(dir, ["status", "--porcelain", "-z", "--untracked-files=normal"], { touchesFiles: true });
  if (!status.ok) return status;
  const dirty = pathsIn(status.value).filter((path) => !nested.some((each) => path === `${each.path}/`));
  const known = main == null ? (master == null ? null : "master") : "main";
  const base = target ?? remote?.replace(/^origin\//u, "") ?? known;
  const shown = dirty.slice(0, SHOWN_PATHS);
  return ok([{ ...place, branch: head, base, commit, dirty: shown, dirtyCount: dirty.length }]);
}

async function nameIn(dir: string, args: readonly string[]): Promise<string | null> {
  const answer = await git(dir, args, { exits: [1, 128] });
  const name = answer.ok && !answer.value.includes("\0") ? answer.value.trim() : "";
  return name === "" ? null : name;
}

/** `XY path`, NUL between entries; a rename has its old path as a further entry. */
function pathsIn(status: string): readonly string[] {
  const entries = status.split("\0");
  const paths: string[] = [];
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] ?? "";
    if (entry.length > 3) paths.push(entry.slice(3));
    if (/^[RC]/u.test(entry)) at++;
  }
  return paths;
}

function listed(paths: readonly string[], count: number): string {
  const left = count - paths.length;
  return `${paths.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

const noRepository = ({ path }: GivenFolder): Problem => ({
  code: "input_refused",
  message: `${path} is not a git repository of its own.`,
  hint: "Folders of the project's own repository need no --repo: the run's workspace has them.",
});

const withoutCommit = (folder: string): Problem => ({
  code: "no_commit_yet",
  message: `The repository ${folder} has no commit yet, so there is nothing to begin at.`,
  hint: "Make the first one: git add -A && git commit",
});

const insideOther = ({ name, path }: GivenFolder): Problem => ({
  code: "input_refused",
  message: `${name}: ${path} is inside another repository than the project, and not its top folder.`,
  hint: "Name the top folder of the repository.",
});
