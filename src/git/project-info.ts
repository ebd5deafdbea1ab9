// The daemon's project folder for the first page: whether it is a repository, and its state.

import { execFile } from "node:child_process";

export type ProjectInfo = {
  readonly path: string;
  readonly git: { readonly branch: string | null; readonly commit: string | null; readonly changes: boolean } | null;
};

const LIMITS = { timeout: 5000, maxBuffer: 1024 * 1024 };

export async function describeProject(path: string): Promise<ProjectInfo> {
  if ((await git(path, "rev-parse", "--is-inside-work-tree")) !== "true") return { path, git: null };
  const [branch, commit, changes] = await Promise.all([
    git(path, "symbolic-ref", "--quiet", "--short", "HEAD"),
    git(path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"),
    // Untracked files do not count: a workspace is made from commits.
    git(path, "diff-index", "--name-only", "--no-ext-diff", "HEAD"),
  ]);
  return {
    path,
    git: { branch: branch ?? null, commit: commit ?? null, changes: changes !== undefined && changes !== "" },
  };
}

function git(path: string, ...args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const own = ["-C", path, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", ...args];
    execFile("git", own, { ...LIMITS, encoding: "utf8" }, (error, stdout) =>
      resolve(error === null ? stdout.trim() : undefined),
    );
  });
}
