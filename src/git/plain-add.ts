// What `git add --all` and `git write-tree` would make of a few changed files, without a process, where nothing changes the bytes of files
// on their way into the repository. git has listed the changes before; anything unusual about them, or about the settings, is for git.

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import { type GitLocation, readConfig } from "./git.ts";
import { type FileStat, type IdBytes, type IndexEntry, isAsEntered, makeEntry, makeIndex } from "./index-entries.ts";
import type { LooseObject } from "./loose-object.ts";
import { isPlainlyWritten, readConfigText } from "./plain-config.ts";
import { ASK_GIT, type AskGit, statPlain } from "./plain-file.ts";
import type { ShownFiles } from "./shown-index.ts";
import { notedTrees, objectOf, treesAbove, treesOf } from "./plain-trees.ts";

export type PlainSnapshot = {
  readonly index: Buffer;
  readonly tree: string;
  /** Contents of the changed files, and the trees above them. */
  readonly objects: readonly LooseObject[];
  readonly files: ShownFiles;
};

const CHANGES_AT_MOST = 500;
/** As git does by itself. */
const KNOWN_SETTINGS: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|logallrefupdates)$/u,
  /^extensions\.objectformat$/u,
];

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
  const objects: LooseObject[] = [];
  for (const path of paths) {
    const found = readChanged(place.top, path, idBytes);
    if (found === ASK_GIT) return ASK_GIT;
    files.push([path, found?.entry ?? null]);
    if (found !== null) objects.push(found.object);
  }
  const all = merged(entries, files);
  const root = treesOf(all, idBytes);
  const trees = treesAbove(root, paths).map(({ id, bytes }) => looseOf(id, bytes));
  return {
    index: makeIndex(all, notedTrees(root), idBytes),
    tree: root.id.toString("hex"),
    objects: [...objects, ...trees],
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

const FILE = 0o100644;
const PROGRAM = 0o100755;
const LINK = 0o120000;
const MODES: ReadonlySet<number> = new Set([FILE, PROGRAM, LINK]);

/** Settings of their own decide about line ends, modes, links and the form of the index. */
async function isPlainlyAdded(place: GitLocation): Promise<boolean> {
  const text = readConfigText(place.commonDir);
  if (text === ASK_GIT || !isPlainlyWritten(text)) return false;
  const config = await readConfig(place.top, place);
  if (!config.ok) return false;
  const own = config.value.filter(([key]) => /^(?:core|extensions|index|feature|add)\./u.test(key));
  return own.every(
    ([key, value]) =>
      KNOWN_SETTINGS.some((known) => known.test(key)) ||
      (key === "core.bare" && value === "false") ||
      (key === "core.filemode" && value === "true"),
  );
}

/** Attributes may convert a file. git looks for them in the folders above it, in the repository and in the user's settings. */
function hasAttributes({ top, commonDir }: GitLocation, paths: readonly string[]): boolean {
  const settings = process.env["XDG_CONFIG_HOME"] || join(process.env["HOME"] ?? "/", ".config");
  const folders = new Set<string>();
  for (const path of paths)
    for (let folder = dirname(path); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  const places = [...folders].map((folder) => join(top, folder, ATTRIBUTES));
  return [...places, join(commonDir, "info", "attributes"), join(settings, "git", "attributes")].some(
    (file) => statPlain(file) !== null,
  );
}

const ATTRIBUTES = ".gitattributes";
const isAttributes = (path: string): boolean => path.endsWith(ATTRIBUTES);
const COMMON_NAMES: ReadonlySet<string> = new Set([".gitignore", ".gitkeep", ".github"]);

/** git refuses some names, such as those that some file systems take for `.git`. */
function isPlainPath(path: string): boolean {
  return path.split("/").every((name) => {
    if (!/^[\x20-\x7d]+$/u.test(name) || /[\\:]/u.test(name) || name === "." || name === "..") return false;
    return !name.toLowerCase().startsWith(".git") || COMMON_NAMES.has(name);
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

type Found = FileStat & {
  readonly mode: bigint;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
};

/** Null if nothing is there: a folder above it may have become a file. */
function lookAt(file: string): Found | null {
  try {
    return lstatSync(file, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return null;
    throw error;
  }
}

/** The bytes of the file that was looked at, if nobody writes it meanwhile. */
function readSteady(path: string, seen: Found): Buffer | AskGit {
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

/** Both are in git's order, which is that of the bytes of their paths. */
function merged(entries: readonly IndexEntry[], files: ShownFiles): readonly IndexEntry[] {
  const changed = new Set(files.map(([path]) => path));
  const added = files.flatMap(([, entry]) => (entry === null ? [] : [entry]));
  if (added.length === 0) return entries.filter(({ path }) => !changed.has(path));
  added.sort((a, b) => (a.path < b.path ? -1 : 1));
  const all: IndexEntry[] = [];
  let next = 0;
  for (const entry of entries) {
    while (next < added.length && (added[next]?.path ?? "") < entry.path) all.push(added[next++] as IndexEntry);
    if (!changed.has(entry.path)) all.push(entry);
  }
  return [...all, ...added.slice(next)];
}
