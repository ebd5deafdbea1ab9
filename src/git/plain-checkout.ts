// What `git reset --hard` would write into a work tree that has the files of another commit, without a process, where few files differ and
// nothing changes their bytes on the way. Everything is read and compared first; whatever is unusual, and whatever fails, is for git, which
// compares all files with the index again.

import { closeSync, constants, mkdirSync, openSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { GitLocation } from "./git.ts";
import { type IndexEntry, isAsEntered, makeEntry, makeIndex, readEntries } from "./index-entries.ts";
import { type NotedTree, readNotedTrees, replaceIndex } from "./index-file.ts";
import { readObject } from "./loose-object.ts";
import { FOLDER, readTree } from "./loose-tree.ts";
import { readPlainCommit } from "./plain-commit.ts";
import { idBytesOf } from "./plain-config.ts";
import { ASK_GIT, type AskGit, isBelowFolders, readPlain } from "./plain-file.ts";
import {
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
import { readHead } from "./plain-refs.ts";
import { notedTrees, treesOf } from "./plain-trees.ts";
import type { ShownFiles } from "./shown-index.ts";

const INDEX_BYTES = 16 * 1024 * 1024;
const BLOB_BYTES = 1024 * 1024;
const ALL_BYTES = 8 * 1024 * 1024;
const CHANGES_AT_MOST = 500;
/** git looks at more files than this with several threads. */
const ENTRIES_AT_MOST = 5000;

/** The work tree gets the files of its HEAD, and an index of them. Nobody else works there. */
export async function checkOutPlainly(place: GitLocation): Promise<"done" | AskGit> {
  const idBytes = idBytesOf(place.commonDir);
  const index = readPlain(join(place.gitDir, "index"), INDEX_BYTES);
  const tree = treeOfHead(place);
  if (idBytes === ASK_GIT || index === null || index === ASK_GIT || tree === ASK_GIT) return ASK_GIT;
  const entries = readEntries(index, idBytes);
  const noted = readNotedTrees(index, idBytes);
  if (entries === ASK_GIT || entries.length > ENTRIES_AT_MOST || noted === null) return ASK_GIT;
  if (!(await isPlainlyAdded(place))) return ASK_GIT;
  if (entries.some(({ path, mode }) => isAttributes(path) || !MODES.has(mode))) return ASK_GIT;
  const changes = changesTo(place.commonDir, entries, noted, tree);
  if (changes === ASK_GIT || changes.length > CHANGES_AT_MOST) return ASK_GIT;
  const paths = changes.map(({ path }) => path);
  if (!paths.every(isPlainPath) || paths.some(isAttributes) || hasAttributes(place, paths)) return ASK_GIT;
  const contents = contentsOf(place.commonDir, changes);
  if (contents === ASK_GIT) return ASK_GIT;
  const changed = new Set(paths);
  if (!entries.every((entry) => changed.has(entry.path) || isAsInIndex(place.top, entry))) return ASK_GIT;
  const trees = treesOf(merged(entries, changes.map(asShown)), idBytes);
  // What an index notes of its trees may be another's doing.
  if (!trees.id.equals(tree)) return ASK_GIT;
  if (changes.length === 0) return "done";
  try {
    const files = writeAll(place.top, changes, contents);
    const written = makeIndex(merged(entries, files), notedTrees(trees), idBytes);
    return replaceIndex(place.gitDir, written) === "installed" ? "done" : ASK_GIT;
  } catch {
    return ASK_GIT;
  }
}

function treeOfHead(place: GitLocation): Buffer | AskGit {
  const head = readHead(place);
  const facts = head === null || head === ASK_GIT ? ASK_GIT : readPlainCommit(place.commonDir, head.commit);
  return facts === ASK_GIT ? ASK_GIT : Buffer.from(facts.tree, "hex");
}

/** The file that a path is to have; null if it is to be gone. */
type Change = { readonly path: string; readonly to: Pick<IndexEntry, "mode" | "id"> | null };

function asShown({ path, to }: Change): ShownFiles[number] {
  return [path, to === null ? null : { path, ...to, raw: NOTHING }];
}

const NOTHING = Buffer.alloc(0);

/** What differs between the files of an index and a tree. A folder that the index notes with the same id is not looked into. */
function changesTo(
  commonDir: string,
  entries: readonly IndexEntry[],
  noted: NotedTree,
  tree: Buffer,
): readonly Change[] | AskGit {
  const changes: Change[] = [];
  const isRead = compare({ commonDir, entries, changes }, { from: 0, to: entries.length, folder: "", noted }, tree);
  return isRead ? changes : ASK_GIT;
}

type Comparing = {
  readonly commonDir: string;
  readonly entries: readonly IndexEntry[];
  readonly changes: Change[];
};

/** The entries of one folder. */
type Part = {
  readonly from: number;
  readonly to: number;
  /** With a slash at its end; empty for the top. */
  readonly folder: string;
  readonly noted: NotedTree | undefined;
};

function compare(comparing: Comparing, { from, to, folder, noted }: Part, tree: Buffer): boolean {
  const { entries, changes } = comparing;
  if (noted?.id?.equals(tree) === true && noted.entries === to - from) return true;
  const items = readTree(comparing.commonDir, tree);
  if (items === ASK_GIT || changes.length > CHANGES_AT_MOST) return false;
  // A repository inside it, and whatever else has no file.
  if ([...items.values()].some(({ mode }) => mode !== FOLDER && !MODES.has(mode))) return false;
  for (let at = from; at < to; ) {
    const entry = entries[at];
    if (entry === undefined) return false;
    const slash = entry.path.indexOf("/", folder.length);
    const name = entry.path.slice(folder.length, slash === -1 ? undefined : slash);
    const item = items.get(name);
    if (slash === -1) {
      at += 1;
      if (item === undefined || item.mode === FOLDER) changes.push({ path: entry.path, to: null });
      else if (item.mode !== entry.mode || !item.id.equals(entry.id)) changes.push({ path: entry.path, to: item });
      if (item !== undefined && item.mode !== FOLDER) items.delete(name);
      continue;
    }
    const inner = `${folder}${name}/`;
    const begin = at;
    while (at < to && entries[at]?.path.startsWith(inner) === true) at += 1;
    if (item?.mode !== FOLDER) {
      for (const gone of entries.slice(begin, at)) changes.push({ path: gone.path, to: null });
      continue;
    }
    items.delete(name);
    const part = { from: begin, to: at, folder: inner, noted: noted?.folders.get(name) };
    if (!compare(comparing, part, item.id)) return false;
  }
  // What the index does not have.
  for (const [name, item] of items) {
    const path = `${folder}${name}`;
    if (item.mode !== FOLDER) changes.push({ path, to: item });
    else if (!compare(comparing, { from: to, to, folder: `${path}/`, noted: undefined }, item.id)) return false;
  }
  return true;
}

/** By the ids of their objects. */
function contentsOf(commonDir: string, changes: readonly Change[]): ReadonlyMap<string, Buffer> | AskGit {
  const contents = new Map<string, Buffer>();
  let left = ALL_BYTES;
  for (const { to } of changes) {
    const id = to?.id.toString("hex");
    if (id === undefined || contents.has(id)) continue;
    const object = readObject(commonDir, id, BLOB_BYTES);
    if (object === ASK_GIT || object.toString("latin1", 0, 5) !== "blob ") return ASK_GIT;
    const content = object.subarray(object.indexOf(0) + 1);
    left -= content.length;
    if (left < 0) return ASK_GIT;
    contents.set(id, content);
  }
  return contents;
}

/** Names of any bytes. */
const fileOf = (top: string, path: string): string => join(top, Buffer.from(path, "latin1").toString("utf8"));

function isAsInIndex(top: string, entry: IndexEntry): boolean {
  const stat = lookAt(fileOf(top, entry.path));
  return stat !== null && (stat.isFile() || stat.isSymbolicLink()) && isAsEntered(entry, stat);
}

/** What is to go first: a folder may take the place of a file, and a file that of a folder. */
function writeAll(top: string, changes: readonly Change[], contents: ReadonlyMap<string, Buffer>): ShownFiles {
  for (const { path, to } of changes) if (to === null) remove(top, path);
  return changes.map(({ path, to }) => {
    if (to === null) return [path, null];
    writeOne(top, path, to.mode, contents.get(to.id.toString("hex")) ?? NOTHING);
    const stat = lookAt(join(top, path));
    if (stat === null) throw new Error(`${path} is gone`);
    return [path, makeEntry(path, to.mode, to.id, stat)];
  });
}

/** With the folders that hold nothing else. */
function remove(top: string, path: string): void {
  rmSync(join(top, path), { force: true });
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    try {
      rmdirSync(join(top, folder));
    } catch {
      return;
    }
  }
}

function writeOne(top: string, path: string, mode: number, content: Buffer): void {
  const file = join(top, path);
  const folders = dirname(path) === "." ? [] : dirname(path).split("/");
  if (isBelowFolders(top, folders) === null) mkdirSync(dirname(file), { recursive: true });
  if (isBelowFolders(top, folders) !== true) throw new Error(`${path} is not in a folder`);
  rmSync(file, { force: true });
  if (mode === LINK) return symlinkSync(content, file);
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const fd = openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode === PROGRAM ? 0o777 : 0o666);
  try {
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
}
