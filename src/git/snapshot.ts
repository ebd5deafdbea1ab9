// The working state as git would commit it: a copy of the index plus all files that are not ignored. The real index, branch and work tree
// stay unchanged. Diffs and pins are made from it.

import { lstat, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { git, type GitLocation } from "./git.ts";
import { holdsGitlink, notedTree } from "./index-file.ts";
import { findLarge, type LargeFile, WORK_LIMITS, type WorkLimits } from "./large-files.ts";
import { rememberTree, treeOfIndex } from "./known-trees.ts";
import { idLength, readConfigText } from "./plain-config.ts";
import { ASK_GIT, type AskGit } from "./plain-file.ts";
import { type IndexCopy, OBJECT_BYTES, placeShown, rememberShown, takeShown } from "./shown-index.ts";

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
  readonly limits?: WorkLimits;
};

export type Snapshot = {
  /** Environment for the git calls that use it. */
  readonly env: Readonly<Record<string, string>>;
  /** Its tree, if nothing has changed since git wrote it; null: not known. */
  readonly tree: string | null;
  /** The tree that the work tree's index claims, if the files are as it has them. An agent may have written it. */
  readonly claimed: string | null;
  /** The work tree's own index, if the snapshot of the commit that follows can start with this one in its place. */
  readonly own: Buffer | null;
  /** Folders (latin1) that are repositories themselves: their files are not part of the snapshot. */
  readonly nested: readonly string[];
  /** Files that are too large: they are not part of the snapshot. */
  readonly large: readonly LargeFile[];
  /** git's message if it could not add everything; null if it could. */
  readonly incomplete: string | null;
};

/** Takes the snapshot, passes it to `use`, and removes its temporary files. */
export async function withSnapshot<T>(
  source: SnapshotSource,
  use: (snapshot: Snapshot) => Promise<Result<T>>,
): Promise<Result<T>> {
  await sweepLeft(tmpdir());
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  try {
    const snapshot = await take(source, folder);
    return snapshot.ok ? await use(snapshot.value) : snapshot;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Env = Readonly<Record<string, string>>;

const LIST_BYTES = 512 * 1024 * 1024;
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

async function take(source: SnapshotSource, folder: string): Promise<Result<Snapshot>> {
  const { place, dir } = source;
  const env: Record<string, string> = { GIT_INDEX_FILE: join(folder, "index") };
  const begun = await beginAndList(source, env);
  if (!begun.ok) return begun;
  const { own, links, changed, hasConflict } = begun.value;
  // For a nested repository in the index, `git add` runs `git status` inside it, under its own configuration, whose filters are still on.
  // Outside the index, git only records its HEAD.
  const removed = await forget(source, env, links);
  if (!removed.ok) return removed;

  const { large, bytes } = await findLarge(dir, changed, source.limits ?? WORK_LIMITS);
  const isSame = changed.length === 0 && links.length === 0 && !hasConflict;
  const isOrdinary = dir === place.top && links.length === 0 && !hasConflict && large.length === 0;
  const isRemembered = source.keep === "memory" && !isSame && isOrdinary && bytes <= OBJECT_BYTES;
  if (source.keep !== "repository") {
    env["GIT_OBJECT_DIRECTORY"] = join(folder, "objects");
    env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = JSON.stringify(join(place.commonDir, "objects"));
    await mkdir(join(folder, "objects"));
  }
  const incomplete = isSame ? ok(null) : await addAll(source, env, large);
  if (!incomplete.ok) return incomplete;
  const nested = isSame ? ok([]) : await nestedIn(source, env);
  if (!nested.ok) return nested;
  const isWhole = incomplete.value === null && nested.value.length === 0;
  return ok({
    env,
    ...(isSame ? await treesOf(place, env) : { tree: null, claimed: null }),
    own: isRemembered && isWhole ? own : null,
    nested: nested.value.map((link) => link.path),
    large,
    incomplete: incomplete.value,
  });
}

async function treesOf({ commonDir }: GitLocation, env: Env): Promise<Pick<Snapshot, "tree" | "claimed">> {
  const index = await readFile(env["GIT_INDEX_FILE"] ?? "").catch(() => null);
  const length = lengthOfIds(commonDir);
  if (index === null || length === ASK_GIT) return { tree: null, claimed: null };
  return { tree: treeOfIndex(commonDir, index), claimed: notedTree(index, length === 40 ? 20 : 32) };
}

function lengthOfIds(commonDir: string): 40 | 64 | AskGit {
  const config = readConfigText(commonDir);
  return config === ASK_GIT ? ASK_GIT : idLength(config);
}

/** The tree of a snapshot, written to where its objects are. */
export async function writeTree(place: GitLocation, { env, tree }: Snapshot): Promise<Result<string>> {
  if (tree !== null) return ok(tree);
  const written = await git(place.top, ["write-tree"], { place, env, touchesFiles: true });
  if (!written.ok) return written;
  const isInRepository = env["GIT_OBJECT_DIRECTORY"] === undefined;
  const index = isInRepository ? await readFile(env["GIT_INDEX_FILE"] ?? "").catch(() => null) : null;
  if (index !== null) rememberTree(place.commonDir, index, written.value.trim());
  return ok(written.value.trim());
}

/** For the commit that follows: its snapshot starts with this one, and its tree is known. */
export async function keepForCommit(place: GitLocation, snapshot: Snapshot): Promise<void> {
  if (snapshot.own === null) return;
  const written = await writeTree(place, snapshot);
  const { own, env } = snapshot;
  const from = { index: env["GIT_INDEX_FILE"] ?? "", objects: env["GIT_OBJECT_DIRECTORY"] ?? "" };
  if (written.ok) await rememberShown(place.gitDir, { own, tree: written.value, ...from });
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

type Begun = Listed & {
  /** The work tree's own index; null if there is none, or the snapshot does not start there. */
  readonly own: Buffer | null;
};

async function beginAndList(source: SnapshotSource, env: Env): Promise<Result<Begun>> {
  const { place, start } = source;
  if (start.from === "commit") {
    const args = start.commit === null ? ["read-tree", "--empty"] : ["read-tree", start.commit];
    const read = await git(place.top, args, { place, env, touchesFiles: true });
    if (!read.ok) return read;
    const listed = await listFiles(source, env);
    return listed.ok ? ok({ ...listed.value, own: null }) : listed;
  }
  const found = await readIndex(place.gitDir);
  if (!found.ok) return found;
  const own = found.value?.bytes ?? null;
  const shown = own === null || source.keep !== "repository" ? null : takeShown(place.gitDir, own);
  if (shown !== null) {
    await placeIndex(env, shown);
    const listed = await listFiles(source, env);
    if (!listed.ok) return listed;
    // Files that it has may be ignored by now: only the work tree's own index says which are tracked.
    const isSame = listed.value.changed.length === 0;
    if (isSame && placeShown(place.commonDir, shown)) return ok({ ...listed.value, own });
  }
  if (found.value !== null) await placeIndex(env, found.value);
  const listed = await listFiles(source, env);
  return listed.ok ? ok({ ...listed.value, own }) : listed;
}

async function readIndex(gitDir: string): Promise<Result<IndexCopy | null>> {
  const path = join(gitDir, "index");
  const found = await lstat(path).catch(() => null);
  if (found === null) return ok(null);
  if (!found.isFile()) return err({ code: "workspace_damaged", message: `${path} is not a regular file.` });
  return ok({ bytes: await readFile(path), at: Math.floor(found.mtimeMs / 1000) });
}

/** git considers a file unchanged when it is older than the index: the copy must not look newer than the original. */
async function placeIndex(env: Env, { bytes, at }: IndexCopy): Promise<void> {
  const path = env["GIT_INDEX_FILE"] ?? "";
  await writeFile(path, bytes);
  await utimes(path, at, at);
}

type Gitlink = { readonly path: string; readonly commit: string };

type Listed = {
  /** Submodules and embedded repositories of the index that are checked out. */
  readonly links: readonly Gitlink[];
  /** New, changed and deleted files below the folder, as paths below it; nothing for `git add` to do if there is none. */
  readonly changed: readonly string[];
  readonly hasConflict: boolean;
};

/** One process where the folder is the top: its paths are then those of the index. */
async function listFiles(source: SnapshotSource, env: Env): Promise<Result<Listed>> {
  const { place, dir } = source;
  const files = ["--others", "--modified", "--exclude-standard"];
  if (dir === place.top) {
    const listed = await lsFiles(source, dir, ["-t", "--stage", ...files, "-z", "--", "."], env);
    if (!listed.ok) return listed;
    const entries = listed.value.map((entry) => ({ tag: entry.slice(0, 2), rest: entry.slice(2) }));
    const staged = entries.filter(({ tag }) => tag !== "? ").map(({ rest }) => rest);
    const changed = entries.flatMap(({ tag, rest }) => (tag === "? " ? [rest] : tag === "C " ? [pathOf(rest)] : []));
    return ok({ links: await checkedOut(place, staged), changed, hasConflict: staged.some(isConflict) });
  }
  const staged = await lsFiles(source, place.top, ["--stage", "-z"], env);
  if (!staged.ok) return staged;
  const changed = await lsFiles(source, dir, [...files, "-z", "--", "."], env);
  if (!changed.ok) return changed;
  const links = await checkedOut(place, staged.value);
  return ok({ links, changed: changed.value, hasConflict: staged.value.some(isConflict) });
}

async function lsFiles(
  { place }: SnapshotSource,
  dir: string,
  args: readonly string[],
  env: Env,
): Promise<Result<readonly string[]>> {
  const options = { place, env, touchesFiles: true, encoding: "latin1", maxBytes: LIST_BYTES } as const;
  const listed = await git(dir, ["ls-files", ...args], options);
  return listed.ok ? ok(listed.value.split("\0").filter((entry) => entry !== "")) : listed;
}

/** `100644 <id> <stage>` TAB path */
const pathOf = (entry: string): string => entry.slice(entry.indexOf("\t") + 1);
const isConflict = (entry: string): boolean => /^\d+ [0-9a-f]+ [1-9]\t/u.test(entry);

/** Repositories in the snapshot. Its index says whether there are any; git names them. */
async function nestedIn(source: SnapshotSource, env: Env): Promise<Result<readonly Gitlink[]>> {
  const length = lengthOfIds(source.place.commonDir);
  const index = await readFile(env["GIT_INDEX_FILE"] ?? "").catch(() => null);
  if (index !== null && length !== ASK_GIT && holdsGitlink(index, length === 40 ? 20 : 32) === false) return ok([]);
  const staged = await lsFiles(source, source.place.top, ["--stage", "-z"], env);
  return staged.ok ? ok(await checkedOut(source.place, staged.value)) : staged;
}

async function checkedOut(place: GitLocation, staged: readonly string[]): Promise<readonly Gitlink[]> {
  const links = new Map<string, Gitlink>();
  for (const entry of staged) {
    if (!entry.startsWith("160000 ")) continue;
    const path = pathOf(entry);
    if ((await lstat(Buffer.from(`${place.top}/${path}/.git`, "latin1")).catch(() => null)) === null) continue;
    links.set(path, { path, commit: entry.slice("160000 ".length).split(" ", 1)[0] ?? "" });
  }
  return [...links.values()];
}

async function forget(source: SnapshotSource, env: Env, links: readonly Gitlink[]): Promise<Result<string>> {
  if (links.length === 0) return ok("");
  const input = links.map(({ path, commit }) => `0 ${"0".repeat(commit.length)}\t${path}\0`).join("");
  return git(source.place.top, ["update-index", "-z", "--index-info"], {
    place: source.place,
    env,
    touchesFiles: true,
    input,
    encoding: "latin1",
  });
}
