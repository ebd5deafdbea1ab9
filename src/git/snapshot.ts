// The working state as git would commit it: a copy of the index plus all files that are not ignored. The real index, branch and work tree
// stay unchanged. Diffs and pins are made from it.

import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { git, type GitLocation } from "./git.ts";
import { type IndexEntry, readEntries } from "./index-entries.ts";
import { holdsGitlink, type IndexCopy, notedTree } from "./index-file.ts";
import { type Gitlink, type ListedFiles, listFiles, listNested } from "./list-files.ts";
import { writeLoose } from "./loose-object.ts";
import { addPlainly, areUnchanged, type PlainSnapshot } from "./plain-add.ts";
import { findLarge, type LargeFile, WORK_LIMITS, type WorkLimits } from "./large-files.ts";
import { rememberTree, treeOfIndex } from "./known-trees.ts";
import { idBytesOf } from "./plain-config.ts";
import { ASK_GIT, type AskGit } from "./plain-file.ts";
import { treesOf } from "./plain-trees.ts";
import {
  forgetShown,
  OBJECT_BYTES,
  placeShown,
  readShown,
  rememberShown,
  type ShownIndex,
  takeShown,
} from "./shown-index.ts";

export type SnapshotSource = {
  readonly place: GitLocation;
  /** The folder whose files count: the top of the work tree, or the project below it. */
  readonly dir: string;
  /** Where to start: the work tree's own index, or the files of a commit (null: nothing). */
  readonly start: { readonly from: "index" } | { readonly from: "commit"; readonly commit: string | null };
  /**
   * `repository`: new objects stay there. `nowhere`: they vanish with the snapshot, and unreadable files are left out. `memory`: the same,
   * but a commit of this work tree will probably follow, so the objects of small changes are remembered for it.
   */
  readonly keep: "repository" | "nowhere" | "memory";
  /** The commit is to hold what the diff before it has shown: nobody but the caller has worked here since, and it has changed no file. */
  readonly asShown?: boolean;
  readonly limits?: WorkLimits;
};

export type Snapshot = {
  /** Environment for the git calls that use it, with its files in place: a commit of what a diff has shown makes none of them. */
  readonly env: () => Env;
  /** Null if it has none. */
  readonly index: () => IndexCopy | null;
  /** Its tree, if nothing has changed since git wrote it; null: not known. */
  readonly tree: string | null;
  /** The tree that the work tree's index claims, if the files are as it has them. An agent may have written it. */
  readonly claimed: string | null;
  /** For the commit that follows; null if its snapshot has to be made anew. */
  readonly forCommit: ForCommit | null;
  /** Folders (latin1) that are repositories themselves: their files are not part of the snapshot. */
  readonly nested: readonly string[];
  /** Files that are too large: they are not part of the snapshot. */
  readonly large: readonly LargeFile[];
  /** git's message if it could not add everything; null if it could. */
  readonly incomplete: string | null;
};

/** `own`: the work tree's own index. `plain`: how Passrail made the snapshot; null if git did. */
type ForCommit = { readonly own: IndexCopy; readonly changed: readonly string[]; readonly plain: Placed | null };

/** `at`: a moment, in seconds, before anybody looked at the files. */
type Placed = PlainSnapshot & { readonly at: number };

/** Takes the snapshot, passes it to `use`, and removes its temporary files. */
export async function withSnapshot<T>(
  source: SnapshotSource,
  use: (snapshot: Snapshot) => Promise<Result<T>>,
): Promise<Result<T>> {
  await sweepLeft(tmpdir());
  const files = openFiles();
  try {
    const snapshot = await take(source, files);
    return snapshot.ok ? await use(snapshot.value) : snapshot;
  } finally {
    await files.remove();
  }
}

/** The temporary files of a snapshot. They are made when git needs them. */
type SnapshotFiles = {
  readonly folder: () => string;
  /** What is put there replaces what is there, before git sees it. */
  readonly put: (index: IndexCopy) => void;
  readonly index: () => IndexCopy | null;
  readonly env: () => Env;
  /** Where git finds objects that are not in the repository, and writes its own. */
  readonly setObjects: (folder: string, commonDir: string) => void;
  readonly remove: () => Promise<void>;
};

function openFiles(): SnapshotFiles {
  let made: string | undefined;
  let waiting: IndexCopy | null = null;
  const objects: Record<string, string> = {};
  const folder = (): string => (made ??= mkdtempSync(join(tmpdir(), PREFIX)));
  const path = (): string => join(folder(), "index");
  return {
    folder,
    put: (index) => void (waiting = index),
    index: () => waiting ?? (made === undefined ? null : readCopy(path())),
    env() {
      if (waiting !== null) placeIndex(path(), waiting);
      waiting = null;
      return { GIT_INDEX_FILE: path(), ...objects };
    },
    setObjects(place, commonDir) {
      objects["GIT_OBJECT_DIRECTORY"] = place;
      objects["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = JSON.stringify(join(commonDir, "objects"));
    },
    remove: async () => (made === undefined ? undefined : removeFolder(made)),
  };
}

function readCopy(path: string): IndexCopy | null {
  try {
    return { bytes: readFileSync(path), at: Math.floor(lstatSync(path).mtimeMs / 1000) };
  } catch {
    return null;
  }
}

/** At once where it holds a few small files, as it nearly always does; git may have put thousands of objects there. */
async function removeFolder(folder: string): Promise<void> {
  const hasFew = readNames(folder).length + readNames(join(folder, OBJECTS)).length <= OBJECT_FOLDERS;
  if (hasFew) rmSync(folder, { recursive: true, force: true });
  else await rm(folder, { recursive: true, force: true });
}

const OBJECTS = "objects";
const OBJECT_FOLDERS = 32;

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

type Env = Readonly<Record<string, string>>;

const PREFIX = "passrail-index-";
const LEFT_MS = 24 * 3_600_000;
const swept = new Set<string>();

/** A killed process leaves its copy of an index behind. Removed once per process, and only if it is Passrail's and too old to be in use. */
async function sweepLeft(folder: string): Promise<void> {
  if (swept.has(folder)) return;
  swept.add(folder);
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(PREFIX))) {
    const found = await lstat(join(folder, name)).catch(() => null);
    const isOurs = found?.isDirectory() === true && found.uid === process.getuid?.();
    if (isOurs && found.mtimeMs < Date.now() - LEFT_MS)
      await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function take(source: SnapshotSource, files: SnapshotFiles): Promise<Result<Snapshot>> {
  const { place, dir } = source;
  if (source.keep === "memory") forgetShown(place.gitDir);
  // The file system's clock may be a moment behind.
  const at = Math.floor(Date.now() / 1000) - 1;
  const begun = await beginAndList(source, files);
  if (!begun.ok) return begun;
  const { own, entries, links, changed, hasConflict } = begun.value;
  // For a nested repository in the index, `git add` runs `git status` inside it, under its own configuration, whose filters are still on.
  // Outside the index, git only records its HEAD.
  const removed = await forget(source, files, links);
  if (!removed.ok) return removed;

  const { large, bytes } = await findLarge(dir, changed, source.limits ?? WORK_LIMITS);
  const isSame = changed.length === 0 && links.length === 0 && !hasConflict;
  if (isSame && own !== null && dir === place.top && source.keep === "memory") noteClean(place, own, at);
  const isOrdinary = dir === place.top && links.length === 0 && !hasConflict && large.length === 0;
  const isSmall = isOrdinary && bytes <= OBJECT_BYTES;
  const isPlain = !isSame && isSmall && source.keep !== "repository" && entries !== ASK_GIT;
  const plain = isPlain ? await placePlain(source, files, { entries, changed, at }) : ASK_GIT;
  const isDone = isSame || plain !== ASK_GIT;
  if (source.keep !== "repository") {
    // What git writes is apart from the index. A folder more takes its time where many files were removed lately.
    const objects = isDone ? files.folder() : join(files.folder(), OBJECTS);
    if (!isDone) mkdirSync(objects);
    files.setObjects(objects, place.commonDir);
  }
  const incomplete = isDone ? ok(null) : await addAll(source, files.env(), large);
  if (!incomplete.ok) return incomplete;
  const nested = isDone ? ok([]) : await nestedIn(source, files);
  if (!nested.ok) return nested;
  const isWhole = incomplete.value === null && nested.value.length === 0;
  const isRemembered = source.keep === "memory" && isSmall && isWhole && own !== null;
  const made = plain === ASK_GIT ? null : plain;
  return ok({
    env: files.env,
    index: files.index,
    ...(isSame ? await knownTrees(source, files, entries) : { tree: made?.tree ?? null, claimed: null }),
    forCommit: isRemembered ? { own, changed, plain: made } : null,
    nested: nested.value.map((link) => link.path),
    large,
    incomplete: incomplete.value,
  });
}

/** Without a process where the changed files are ordinary. */
async function placePlain(
  { place }: SnapshotSource,
  files: SnapshotFiles,
  {
    entries,
    changed,
    at,
  }: Pick<ListedFiles, "changed"> & Pick<Placed, "at"> & { readonly entries: readonly IndexEntry[] },
): Promise<Placed | AskGit> {
  const idBytes = idBytesOf(place.commonDir);
  const plain = idBytes === ASK_GIT ? ASK_GIT : await addPlainly(place, entries, changed, idBytes);
  if (plain === ASK_GIT) return ASK_GIT;
  for (const object of plain.contents) writeLoose(files.folder(), object);
  files.put({ bytes: plain.index, at });
  return { ...plain, at };
}

async function knownTrees(
  { place: { commonDir }, keep }: SnapshotSource,
  files: SnapshotFiles,
  entries: Begun["entries"],
): Promise<Pick<Snapshot, "tree" | "claimed">> {
  const index = files.index()?.bytes ?? null;
  const idBytes = idBytesOf(commonDir);
  if (index === null || idBytes === ASK_GIT) return { tree: null, claimed: null };
  const written = treeOfIndex(commonDir, index);
  // Enough to compare. A commit needs trees that are in the repository.
  const made = keep === "repository" || entries === ASK_GIT ? null : () => treesOf(entries, idBytes).id.toString("hex");
  return { tree: written ?? made?.() ?? null, claimed: notedTree(index, idBytes) };
}

/** The tree of a snapshot, written to where its objects are. */
export async function writeTree(place: GitLocation, snapshot: Snapshot): Promise<Result<string>> {
  if (snapshot.tree !== null) return ok(snapshot.tree);
  const env = snapshot.env();
  const written = await git(place.top, ["write-tree"], { place, env, touchesFiles: true });
  if (!written.ok) return written;
  const isInRepository = env["GIT_OBJECT_DIRECTORY"] === undefined;
  const index = isInRepository ? snapshot.index() : null;
  if (index !== null) rememberTree(place.commonDir, index.bytes, written.value.trim());
  return ok(written.value.trim());
}

/** For the commit that follows: its snapshot starts with this one, and its tree is known. */
export async function keepForCommit(place: GitLocation, snapshot: Snapshot): Promise<void> {
  const { forCommit } = snapshot;
  if (forCommit === null) return;
  const { own, changed, plain } = forCommit;
  const remember = (one: ShownIndex): void => rememberShown(place.gitDir, { ...one, own: own.bytes });
  if (changed.length === 0) return remember({ ...own, tree: null, objects: [], files: [] });
  if (plain !== null) {
    const { index: bytes, at, tree, files, contents, trees } = plain;
    return remember({ bytes, at, tree, files, objects: [...contents, ...trees()] });
  }
  const written = await writeTree(place, snapshot);
  const env = snapshot.env();
  const shown = readShown(env["GIT_INDEX_FILE"] ?? "", env["GIT_OBJECT_DIRECTORY"] ?? "");
  if (!written.ok || shown === null) return;
  const entries = entriesOf(place, shown.bytes);
  const byPath = new Map(entries === ASK_GIT ? [] : entries.map((entry) => [entry.path, entry]));
  const files = entries === ASK_GIT ? null : changed.map((path) => [path, byPath.get(path) ?? null] as const);
  remember({ ...shown, tree: written.value, files });
}

/** git's message if it could not add everything. */
async function addAll(
  { place, dir, keep }: SnapshotSource,
  env: Env,
  large: readonly LargeFile[],
): Promise<Result<string | null>> {
  const lenient = keep === "repository" ? [] : ["--ignore-errors"];
  // Names go through the input: arguments cannot hold names of any bytes.
  const input = [".", ...large.map(({ path }) => `:(exclude,literal)${path}`)].join("\0");
  const args = ["add", "--all", ...lenient, "--pathspec-from-file=-", "--pathspec-file-nul"];
  const added = await git(dir, args, { place, env, touchesFiles: true, input, encoding: "latin1" });
  if (!added.ok && (keep === "repository" || added.error.code !== "git_failed")) return added;
  return ok(added.ok ? null : added.error.message);
}

type Begun = ListedFiles & {
  /** The work tree's own index; null if there is none, or the snapshot does not start there. */
  readonly own: IndexCopy | null;
  /** Of the index where the snapshot starts. */
  readonly entries: readonly IndexEntry[] | AskGit;
};

async function beginAndList(source: SnapshotSource, files: SnapshotFiles): Promise<Result<Begun>> {
  const { place, start } = source;
  if (start.from === "commit") {
    const args = start.commit === null ? ["read-tree", "--empty"] : ["read-tree", start.commit];
    const read = await git(place.top, args, { place, env: files.env(), touchesFiles: true });
    if (!read.ok) return read;
    const listed = await listFiles(source, files.env(), ASK_GIT);
    return listed.ok ? ok({ ...listed.value, own: null, entries: ASK_GIT }) : listed;
  }
  const found = readIndex(place.gitDir);
  if (!found.ok) return found;
  const own = found.value;
  const shown = own === null || source.keep !== "repository" ? null : takeShown(place.gitDir, own.bytes);
  if (shown !== null) {
    files.put(shown);
    const entries = entriesOf(place, shown.bytes);
    const isKept = source.asShown === true && shown.files !== null && areUnchanged(place.top, shown.files);
    const listed = isKept ? ok(UNCHANGED) : await listFiles(source, files.env(), entries);
    if (!listed.ok) return listed;
    // Files that it has may be ignored by now: only the work tree's own index says which are tracked.
    const isSame = listed.value.changed.length === 0;
    if (isSame && placeShown(place.commonDir, shown)) return ok({ ...listed.value, own, entries });
  }
  if (own !== null) files.put(own);
  const entries = own === null ? ASK_GIT : entriesOf(place, own.bytes);
  const listed = await listFiles(source, files.env(), entries);
  return listed.ok ? ok({ ...listed.value, own, entries }) : listed;
}

const UNCHANGED: ListedFiles = { links: [], changed: [], hasConflict: false };

function entriesOf({ commonDir }: GitLocation, index: Buffer): readonly IndexEntry[] | AskGit {
  const idBytes = idBytesOf(commonDir);
  return idBytes === ASK_GIT ? ASK_GIT : readEntries(index, idBytes);
}

function readIndex(gitDir: string): Result<IndexCopy | null> {
  const path = join(gitDir, "index");
  const found = lookAt(path);
  if (found === null) return ok(null);
  if (!found.isFile()) return err({ code: "workspace_damaged", message: `${path} is not a regular file.` });
  return ok({ bytes: readFileSync(path), at: Math.floor(found.mtimeMs / 1000) });
}

/**
 * git has just compared every file with the index. It reads those again that are not older than the index, each time: after a checkout, all
 * that were written in its last second. With the time of that look as the index's own it need not. An index that somebody has written since
 * gets an earlier time, which costs git a look and hides nothing.
 */
function noteClean({ gitDir }: GitLocation, own: IndexCopy, at: number): void {
  if (own.at >= at) return;
  try {
    lutimesSync(join(gitDir, "index"), at, at);
  } catch {
    // Then they are read again.
  }
}

function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

/** git considers a file unchanged when it is older than the index: the copy must not look newer than the original. */
function placeIndex(path: string, { bytes, at }: IndexCopy): void {
  writeFileSync(path, bytes);
  utimesSync(path, at, at);
}

/** Repositories in the snapshot. Its index says whether there are any; git names them. */
async function nestedIn(source: SnapshotSource, files: SnapshotFiles): Promise<Result<readonly Gitlink[]>> {
  const idBytes = idBytesOf(source.place.commonDir);
  const index = files.index();
  if (index !== null && idBytes !== ASK_GIT && holdsGitlink(index.bytes, idBytes) === false) return ok([]);
  return listNested(source, files.env());
}

async function forget(
  source: SnapshotSource,
  files: SnapshotFiles,
  links: readonly Gitlink[],
): Promise<Result<string>> {
  if (links.length === 0) return ok("");
  const input = links.map(({ path, commit }) => `0 ${"0".repeat(commit.length)}\t${path}\0`).join("");
  return git(source.place.top, ["update-index", "-z", "--index-info"], {
    place: source.place,
    env: files.env(),
    touchesFiles: true,
    input,
    encoding: "latin1",
  });
}
