// Facts about a workspace's repository for Codex: the folders that git writes for a commit, the folders that its trust depends on, and the
// instructions that it ignores without trust.

import { closeSync, existsSync, lstatSync, openSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";

export type CodexRepository = {
  /** Folders that git must write for a commit. */
  readonly gitFolders: readonly string[];
  /** Folders for which Codex may look up its trust. */
  readonly projects: readonly string[];
};

/**
 * Measured with 0.166.0: `.git` is read-only in its sandbox, and so is the folder that a worktree's `.git` points at, until both are
 * listed.
 */
export function readRepository(cwd: string): CodexRepository {
  const here = real(cwd) ?? cwd;
  const projects = new Set([cwd, here]);
  const git = join(here, ".git");
  if (isFolder(git)) return { gitFolders: [git], projects: [...projects] };
  const folder = worktreeFolder(git);
  const common = folder === null ? null : commonFolder(folder);
  if (folder === null || common === null) return { gitFolders: [], projects: [...projects] };
  projects.add(dirname(common));
  // Not all of it: programs outside the sandbox execute the repository's hooks and settings.
  const shared = ["objects", "refs", "logs"].map((name) => join(common, name)).filter(isFolder);
  return { gitFolders: [folder, ...shared], projects: [...projects] };
}

/** As much as Codex itself would read. */
const INSTRUCTIONS_BYTES = 32 * 1024;
const LEVELS = 32;

/** AGENTS.md from the top of the repository down to the workspace, as Codex would send it; null if there is none. */
export function readInstructions(cwd: string): string | null {
  const parts: string[] = [];
  let left = INSTRUCTIONS_BYTES;
  for (const folder of foldersDownTo(real(cwd) ?? cwd)) {
    const found = ["AGENTS.override.md", "AGENTS.md"]
      .map((name) => readWithin(folder, name, left))
      .find((each) => each !== null && each.trim() !== "");
    if (found === undefined || found === null) continue;
    left -= Buffer.byteLength(found);
    parts.push(`# AGENTS.md instructions for ${folder}\n\n<INSTRUCTIONS>\n${found.trim()}\n</INSTRUCTIONS>`);
  }
  return parts.length === 0 ? null : parts.join("\n\n");
}

/** From the folder with `.git` down; only the workspace if no parent has one. */
function foldersDownTo(cwd: string): readonly string[] {
  const folders: string[] = [];
  let folder = cwd;
  for (let level = 0; level < LEVELS; level += 1) {
    folders.unshift(folder);
    if (existsSync(join(folder, ".git"))) return folders;
    const above = dirname(folder);
    if (above === folder) break;
    folder = above;
  }
  return [cwd];
}

/** A link out of the folder could show the model a file that the agent itself may not read. */
function readWithin(folder: string, name: string, bytes: number): string | null {
  const path = real(join(folder, name));
  if (path === null || bytes <= 0 || !path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return null;
  let file: number | undefined;
  try {
    if (!lstatSync(path).isFile()) return null;
    file = openSync(path, "r");
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(file, buffer, 0, bytes, 0)).toString("utf8");
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The target of a worktree's `.git`, if the folder there points back: an agent may have written the file. */
function worktreeFolder(git: string): string | null {
  const line = firstLine(git);
  if (line === null || !line.startsWith("gitdir:")) return null;
  const folder = real(resolve(dirname(git), line.slice("gitdir:".length).trim()));
  if (folder === null || !isFolder(folder)) return null;
  const back = firstLine(join(folder, "gitdir"));
  return back !== null && real(resolve(folder, back)) === git ? folder : null;
}

function commonFolder(folder: string): string | null {
  const line = firstLine(join(folder, "commondir"));
  const common = line === null ? null : real(resolve(folder, line));
  // A worktree's folder is inside the shared one.
  return common !== null && folder.startsWith(join(common, "worktrees") + sep) ? common : null;
}

function firstLine(path: string): string | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > 8_192) return null;
    return (readFileSync(path, "utf8").split("\n", 1)[0] ?? "").trim();
  } catch {
    return null;
  }
}

function real(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
