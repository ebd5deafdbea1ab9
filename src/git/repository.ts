// Finds the repository that a project folder belongs to, and resolves names in it. Reads only.

import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { type GitOptions, git, type GitLocation } from "./git.ts";
import { isKnownCommit, rememberCommit, rememberFacts } from "./known-commits.ts";
import { readPlainCommit } from "./plain-commit.ts";
import { ASK_GIT, type AskGit, readPlain } from "./plain-file.ts";
import { readHead, readNames, type RefsPlace } from "./plain-refs.ts";
import { findPlainRepository } from "./plain-repository.ts";

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

/** The repository around a folder whose links are resolved. */
export async function findRepository(project: string): Promise<Result<Repository>> {
  const plain = findPlainRepository(project);
  if (plain !== ASK_GIT) return ok({ ...plain, commonDir: plain.gitDir });
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

/** The commit of each name, null if there is none. Refs that are plain files, with commits that git has shown before, need no process. */
export async function resolveCommits(
  dir: string,
  names: readonly string[],
  options: GitOptions = {},
): Promise<Result<readonly (string | null)[]>> {
  if (names.some((name) => /[\0\n]/u.test(name))) throw new Error("A revision name holds a line break.");
  const place = refsPlace(options);
  const found = place === null ? names.map((): AskGit => ASK_GIT) : namedBy(place, names);
  const asked = names.flatMap((name, at) => {
    const id = found[at] ?? null;
    if (id === ASK_GIT) return [{ at, name }];
    return id === null || (place !== null && isPresent(place.commonDir, id)) ? [] : [{ at, name: id }];
  });
  const commits = found.map((id) => (id === ASK_GIT ? null : id));
  if (asked.length === 0) return ok(commits);
  // Names go through the input, so that none can be read as an option.
  const input = asked.map(({ name }) => `${name}^{commit}\n`).join("");
  const answer = await git(dir, ["cat-file", "--batch-check"], { ...options, input });
  if (!answer.ok) return answer;
  const lines = answer.value.split("\n");
  for (const [line, { at, name }] of asked.entries()) {
    const commit = /^([0-9a-f]{40,64}) commit \d+$/u.exec(lines[line] ?? "")?.[1] ?? null;
    commits[at] = commit;
    if (place !== null && commit === name) rememberCommit(place.commonDir, commit);
  }
  return ok(commits);
}

/** What each name stands for. An id stands for itself if its object is there to be read; about any other git knows. */
function namedBy(place: RefsPlace, names: readonly string[]): readonly (string | null | AskGit)[] {
  return readNames(place, names).map((id, at) => {
    const name = names[at] ?? "";
    if (id !== ASK_GIT || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(name)) return id;
    return readPlainCommit(place.commonDir, name) === ASK_GIT ? ASK_GIT : name;
  });
}

/** Whether git has shown this commit, or its object is there to be read. */
function isPresent(commonDir: string, id: string): boolean {
  if (isKnownCommit(commonDir, id)) return true;
  const facts = readPlainCommit(commonDir, id);
  if (facts === ASK_GIT) return false;
  rememberCommit(commonDir, id);
  rememberFacts(id, facts);
  return true;
}

/** The full name of the branch that is checked out, or HEAD if none is. */
export async function headName(place: GitLocation): Promise<Result<string>> {
  const head = readHead(place);
  if (head !== null && head !== ASK_GIT) return ok(head.branch ?? "HEAD");
  const name = await git(place.top, ["rev-parse", "--symbolic-full-name", "HEAD"], { place });
  return name.ok ? ok(name.value.trim()) : name;
}

function refsPlace({ place, env }: GitOptions): RefsPlace | null {
  if (place !== undefined) return env === undefined ? place : null;
  const gitDir = env?.["GIT_DIR"];
  if (gitDir === undefined || Object.keys(env ?? {}).length > 1) return null;
  // The folder of a worktree has its refs elsewhere.
  return readPlain(join(gitDir, "commondir"), 4096) === null ? { gitDir, commonDir: gitDir } : null;
}

const bare = (project: string) => ({
  code: "bare_repository",
  message: `${project} is a bare repository, or is inside a .git folder: there are no files to work on.`,
  hint: `Give a clone with files instead: git clone ${project} <folder>`,
});
