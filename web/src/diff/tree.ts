// The files of a diff as a tree, as rows: a folder, and below it what it holds. Folders that hold nothing but one folder share a row.

import type { FileDiff } from "./parse.ts";

export type TreeRow =
  | { readonly type: "folder"; readonly path: string; readonly name: string; readonly depth: number }
  | { readonly type: "file"; readonly file: FileDiff; readonly name: string; readonly depth: number };

/** Deeper folders are a part of the file's name. */
const DEEPEST = 30;

/** In the order of the diff, which is by name: files of one folder are together. `closed`: the folders whose content is hidden. */
export function treeRows(files: readonly FileDiff[], closed: ReadonlySet<string>): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  const isShown = shownFolders(files);
  let before: readonly string[] = [];
  for (const file of files) {
    const folders = foldersOf(file.path).filter(isShown);
    const isHidden = (depth: number): boolean => folders.slice(0, depth).some((folder) => closed.has(folder));
    folders.forEach((path, depth) => {
      if (before[depth] !== path && !isHidden(depth))
        rows.push({ type: "folder", path, name: path.slice(folders[depth - 1]?.length ?? 0), depth });
    });
    const name = file.path.slice(folders.at(-1)?.length ?? 0);
    if (!isHidden(folders.length)) rows.push({ type: "file", file, name, depth: folders.length });
    before = folders;
  }
  return rows;
}

/** `a/b/c.ts` is in `a/` and `a/b/`. */
function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.indexOf("/"); at !== -1 && folders.length < DEEPEST; at = path.indexOf("/", at + 1))
    folders.push(path.slice(0, at + 1));
  return folders;
}

/** A folder with one folder in it and nothing else is a part of that one's name. */
function shownFolders(files: readonly FileDiff[]): (folder: string) => boolean {
  const inside = new Map<string, Set<string>>();
  for (const { path } of files)
    [...foldersOf(path), path].reduce((folder, child) => {
      inside.set(folder, (inside.get(folder) ?? new Set()).add(child));
      return child;
    }, "");
  return (folder) => {
    const [only = "", ...others] = inside.get(folder) ?? [];
    return others.length > 0 || !only.endsWith("/");
  };
}
