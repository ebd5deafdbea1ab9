// Whose branch it is. Passrail works on a branch that it made, or that a person gave it by an explicit word; it never takes over a branch
// that happens to have the name it wants. The notes are in the state folder, out of reach of the repository's content.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { makeFolders, writeConfined } from "../file/confined.ts";
import { checkBranchName, collides } from "../git/branch-name.ts";
import { git, inRepository } from "../git/git.ts";
import { ASK_GIT } from "../git/plain-file.ts";
import { readRefs } from "../git/plain-refs.ts";
import { findProject, findRepository } from "../git/repository.ts";
import type { WorkspaceRequest } from "./workspace.ts";

const HEADS = "refs/heads/";

/** Checks the branch of a request before any change in git, and notes that it is Passrail's. */
export async function claimBranch(home: string, request: WorkspaceRequest): Promise<Result<null>> {
  const name = checkBranchName(request.branch ?? `passrail/${request.runId}`);
  if (!name.ok) return name;
  const project = await findProject(request.project);
  if (!project.ok) return project;
  const repository = await findRepository(project.value);
  if (!repository.ok) return repository;
  const { commonDir } = repository.value;
  const branch = name.value;
  const branches = await listBranches(commonDir);
  if (!branches.ok) return branches;
  if (!branches.value.includes(branch)) {
    const other = branches.value.find((each) => collides(each, branch));
    if (other !== undefined) return err(collision(branch, other, project.value));
  } else if (request.adopts !== true && !(await isOurs(home, commonDir, branch, request.runId)))
    return err(notOurs(branch, project.value));
  return note(home, commonDir, branch, request.runId);
}

async function listBranches(commonDir: string): Promise<Result<readonly string[]>> {
  const plain = await readRefs(commonDir);
  if (plain !== ASK_GIT)
    return ok([...plain.keys()].flatMap((name) => (name.startsWith(HEADS) ? [name.slice(HEADS.length)] : [])));
  const args = ["for-each-ref", "--format=%(refname)", "refs/heads"];
  const listed = await git(commonDir, args, inRepository(commonDir));
  return listed.ok
    ? ok(listed.value.split("\n").flatMap((line) => (line === "" ? [] : [line.slice(HEADS.length)])))
    : listed;
}

async function isOurs(home: string, commonDir: string, branch: string, runId: string): Promise<boolean> {
  if (branch === `passrail/${runId}`) return true;
  const noted = await readFile(noteFile(home, commonDir, branch), "utf8").catch(() => null);
  if (noted !== null) return true;
  // Versions without these notes pinned every branch that they worked on. A branch without commits of its own holds nothing to take over.
  const args = ["for-each-ref", "--count=1", `--contains=refs/heads/${branch}`, "refs/passrail/keep"];
  const pins = await git(commonDir, args, inRepository(commonDir));
  return pins.ok && pins.value.trim() !== "";
}

async function note(home: string, commonDir: string, branch: string, runId: string): Promise<Result<null>> {
  const path = noteFile(home, commonDir, branch);
  if ((await readFile(path, "utf8").catch(() => null)) !== null) return ok(null);
  const made = makeFolders(home, join(home, "branches"), 0o700);
  if (!made.ok) return made;
  return writeConfined(home, path, `${JSON.stringify({ repository: commonDir, branch, runId })}\n`);
}

function noteFile(home: string, commonDir: string, branch: string): string {
  const name = createHash("sha256").update(`${commonDir}\0${branch}`).digest("hex").slice(0, 40);
  return join(home, "branches", `${name}.json`);
}

const notOurs = (branch: string, project: string): Problem => ({
  code: "branch_not_ours",
  message: `Branch ${branch} exists in ${project} and Passrail did not make it, so nothing was changed.`,
  hint: `Rename yours: git -C ${project} branch -m ${branch} ${branch}-mine. Or let Passrail work on it: --adopt-branch, in a ticket's front matter "branch: adopt"`,
});

const collision = (branch: string, other: string, project: string): Problem => ({
  code: "branch_name_collides",
  message: `Branch ${branch} would collide with the branch ${JSON.stringify(other.slice(0, 120))}: some file systems take both names for one.`,
  hint: `Rename one of them, for example: git -C ${project} branch -m`,
});
