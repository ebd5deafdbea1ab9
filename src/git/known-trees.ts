// The tree that git wrote for an index, by the bytes of the index: the same bytes make the same tree, so git need not be asked again about
// an index that nobody has changed since.

import { createHash } from "node:crypto";

const REMEMBERED_AT_MOST = 2000;
const trees = new Map<string, string>();

export function treeOfIndex(commonDir: string, index: Buffer): string | null {
  return trees.get(keyOf(commonDir, index)) ?? null;
}

export function rememberTree(commonDir: string, index: Buffer, tree: string): void {
  const [oldest] = trees.keys();
  if (trees.size >= REMEMBERED_AT_MOST && oldest !== undefined) trees.delete(oldest);
  trees.set(keyOf(commonDir, index), tree);
}

function keyOf(commonDir: string, index: Buffer): string {
  return `${commonDir}\0${createHash("sha256").update(index).digest("hex")}`;
}
