// Whether a run can work on several repositories at once, checked before it is stored. Its work is in a joint repository in the state folder
// (core/run/joint.ts), so every member must be a folder of its own in it, with a commit to begin at.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Flow } from "../../core/flow/flow.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { wayToLand } from "../../core/ticket/merge-rule.ts";
import { git } from "../../git/git.ts";
import { findProject, findRepository } from "../../git/repository.ts";
import type { GivenFile, GivenFolder } from "./given-files.ts";
import type { RepositoryState } from "./preflight.ts";

export type SeveralRequest = {
  readonly flow: Flow;
  readonly project: string;
  readonly states: readonly RepositoryState[];
  readonly folders: readonly GivenFolder[];
  readonly files: readonly GivenFile[];
  readonly isInPlace: boolean;
  readonly mergeMode: string;
  /** The folder of the joint repositories; undefined where a start cannot have one. */
  readonly joints: string | undefined;
};

/** The folder of the run's joint repository; null for a run in one repository. */
export async function planJoint(request: SeveralRequest): Promise<Result<string | null>> {
  const { flow, states, folders, isInPlace, joints } = request;
  const members = states.filter(({ dir }) => dir !== ".");
  const [first] = members;
  if (first === undefined) return ok(null);
  const hasTracks = flow.stages.some(({ kind }) => kind === "parallel");
  const isNamed = folders.some(({ isRepository }) => isRepository === true);
  // Flows without tracks may work in the folders themselves, whatever is in them.
  if (isInPlace && !hasTracks && !isNamed) return ok(null);
  if (isInPlace || joints === undefined) return err(inPlace(first.dir));
  const refused =
    refuseFlow(request) ??
    refuseLayout(members) ??
    refuseFiles(request, members) ??
    (await refuseProject(request, members)) ??
    (await refuseTwice(request.project, states));
  return refused === undefined ? ok(join(joints, `j${randomBytes(8).toString("hex")}`)) : err(refused);
}

function refuseFlow({ flow, mergeMode }: SeveralRequest): Problem | undefined {
  if (flow.preflight === undefined || flow.workspace.base !== undefined)
    return {
      code: "repositories_refused",
      message: `Flow ${flow.name} does not begin at commits that are checked before the start, so it works in one repository.`,
      hint: "Flows with `preflight`, such as build-plan, work on several.",
    };
  if (wayToLand(flow.merge?.modes, mergeMode, true) !== "pr") return undefined;
  return {
    code: "repositories_refused",
    message: `merge.mode is ${mergeMode}: pull requests in several repositories cannot be merged as one decision.`,
    hint: "Let Passrail land the work after the merge gate (merge: { mode: auto }), or start a run in each repository.",
  };
}

function refuseLayout(members: readonly RepositoryState[]): Problem | undefined {
  for (const { dir } of members) {
    const inner = members.find((other) => other.dir !== dir && other.dir.startsWith(`${dir}/`));
    if (inner === undefined) continue;
    return { code: "repositories_refused", message: `${inner.dir} is inside ${dir}; a run works on one of the two.` };
  }
  return undefined;
}

/** Without a repository around them, files outside the members have no branch that could hold what agents write into them. */
function refuseFiles({ states, files }: SeveralRequest, members: readonly RepositoryState[]): Problem | undefined {
  if (states.some(({ dir }) => dir === ".")) return undefined;
  const stray = files.find(({ path }) => !members.some(({ dir }) => path.startsWith(`${dir}/`)));
  if (stray === undefined) return undefined;
  return {
    code: "outside_repositories",
    message: `${stray.name}: ${stray.path} is in none of the run's repositories (${members.map(({ dir }) => dir).join(", ")}), so its as-built notes could not be kept.`,
    hint: "Move the file into one of them, or make the project's folder a repository: git init && git add && git commit",
  };
}

/** The project's own repository must leave the folders of the others free. */
async function refuseProject(
  { project, states }: SeveralRequest,
  members: readonly RepositoryState[],
): Promise<Problem | undefined> {
  const own = states.find(({ dir }) => dir === ".");
  if (own === undefined) return undefined;
  const root = await findProject(project);
  const repository = root.ok ? await findRepository(root.value) : root;
  if (!repository.ok) return repository.error;
  if (repository.value.prefix !== "")
    return {
      code: "repositories_refused",
      message: `${project} is a folder inside its repository; a run on several repositories starts at the top of it.`,
    };
  const ignores = members.flatMap(({ dir }) => foldersAbove(dir).map((folder) => `${folder}/.gitignore`));
  const paths = [...new Set([...members.map(({ dir }) => dir), ...ignores])];
  const listed = await git(repository.value.top, ["ls-tree", "-z", "--name-only", own.commit, "--", ...paths], {
    env: { GIT_LITERAL_PATHSPECS: "1" },
  });
  if (!listed.ok) return listed.error;
  const [taken = ""] = listed.value.split("\0");
  if (taken === "") return undefined;
  return {
    code: "repositories_refused",
    message: `The project's own repository has ${taken}, where a repository of its own is: a submodule, or rules for its folder.`,
    hint: "Start a run in each repository.",
  };
}

/** `a/b/c` → `a/b`, `a`. */
function foldersAbove(dir: string): readonly string[] {
  const parts = dir.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

/** Two worktrees of one repository cannot have the run's branch both. */
async function refuseTwice(project: string, states: readonly RepositoryState[]): Promise<Problem | undefined> {
  const known = new Map<string, string>();
  for (const { dir } of states) {
    const found = await findProject(join(project, dir));
    const repository = found.ok ? await findRepository(found.value) : found;
    if (!repository.ok) return repository.error;
    const { commonDir } = repository.value;
    const other = known.get(commonDir);
    if (other !== undefined)
      return { code: "repositories_refused", message: `${other} and ${dir} are worktrees of one repository.` };
    known.set(commonDir, dir);
  }
  return undefined;
}

const inPlace = (dir: string): Problem => ({
  code: "nested_repository",
  message: `${dir} is a git repository of its own; a run that works on several has a workspace of its own.`,
  hint: "Leave --workspace in-place out, or start a run in each repository.",
});
