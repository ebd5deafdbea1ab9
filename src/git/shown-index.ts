// The index of the snapshot that a diff showed, with its new objects, so that the commit that follows need not add the same files again. It
// is only where that commit's own snapshot starts: git compares it with the files like any other index.

import { lstat, readFile } from "node:fs/promises";
import { rememberTree } from "./known-trees.ts";
import { type LooseObject, readLoose, storeLoose } from "./loose-object.ts";

export type IndexCopy = {
  readonly bytes: Buffer;
  /** When git wrote it, in seconds. */
  readonly at: number;
};

export type ShownIndex = IndexCopy & { readonly tree: string; readonly objects: readonly LooseObject[] };

/** `own`: the work tree's index at that time. */
type Shown = ShownIndex & { readonly own: Buffer };

const INDEX_BYTES = 4 * 1024 * 1024;
const REMEMBERED_AT_MOST = 16;
const shown = new Map<string, Shown>();

/** Objects of more bytes are added again. */
export const OBJECT_BYTES = 2 * 1024 * 1024;

export type ShownFiles = {
  readonly own: Buffer;
  readonly tree: string;
  /** The file with the snapshot's index. */
  readonly index: string;
  /** The folder with what it has more than the repository. */
  readonly objects: string;
};

export async function rememberShown(gitDir: string, { own, tree, index, objects }: ShownFiles): Promise<void> {
  const [bytes, written] = await Promise.all([readFile(index), lstat(index)]);
  const added = readLoose(objects, OBJECT_BYTES);
  shown.delete(gitDir);
  if (added === null || own.length + bytes.length > INDEX_BYTES) return;
  const [oldest] = shown.keys();
  if (shown.size >= REMEMBERED_AT_MOST && oldest !== undefined) shown.delete(oldest);
  shown.set(gitDir, { own, tree, bytes, at: Math.floor(written.mtimeMs / 1000), objects: added });
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
  rememberTree(commonDir, bytes, tree);
  return true;
}
