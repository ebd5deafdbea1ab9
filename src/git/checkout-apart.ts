// The files of a commit in a folder that no repository knows as a worktree, with an index of their own. Whoever makes a worktree of them lets
// git compare them with its branch, so here it is only found out what git would not see: a file that is not of the commit, and attributes
// by which the files were written.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../core/result.ts";
import { git } from "./git.ts";
import { type IndexEntry, readEntries } from "./index-entries.ts";
import { GITLINK } from "./index-file.ts";
import { idBytesOf, isPlainlyWritten, readConfigText } from "./plain-config.ts";
import { ASK_GIT, type AskGit } from "./plain-file.ts";

export type ApartFiles = { readonly top: string; readonly index: string };

const CHECKOUT_MS = 600_000;

/** Whether a checkout in any folder writes the same files: no setting depends on the worktree, and none leaves files out. */
export function isSameAnywhere(commonDir: string): boolean {
  const config = readConfigText(commonDir);
  return config !== ASK_GIT && isPlainlyWritten(config) && !/sparse/iu.test(config);
}

/** No ref, HEAD or index of the repository changes. */
export function checkOutApart(commonDir: string, commit: string, { top, index }: ApartFiles): Promise<Result<string>> {
  const place = { gitDir: commonDir, commonDir, top };
  const options = { place, env: { GIT_INDEX_FILE: index }, touchesFiles: true, timeoutMs: CHECKOUT_MS };
  return git(top, ["read-tree", "--reset", "-u", commit], options);
}

/** The attributes of such files, where the folder has no file and no folder but those of the index; otherwise git has to write them all. */
export function attributesOfApart(commonDir: string, { top, index }: ApartFiles): string | AskGit {
  const entries = entriesOf(commonDir, index);
  return entries === ASK_GIT || !holdsNothingElse(top, entries) ? ASK_GIT : attributesIn(entries);
}

function holdsNothingElse(top: string, entries: readonly IndexEntry[]): boolean {
  const [files, folders] = [new Set<string>(), new Set<string>()];
  for (const { path, mode } of entries) {
    const name = Buffer.from(path, "latin1").toString("utf8");
    (mode === GITLINK ? folders : files).add(name);
    for (let at = name.lastIndexOf("/"); at > 0 && !folders.has(name.slice(0, at)); at = name.lastIndexOf("/", at - 1))
      folders.add(name.slice(0, at));
  }
  const waiting = [""];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of readdirSync(join(top, folder), { withFileTypes: true })) {
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (!(entry.isDirectory() ? folders : files).has(name)) return false;
      if (entry.isDirectory()) waiting.push(name);
    }
  }
  return true;
}

/** The attributes that the files of an index were written by, to be compared: git writes no file again because they have changed. */
export function attributesOf(commonDir: string, index: string): string | AskGit {
  const entries = entriesOf(commonDir, index);
  return entries === ASK_GIT ? ASK_GIT : attributesIn(entries);
}

function attributesIn(entries: readonly IndexEntry[]): string {
  const found = entries.filter(({ path }) => path === ATTRIBUTES || path.endsWith(`/${ATTRIBUTES}`));
  return found.map(({ path, mode, id }) => `${mode} ${id.toString("hex")} ${path}\n`).join("");
}

const ATTRIBUTES = ".gitattributes";

function entriesOf(commonDir: string, index: string): readonly IndexEntry[] | AskGit {
  const idBytes = idBytesOf(commonDir);
  return idBytes === ASK_GIT ? ASK_GIT : readEntries(readFileSync(index), idBytes);
}
