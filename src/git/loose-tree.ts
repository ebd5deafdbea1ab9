// Trees that are not packed: what is in one folder of a commit.

import type { IndexEntry } from "./index-entries.ts";
import { readObject } from "./loose-object.ts";
import { ASK_GIT, type AskGit } from "./plain-file.ts";

const TREE_BYTES = 4 * 1024 * 1024;

export const FOLDER = 0o40000;

export type TreeItem = Pick<IndexEntry, "mode" | "id">;

/** By their names, of any bytes. One that is packed, large or damaged is for git. */
export function readTree(commonDir: string, id: Buffer): Map<string, TreeItem> | AskGit {
  const object = readObject(commonDir, id.toString("hex"), TREE_BYTES);
  if (object === ASK_GIT || object.toString("latin1", 0, 5) !== "tree ") return ASK_GIT;
  const items = new Map<string, TreeItem>();
  for (let at = object.indexOf(0) + 1; at < object.length; ) {
    const space = object.indexOf(0x20, at);
    const end = object.indexOf(0, space);
    if (space === -1 || end === -1 || end + 1 + id.length > object.length) return ASK_GIT;
    const mode = Number.parseInt(object.toString("latin1", at, space), 8);
    at = end + 1 + id.length;
    items.set(object.toString("latin1", space + 1, end), { mode, id: object.subarray(end + 1, at) });
  }
  return items;
}
