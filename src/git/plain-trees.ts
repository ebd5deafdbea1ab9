// The tree objects that the entries of an index make, as `git write-tree` would write them. Entries of an index are in the order of its
// trees: a folder's files stand where its name with a slash would.

import { createHash } from "node:crypto";
import { hashName, type IdBytes, type IndexEntry } from "./index-entries.ts";

export type PlainTree = {
  readonly id: Buffer;
  /** The object, not compressed. */
  readonly bytes: Buffer;
  /** Files in it and below. */
  readonly entries: number;
  readonly folders: readonly (readonly [name: string, tree: PlainTree])[];
};

/** The bytes of an object before compression, and its id. */
export function objectOf(type: "blob" | "tree", body: Buffer, idBytes: IdBytes): Pick<PlainTree, "id" | "bytes"> {
  const bytes = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  return { bytes, id: createHash(hashName(idBytes)).update(bytes).digest() };
}

export function treesOf(entries: readonly IndexEntry[], idBytes: IdBytes): PlainTree {
  return treeBetween(entries, { from: 0, to: entries.length, depth: 0 }, idBytes);
}

type Part = {
  readonly from: number;
  readonly to: number;
  /** Length of the folder's path with its slash. */
  readonly depth: number;
};

function treeBetween(entries: readonly IndexEntry[], { from, to, depth }: Part, idBytes: IdBytes): PlainTree {
  const parts: Buffer[] = [];
  const folders: (readonly [string, PlainTree])[] = [];
  let at = from;
  while (at < to) {
    const entry = entries[at];
    if (entry === undefined) break;
    const slash = entry.path.indexOf("/", depth);
    if (slash === -1) {
      parts.push(Buffer.from(`${entry.mode.toString(8)} ${entry.path.slice(depth)}\0`, "latin1"), entry.id);
      at += 1;
      continue;
    }
    const folder = entry.path.slice(0, slash + 1);
    let end = at + 1;
    while (end < to && entries[end]?.path.startsWith(folder) === true) end += 1;
    const tree = treeBetween(entries, { from: at, to: end, depth: folder.length }, idBytes);
    const name = entry.path.slice(depth, slash);
    folders.push([name, tree]);
    parts.push(Buffer.from(`40000 ${name}\0`, "latin1"), tree.id);
    at = end;
  }
  return { ...objectOf("tree", Buffer.concat(parts), idBytes), entries: to - from, folders };
}

/** The trees on the way to these paths: only they can be new. */
export function treesAbove(root: PlainTree, paths: readonly string[]): readonly PlainTree[] {
  const found = new Set<PlainTree>([root]);
  for (const path of paths) {
    let tree: PlainTree | undefined = root;
    for (const name of path.split("/").slice(0, -1)) {
      tree = tree?.folders.find(([known]) => known === name)?.[1];
      if (tree !== undefined) found.add(tree);
    }
  }
  return [...found];
}

/** The trees as an index notes them: name, NUL, the number of files below, the number of folders, line feed, id; each folder before those in it. */
export function notedTrees(tree: PlainTree, name = ""): Buffer {
  const head = Buffer.from(`${name}\0${tree.entries} ${tree.folders.length}\n`, "latin1");
  return Buffer.concat([head, tree.id, ...tree.folders.map(([below, inner]) => notedTrees(inner, below))]);
}
