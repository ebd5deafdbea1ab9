// The common git folder of the repository that a folder is in, found without starting git: approvals are looked up often.

import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const MAX_LINK = 4096;

/** Null outside of a repository. A worktree has the common folder of its main repository. */
export function commonGitDir(folder: string): string | null {
  for (let dir = folder; ; dir = dirname(dir)) {
    const path = join(dir, ".git");
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) return realpathSync(path);
    if (stat?.isFile() === true) return stat.size > MAX_LINK ? null : linkedDir(dir, path);
    if (dirname(dir) === dir) return null;
  }
}

/** `.git` of a worktree or a submodule is a file that names its folder. */
function linkedDir(dir: string, file: string): string | null {
  const named = /^gitdir: (.+)$/mu.exec(readFileSync(file, "utf8"))?.[1];
  if (named === undefined) return null;
  const own = resolve(dir, named.trim());
  try {
    const common = readFileSync(join(own, "commondir"), "utf8").slice(0, MAX_LINK).trim();
    return realpathSync(resolve(own, common));
  } catch {
    return own;
  }
}
