// The index of the snapshot that a diff showed, with its new objects, so that the commit that follows need not add the same files again. It
// is only where that commit's own snapshot starts: git compares it with the files like any other index.

import { lstatSync, readFileSync } from "node:fs";
import type { IndexEntry } from "./index-entries.ts";
import type { IndexCopy } from "./index-file.ts";
import { rememberTree } from "./known-trees.ts";
import { type LooseObject, readLoose, storeLoose } from "./loose-object.ts";

export type ShownIndex = IndexCopy & {
  /** Null if git has not written it: nothing differed from the work tree's index. */
  readonly tree: string | null;
  readonly objects: readonly LooseObject[];
  /** The files that differed from the work tree's index; null if nobody noted them. */
  readonly files: ShownFiles | null;
};

/** A file as the snapshot has it, or null for one that was gone. */
export type ShownFiles = readonly (readonly [path: string, entry: IndexEntry | null])[];

/** `own`: the work tree's index at that time. */
export type ShownSnapshot = ShownIndex & { readonly own: Buffer };

const INDEX_BYTES = 4 * 1024 * 1024;
const REMEMBERED_AT_MOST = 16;
const shown = new Map<string, ShownSnapshot>();

/** Objects of more bytes are added again. */
export const OBJECT_BYTES = 2 * 1024 * 1024;

/** The index that git has written to a file, with the objects that it has put into a folder. */
export function readShown(index: string, objects: string): (IndexCopy & Pick<ShownSnapshot, "objects">) | null {
  const bytes = readFileSync(index);
  const written = lstatSync(index);
  const added = readLoose(objects, OBJECT_BYTES);
  return added === null ? null : { bytes, at: Math.floor(written.mtimeMs / 1000), objects: added };
}

export function rememberShown(gitDir: string, one: ShownSnapshot): void {
  shown.delete(gitDir);
  if (one.own.length + one.bytes.length > INDEX_BYTES) return;
  const [oldest] = shown.keys();
  if (shown.size >= REMEMBERED_AT_MOST && oldest !== undefined) shown.delete(oldest);
  shown.set(gitDir, one);
}

export function forgetShown(gitDir: string): void {
  shown.delete(gitDir);
}

/** For one commit; null if there is none, or if the work tree's index has changed since. */
export function takeShown(gitDir: string, own: Buffer): ShownIndex | null {
  const known = shown.get(gitDir);
  shown.delete(gitDir);
  return known !== undefined && known.own.equals(own) ? known : null;
}

/** Brings its objects to the repository; false if one of them is not there. */
export function placeShown(commonDir: string, { objects, bytes, tree }: ShownIndex): boolean {
  if (!objects.every((object) => storeLoose(commonDir, object))) return false;
  if (tree !== null) rememberTree(commonDir, bytes, tree);
  return true;
}
