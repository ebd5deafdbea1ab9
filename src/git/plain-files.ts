// Files that have the same bytes in a work tree and in the repository, because neither a setting nor an attribute changes them on their way. What
// they are called, and what they look like.

import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { type GitLocation, readConfig } from "./git.ts";
import type { FileStat, IndexEntry } from "./index-entries.ts";
import { isPlainlyWritten, readConfigText } from "./plain-config.ts";
import { ASK_GIT, statPlain } from "./plain-file.ts";
import type { ShownFiles } from "./shown-index.ts";

export const FILE = 0o100644;
export const PROGRAM = 0o100755;
export const LINK = 0o120000;
export const MODES: ReadonlySet<number> = new Set([FILE, PROGRAM, LINK]);

/** As git does by itself. */
const KNOWN_SETTINGS: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|logallrefupdates)$/u,
  /^extensions\.objectformat$/u,
];

/** Settings of their own decide about line ends, modes, links and the form of the index. */
export async function isPlainlyAdded(place: GitLocation): Promise<boolean> {
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
export function hasAttributes({ top, commonDir }: GitLocation, paths: readonly string[]): boolean {
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
export const isAttributes = (path: string): boolean => path.endsWith(ATTRIBUTES);
const COMMON_NAMES: ReadonlySet<string> = new Set([".gitignore", ".gitkeep", ".github"]);

/** git refuses some names, such as those that some file systems take for `.git`. */
export function isPlainPath(path: string): boolean {
  return path.split("/").every((name) => {
    if (!/^[\x20-\x7d]+$/u.test(name) || /[\\:]/u.test(name) || name === "." || name === "..") return false;
    return !name.toLowerCase().startsWith(".git") || COMMON_NAMES.has(name);
  });
}

export type SeenFile = FileStat & {
  readonly mode: bigint;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
};

/** Null if nothing is there: a folder above it may have become a file. */
export function lookAt(file: string): SeenFile | null {
  try {
    return lstatSync(file, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return null;
    throw error;
  }
}

/** Both are in git's order, which is that of the bytes of their paths. */
export function merged(entries: readonly IndexEntry[], files: ShownFiles): readonly IndexEntry[] {
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
