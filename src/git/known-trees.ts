// The tree that git wrote for an index, by the bytes of the index: the same bytes make the same tree, so git need not be asked again about
// an index that nobody has changed since.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitLocation } from "./git.ts";
import { factsOfCommit } from "./known-commits.ts";
import { ASK_GIT } from "./plain-file.ts";
import { readHead } from "./plain-refs.ts";

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

/** Right after git has checked out HEAD: its index has the tree of that commit. */
export async function rememberCheckout(place: GitLocation): Promise<void> {
  const head = readHead(place);
  const facts = head === null || head === ASK_GIT ? null : factsOfCommit(head.commit);
  const index = facts === null ? null : await readFile(join(place.gitDir, "index")).catch(() => null);
  if (facts !== null && index !== null) rememberTree(place.commonDir, index, facts.tree);
}

function keyOf(commonDir: string, index: Buffer): string {
  return `${commonDir}\0${createHash("sha256").update(index).digest("hex")}`;
}
