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
  /** Paths that are not committed, the first few; changed files before new ones. */
  readonly dirty: readonly string[];
  readonly dirtyCount: number;
  /** How many of them are new files, which git does not know yet. */
  readonly newCount: number;
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
  const isUnfit = preflight.includes("clean") ? isDirty : preflight.includes("committed") ? isChanged : () => false;
  const dirty = allow.includes("dirty") ? [] : states.filter(isUnfit);
  if (wrong.length === 0 && dirty.length === 0) return undefined;
  const sentences = [
    ...wrong.map(
      ({ dir, branch, base }) => `${placeName(dir)} is on ${branch ?? "no branch"}, not on its base ${base ?? ""}`,
    ),
    ...dirty.map((state) => `${placeName(state.dir)} has uncommitted files: ${listed(state)}`),
  ];
  const flags = [...(wrong.length > 0 ? ["--allow-branch"] : []), ...(dirty.length > 0 ? ["--allow-dirty"] : [])];
  return {
    code: "preflight_failed",
    message: `${expectation(name, preflight)} ${sentences.join("; ")}.`,
    hint: `Commit, stash or switch; or start from what is committed there now: ${flags.join(" ")}`,
  };
}

function expectation(name: string, preflight: readonly string[]): string {
  return preflight.includes("base-branch")
    ? `Flow ${name} starts from clean base branches.`
    : `Flow ${name} starts from the last commit, and agents would not see what is not committed.`;
}

/** Files that a flow lets pass and its agents will not see. */
export function unseenFiles(
  { preflight = [] }: Flow,
  states: readonly RepositoryState[],
  allow: readonly PreflightException[],
): readonly string[] {
  if (!preflight.includes("committed")) return [];
  return states
    .filter((state) => (allow.includes("dirty") ? isDirty(state) : isDirty(state) && !isChanged(state)))
    .map((state) => `Agents do not see what is not committed: ${listed(state)}.`);
}

/** The exceptions without which these repositories do not pass. */
export function preflightNeeds(
  { preflight = [] }: Flow,
  states: readonly (Pick<RepositoryState, "branch" | "base"> & { readonly dirty: number })[],
): readonly PreflightException[] {
  const wantsCommitted = preflight.includes("clean") || preflight.includes("committed");
  return EXCEPTIONS.filter((exception) =>
    exception === "dirty"
      ? wantsCommitted && states.some(({ dirty }) => dirty > 0)
      : preflight.includes("base-branch") && states.some(isElsewhere),
  );
}

/** Stored with the run, for people and for the stages. */
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

/** Files that git knows are changed; new files alone are not. */
function isChanged({ dirtyCount, newCount }: RepositoryState): boolean {
  return dirtyCount > newCount;
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
  const found = pathsIn(status.value).filter(({ path }) => !nested.some((each) => path === `${each.path}/`));
  const dirty = [...found.filter(({ isNew }) => !isNew), ...found.filter(({ isNew }) => isNew)];
  const known = main == null ? (master == null ? null : "master") : "main";
  const base = target ?? remote?.replace(/^origin\//u, "") ?? known;
  const shown = dirty.slice(0, SHOWN_PATHS).map(({ path }) => path);
  const newCount = found.filter(({ isNew }) => isNew).length;
  return ok([{ ...place, branch: head, base, commit, dirty: shown, dirtyCount: dirty.length, newCount }]);
}

async function nameIn(dir: string, args: readonly string[]): Promise<string | null> {
  const answer = await git(dir, args, { exits: [1, 128] });
  const name = answer.ok && !answer.value.includes("\0") ? answer.value.trim() : "";
  return name === "" ? null : name;
}

/** `XY path`, NUL between entries; a rename has its old path as a further entry. */
function pathsIn(status: string): readonly { readonly path: string; readonly isNew: boolean }[] {
  const entries = status.split("\0");
  const paths: { path: string; isNew: boolean }[] = [];
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] ?? "";
    if (entry.length > 3) paths.push({ path: entry.slice(3), isNew: entry.startsWith("??") });
    if (/^[RC]/u.test(entry)) at++;
  }
  return paths;
}

function listed({ dirty: paths, dirtyCount }: RepositoryState): string {
  const left = dirtyCount - paths.length;
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
