// The refs of a repository, read from the files in which git keeps them: one file per ref below refs/, and packed-refs for the others. A
// symbolic ref, an odd name or content, a link, and repositories that store refs in another way are for git.

import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { idLength, readConfigText } from "./plain-config.ts";
import { ASK_GIT, type AskGit, isBelowFolders, readPlain, statPlain } from "./plain-file.ts";

export type RefsPlace = { readonly gitDir: string; readonly commonDir: string };

const REF_BYTES = 4096;
const PACKED_BYTES = 8 * 1024 * 1024;
const REFS_AT_MOST = 50_000;

export type PlainHead = {
  /** The full name of the branch; null if HEAD is detached. */
  readonly branch: string | null;
  readonly commit: string;
};

/** What `HEAD` and full names (`refs/…`) name; null if there is no such ref, or no commit yet. All other names are for git. */
export function readNames(place: RefsPlace, names: readonly string[]): readonly (string | null | AskGit)[] {
  const length = idLengthOf(place.commonDir);
  if (length === ASK_GIT) return names.map(() => ASK_GIT);
  const wanted = names.map((name) => (name === "HEAD" ? readHeadFile(place, length) : { name }));
  const loose = wanted.map((one) =>
    one === ASK_GIT ? ASK_GIT : "id" in one ? one.id : readLoose(place, one.name, length),
  );
  // After the loose ones: while git packs a ref, it is in one of the two at any moment.
  const packed = loose.includes(null) ? readPacked(place.commonDir, length) : new Map<string, string>();
  return wanted.map((one, at) => {
    const id = loose[at] ?? null;
    if (id !== null || one === ASK_GIT || "id" in one) return id;
    return packed === ASK_GIT ? ASK_GIT : (packed.get(one.name) ?? null);
  });
}

/** The HEAD of a work tree; null if its branch has no commit yet. */
export function readHead(place: RefsPlace): PlainHead | null | AskGit {
  const length = idLengthOf(place.commonDir);
  const head = length === ASK_GIT ? ASK_GIT : readHeadFile(place, length);
  if (head === ASK_GIT) return ASK_GIT;
  if ("id" in head) return { branch: null, commit: head.id };
  const [commit = null] = readNames(place, [head.name]);
  return commit === null || commit === ASK_GIT ? commit : { branch: head.name, commit };
}

type HeadFile = { readonly name: string } | { readonly id: string };

function readHeadFile({ gitDir }: RefsPlace, length: 40 | 64): HeadFile | AskGit {
  const bytes = readPlain(join(gitDir, "HEAD"), REF_BYTES);
  if (bytes === null || bytes === ASK_GIT) return ASK_GIT;
  const text = bytes.toString("utf8");
  const id = idIn(text, length);
  if (id !== null) return { id };
  const name = /^ref: (refs\/heads\/[^\n]+)\n$/u.exec(text)?.[1];
  return name === undefined ? ASK_GIT : { name };
}

/** Every ref with what it names. */
export async function readRefs(commonDir: string): Promise<ReadonlyMap<string, string> | AskGit> {
  const length = idLengthOf(commonDir);
  if (length === ASK_GIT) return ASK_GIT;
  // Loose refs first: while git packs a ref, it is in one of the two at any moment.
  const loose = new Map<string, string>();
  const symbolic = new Map<string, string>();
  if (!(await walk(commonDir, "refs", length, { loose, symbolic }))) return ASK_GIT;
  const packed = readPacked(commonDir, length);
  if (packed === ASK_GIT) return ASK_GIT;
  const refs = new Map([...packed, ...loose]);
  for (const [name, target] of symbolic) {
    // Its packed value is hidden, and without a target it is no ref.
    const id = symbolic.has(target) ? undefined : refs.get(target);
    refs.delete(name);
    if (id !== undefined) refs.set(name, id);
  }
  return refs;
}

function idLengthOf(commonDir: string): 40 | 64 | AskGit {
  const config = readConfigText(commonDir);
  return config === ASK_GIT || statPlain(join(commonDir, "reftable")) !== null ? ASK_GIT : idLength(config);
}

/** Whether a name is free: no ref is called so, and none would need its name as a folder, or a part of its name as a file. */
export function isFreeName(place: RefsPlace, name: string): boolean {
  const length = idLengthOf(place.commonDir);
  if (length === ASK_GIT || readLoose(place, name, length) !== null) return false;
  if (statPlain(join(place.commonDir, name)) !== null) return false;
  const parts = name.split("/");
  const above = parts.map((_, at) => parts.slice(0, at + 1).join("/")).slice(1, -1);
  if (above.some((folder) => isFile(join(place.commonDir, folder)))) return false;
  const packed = readPacked(place.commonDir, length);
  if (packed === ASK_GIT || packed.has(name) || above.some((folder) => packed.has(folder))) return false;
  return [...packed.keys()].every((other) => !other.startsWith(`${name}/`));
}

function isFile(path: string): boolean {
  const found = statPlain(path);
  return found !== null && (found === ASK_GIT || !found.isDirectory());
}

/** Null if it can only be packed, or is not there. */
function readLoose({ commonDir }: RefsPlace, name: string, length: 40 | 64): string | null | AskGit {
  if (!isPlainName(name)) return ASK_GIT;
  const below = isBelowFolders(commonDir, dirname(name).split("/"));
  if (below !== true) return below === null ? null : ASK_GIT;
  const path = join(commonDir, name);
  const found = statPlain(path);
  // A folder of refs has this name.
  if (found === null || (found !== ASK_GIT && found.isDirectory())) return null;
  const bytes = readPlain(path, REF_BYTES);
  if (bytes === null || bytes === ASK_GIT) return bytes;
  return idIn(bytes.toString("latin1"), length) ?? ASK_GIT;
}

type Found = { readonly loose: Map<string, string>; readonly symbolic: Map<string, string> };

/** False if something is for git. */
async function walk(commonDir: string, folder: string, length: 40 | 64, found: Found): Promise<boolean> {
  const entries = await readdir(join(commonDir, folder), { withFileTypes: true }).catch(() => null);
  if (entries === null) return false;
  for (const entry of entries) {
    // git passes over these: the files of a write that is under way.
    if (entry.name.startsWith(".") || entry.name.endsWith(".lock")) continue;
    if (!(await visit(commonDir, `${folder}/${entry.name}`, entry, length, found))) return false;
  }
  return true;
}

async function visit(commonDir: string, name: string, entry: Dirent, length: 40 | 64, found: Found): Promise<boolean> {
  if (!isPlainName(name) || found.loose.size > REFS_AT_MOST) return false;
  if (entry.isDirectory()) return walk(commonDir, name, length, found);
  if (!entry.isFile()) return false;
  const bytes = readPlain(join(commonDir, name), REF_BYTES);
  if (bytes === ASK_GIT) return false;
  // Deleted or packed since the folder was read.
  if (bytes === null) return true;
  const text = bytes.toString("latin1");
  const id = idIn(text, length);
  if (id !== null) found.loose.set(name, id);
  // Every clone has one: refs/remotes/origin/HEAD. Elsewhere only git knows what it means.
  const target = /^ref: (refs\/remotes\/[^\s]+)\n$/u.exec(text)?.[1];
  if (id === null && (target === undefined || !name.startsWith("refs/remotes/"))) return false;
  if (id === null && target !== undefined) found.symbolic.set(name, target);
  return true;
}

function readPacked(commonDir: string, length: 40 | 64): ReadonlyMap<string, string> | AskGit {
  const bytes = readPlain(join(commonDir, "packed-refs"), PACKED_BYTES);
  if (bytes === ASK_GIT) return ASK_GIT;
  const refs = new Map<string, string>();
  for (const line of (bytes?.toString("utf8") ?? "").split("\n")) {
    if (line === "" || line.startsWith("#") || line.startsWith("^")) continue;
    const id = idIn(line.slice(0, length), length);
    const name = line.slice(length + 1);
    if (id === null || line[length] !== " " || !isPlainName(name)) return ASK_GIT;
    refs.set(name, id);
  }
  return refs;
}

function idIn(text: string, length: 40 | 64): string | null {
  const id = text.endsWith("\n") ? text.slice(0, -1) : text;
  return id.length === length && /^[0-9a-f]+$/u.test(id) && !/^0+$/u.test(id) ? id : null;
}

/** A name that git accepts for certain; it has more rules for rarer ones. */
function isPlainName(name: string): boolean {
  return (
    name.startsWith("refs/") &&
    !/[\p{Cc}\s~^:?*[\\\uFFFD]|\.\.|@\{|\/\/|\/$|\.$/u.test(name) &&
    name.split("/").every((part) => part !== "" && part !== "@" && !part.startsWith(".") && !part.endsWith(".lock"))
  );
}
