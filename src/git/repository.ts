// Finds the repository that a project folder belongs to, and resolves names in it. Reads only.

import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { type GitOptions, git, type GitLocation } from "./git.ts";

export type Repository = GitLocation & {
  /** The project below the top of the work tree, "" or ending with a slash. */
  readonly prefix: string;
};

/** The project folder with its links resolved. */
export async function findProject(project: string): Promise<Result<string>> {
  const hint = "Give the absolute path of a folder that exists.";
  const found = isAbsolute(project) && !project.includes("\n") ? await stat(project).catch(() => null) : null;
  if (found === null)
    return err({ code: "project_missing", message: `The project folder ${project} does not exist.`, hint });
  if (!found.isDirectory()) {
    return err({ code: "project_not_a_directory", message: `The project ${project} is not a folder.`, hint });
  }
  return ok(await realpath(project));
}

/** The repository around a folder whose links are resolved. One git process. */
export async function findRepository(project: string): Promise<Result<Repository>> {
  const asked = ["--git-dir", "--git-common-dir", "--is-inside-work-tree", "--show-prefix"];
  const answer = await git(project, ["rev-parse", "--path-format=absolute", ...asked]);
  if (!answer.ok) {
    if (answer.error.message.includes("cannot use bare repository")) return err(bare(project));
    if (!answer.error.message.includes("not a git repository")) return answer;
    return err({
      code: "not_a_git_repository",
      message: `${project} is not in a git repository.`,
      hint: `Make it one: git -C ${project} init && git -C ${project} add -A && git -C ${project} commit -m "Start". Or let the run work in place.`,
    });
  }
  const [gitDir = "", commonDir = "", inside = "", prefix = ""] = answer.value.split("\n");
  if (inside !== "true") return err(bare(project));
  const top = `${project}/`.slice(0, -1 - prefix.length);
  return ok({ gitDir: await realpath(gitDir), commonDir: await realpath(commonDir), top, prefix });
}

/** The commit of each name, null if there is none. Names go through stdin, so none can be read as an option. */
export async function resolveCommits(
  dir: string,
  names: readonly string[],
  options: GitOptions = {},
): Promise<Result<readonly (string | null)[]>> {
  if (names.some((name) => /[\0\n]/u.test(name))) throw new Error("A revision name holds a line break.");
  const input = names.map((name) => `${name}^{commit}\n`).join("");
  const answer = await git(dir, ["cat-file", "--batch-check"], { ...options, input });
  if (!answer.ok) return answer;
  const lines = answer.value.split("\n");
  return ok(names.map((_, index) => /^([0-9a-f]{40,64}) commit \d+$/u.exec(lines[index] ?? "")?.[1] ?? null));
}

const bare = (project: string) => ({
  code: "bare_repository",
  message: `${project} is a bare repository, or is inside a .git folder: there are no files to work on.`,
  hint: `Give a clone with files instead: git clone ${project} <folder>`,
});
