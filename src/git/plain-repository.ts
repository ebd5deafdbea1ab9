// The repository around a folder in the ordinary case: a .git folder of this user in the folder or above it. Everything else (a worktree, a
// submodule, a bare repository, another owner, settings that lead elsewhere) is for git, which also has the words for what is wrong.

import type { Stats } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isOrdinary, readConfigText } from "./plain-config.ts";
import { ASK_GIT, type AskGit, readPlain, statPlain } from "./plain-file.ts";

export type PlainRepository = { readonly gitDir: string; readonly top: string; readonly prefix: string };

const HEAD_BYTES = 4096;

/** `project` has its links resolved. */
export function findPlainRepository(project: string): PlainRepository | AskGit {
  const start = statOf(project);
  for (let top = project; ; top = dirname(top)) {
    const here = top === project ? start : statOf(top);
    // git does not cross a file system, and takes a folder that looks like a repository for one.
    if (start === null || here === null || here.dev !== start.dev || looksBare(top)) return ASK_GIT;
    const gitDir = join(top, ".git");
    const found = statPlain(gitDir);
    if (found !== null) return found !== ASK_GIT && isPlain(gitDir, here, found) ? placed(project, top) : ASK_GIT;
    if (top === dirname(top)) return ASK_GIT;
  }
}

function placed(project: string, top: string): PlainRepository {
  const below = relative(top, project);
  return { gitDir: join(top, ".git"), top, prefix: below === "" ? "" : `${below}/` };
}

function isPlain(gitDir: string, top: Stats, found: Stats): boolean {
  const user = process.geteuid?.();
  // Root may act for somebody else: git decides.
  if (user === undefined || process.env["SUDO_UID"] !== undefined) return false;
  if (!found.isDirectory() || found.uid !== user || top.uid !== user) return false;
  if (["objects", "refs"].some((folder) => statOf(join(gitDir, folder))?.isDirectory() !== true)) return false;
  if (statPlain(join(gitDir, "commondir")) !== null) return false;
  const head = readPlain(join(gitDir, "HEAD"), HEAD_BYTES);
  if (head === null || head === ASK_GIT || !/^(?:ref: refs\/heads\/|[0-9a-f]{40})/u.test(head.toString("latin1")))
    return false;
  const config = readConfigText(gitDir);
  return config !== ASK_GIT && isOrdinary(config);
}

function looksBare(folder: string): boolean {
  return statPlain(join(folder, "HEAD")) !== null && statPlain(join(folder, "objects")) !== null;
}

function statOf(path: string): Stats | null {
  const found = statPlain(path);
  return found === ASK_GIT ? null : found;
}
