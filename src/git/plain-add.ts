// What `git add --all` and `git write-tree` would make of a few changed files, without a process, where nothing changes the bytes of files
// on their way into the repository. git has listed the changes before; anything unusual about them, or about the settings, is for git.

import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import type { GitLocation } from "./git.ts";
import { type IdBytes, type IndexEntry, isAsEntered, makeEntry, makeIndex } from "./index-entries.ts";
import type { LooseObject } from "./loose-object.ts";
import { ASK_GIT, type AskGit } from "./plain-file.ts";
import {
  FILE,
  type SeenFile,
  hasAttributes,
  isAttributes,
  isPlainlyAdded,
  isPlainPath,
  LINK,
  lookAt,
  merged,
  MODES,
  PROGRAM,
} from "./plain-files.ts";
import type { ShownFiles } from "./shown-index.ts";
import { notedTrees, objectOf, treesAbove, treesOf } from "./plain-trees.ts";

export type PlainSnapshot = {
  readonly index: Buffer;
  readonly tree: string;
  /** The changed files, each content once. */
  readonly contents: readonly LooseObject[];
  /** The trees above them. Only a commit needs them: git compares an index with a commit without looking at the index's trees. */
  readonly trees: () => readonly LooseObject[];
  readonly files: ShownFiles;
};

const CHANGES_AT_MOST = 500;
/** `changed`: all new, changed and deleted files, as git lists them. `entries`: those of the index where the snapshot starts. */
export async function addPlainly(
  place: GitLocation,
  entries: readonly IndexEntry[],
  changed: readonly string[],
  idBytes: IdBytes,
): Promise<PlainSnapshot | AskGit> {
  const paths = [...new Set(changed)];
  if (paths.length > CHANGES_AT_MOST || !paths.every(isPlainPath)) return ASK_GIT;
  if (!(await isPlainlyAdded(place))) return ASK_GIT;
  if (entries.some(({ path, mode }) => isAttributes(path) || !MODES.has(mode))) return ASK_GIT;
  if (hasAttributes(place, paths)) return ASK_GIT;
  const files: (readonly [string, IndexEntry | null])[] = [];
  const contents = new Map<string, LooseObject>();
  for (const path of paths) {
    const found = readChanged(place.top, path, idBytes);
    if (found === ASK_GIT) return ASK_GIT;
    files.push([path, found?.entry ?? null]);
    if (found !== null) contents.set(found.object.id, found.object);
  }
  const all = merged(entries, files);
  const root = treesOf(all, idBytes);
  return {
    index: makeIndex(all, notedTrees(root), idBytes),
    tree: root.id.toString("hex"),
    contents: [...contents.values()],
    trees: () => treesAbove(root, paths).map(({ id, bytes }) => looseOf(id, bytes)),
    files,
  };
}

/** Whether the changed files are still as the snapshot has them. */
export function areUnchanged(top: string, files: ShownFiles): boolean {
  return files.every(([path, entry]) => {
    const stat = lookAt(join(top, path));
    return entry === null ? stat === null || stat.isDirectory() : stat !== null && isAsEntered(entry, stat);
  });
}

type Changed = { readonly entry: IndexEntry; readonly object: LooseObject };

/** Null if nothing is there, or a folder with other files. */
function readChanged(top: string, path: string, idBytes: IdBytes): Changed | null | AskGit {
  const file = join(top, path);
  try {
    const stat = lookAt(file);
    if (stat === null || stat.isDirectory()) return null;
    if (!stat.isFile() && !stat.isSymbolicLink()) return ASK_GIT;
    const body = stat.isFile() ? readSteady(file, stat) : readlinkSync(file, { encoding: "buffer" });
    if (body === ASK_GIT) return ASK_GIT;
    const mode = stat.isFile() ? ((stat.mode & 0o100n) === 0n ? FILE : PROGRAM) : LINK;
    const { id, bytes } = objectOf("blob", body, idBytes);
    return { entry: makeEntry(path, mode, id, stat), object: looseOf(id, bytes) };
  } catch {
    return ASK_GIT;
  }
}

/** The bytes of the file that was looked at, if nobody writes it meanwhile. */
function readSteady(path: string, seen: SeenFile): Buffer | AskGit {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const body = readFileSync(file);
    const now = fstatSync(file, { bigint: true });
    const isSame = now.ino === seen.ino && now.mtimeNs === seen.mtimeNs && now.ctimeNs === seen.ctimeNs;
    return isSame && BigInt(body.length) === seen.size ? body : ASK_GIT;
  } finally {
    closeSync(file);
  }
}

function looseOf(id: Buffer, bytes: Buffer): LooseObject {
  return { id: id.toString("hex"), bytes: deflateSync(bytes, { level: 1 }) };
}
