// The files of a repository that decide what git does: settings, hooks, attributes, where objects and other repositories are. Read byte for byte, so
// that they can be compared and put back. Commits, refs and the index are not among them. Read at once instead of step by step on other
// threads: some 25 small files take a millisecond that way, and eight otherwise. Many files are read in portions.

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile, chmod, cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { z } from "zod";
import { messageOf } from "../core/result.ts";
import { ASK_GIT, readPlain } from "../git/plain-file.ts";

const entrySchema = z.object({
  kind: z.enum(["file", "folder", "link", "other"]),
  mode: z.int(),
  /** Hash of the content, or the target of a link. */
  content: z.string(),
  /** In base64; null if it is too large to be put back. */
  bytes: z.string().nullable(),
});

/** Path below the git directory -> what is there. */
export const controlAreaSchema = z.record(z.string(), entrySchema);

export type ControlEntry = z.infer<typeof entrySchema>;
export type ControlArea = Readonly<Record<string, ControlEntry>>;

const KEPT_BYTES = 1024 * 1024;
const HASHED_BYTES = 64 * 1024 * 1024;
const ENTRIES_AT_MOST = 20_000;
const SETTLE_MS = 2000;
const SETTLE_STEP_MS = 10;
/** Entries that are read before others get their turn. */
const PORTION = 200;

/** Of every repository, also of submodules below modules/. */
const FILES = [
  "config",
  "config.worktree",
  "commondir",
  "gitdir",
  "objects/info/alternates",
  "objects/info/http-alternates",
];
const FOLDERS = ["hooks", "info", "branches", "remotes"];
/** Of every registered worktree. HEAD, index and logs change with the work there. */
const WORKTREE_FILES = ["commondir", "gitdir", "config.worktree"];
/** A list of refs for plain web servers, which git rewrites by itself. */
const UNGUARDED: ReadonlySet<string> = new Set(["info/refs"]);

/** Throws if something cannot be read: the caller must not mistake that for "not there". */
export async function readControlArea(gitDir: string): Promise<ControlArea> {
  const entries: Record<string, ControlEntry> = {};
  const deadline = Date.now() + SETTLE_MS;
  await readRepository(gitDir, "", entries);
  await readEntry(gitDir, "worktrees", entries, false);
  for (const name of namesIn(join(gitDir, "worktrees"))) {
    await readEntry(gitDir, `worktrees/${name}`, entries, false);
    if (entries[`worktrees/${name}`]?.kind !== "folder") continue;
    for (const file of WORKTREE_FILES) {
      await untilWritten(join(gitDir, "worktrees", name, file), deadline);
      await readEntry(gitDir, `worktrees/${name}/${file}`, entries, false);
    }
  }
  return entries;
}

/** git creates each file of a new worktree empty and fills it a moment later. One that stays empty is read as it is. */
async function untilWritten(path: string, deadline: number): Promise<void> {
  while (Date.now() < deadline && statOf(path)?.size === 0) await setTimeout(SETTLE_STEP_MS);
}

async function readRepository(gitDir: string, prefix: string, entries: Record<string, ControlEntry>): Promise<void> {
  // The folders on the way first: nothing is put back through one that became a link.
  for (const name of ["objects", "objects/info", "modules", ...FILES])
    await readEntry(gitDir, prefix + name, entries, false);
  for (const name of FOLDERS) await readEntry(gitDir, prefix + name, entries, true);
  await readModules(gitDir, `${prefix}modules`, entries);
}

/** A submodule's name may hold slashes; a folder with a HEAD is its repository. */
async function readModules(gitDir: string, prefix: string, entries: Record<string, ControlEntry>): Promise<void> {
  for (const name of namesIn(join(gitDir, prefix))) {
    const path = `${prefix}/${name}`;
    await readEntry(gitDir, path, entries, false);
    if (entries[path]?.kind !== "folder") continue;
    if (statOf(join(gitDir, path, "HEAD")) !== null) await readRepository(gitDir, `${path}/`, entries);
    else await readModules(gitDir, path, entries);
  }
}

async function readEntry(
  gitDir: string,
  name: string,
  entries: Record<string, ControlEntry>,
  deep: boolean,
): Promise<void> {
  if (UNGUARDED.has(name)) return;
  const path = join(gitDir, name);
  const found = statOf(path);
  if (found === null) return;
  const count = Object.keys(entries).length;
  if (count % PORTION === PORTION - 1) await setImmediate();
  if (count >= ENTRIES_AT_MOST) throw new Error(`${gitDir} holds too many settings and hooks`);
  const mode = found.mode & 0o777;
  if (found.isSymbolicLink()) {
    const target = orGone(() => readlinkSync(path));
    if (target !== null) entries[name] = { kind: "link", mode: 0, content: target, bytes: null };
  } else if (found.isFile()) {
    if (found.size > HASHED_BYTES) throw new Error(`${path} has ${found.size} bytes, more than Passrail compares`);
    // It never waits: a pipe may take the place of the file in this moment.
    const bytes = readPlain(path, HASHED_BYTES);
    if (bytes === null) return;
    if (bytes === ASK_GIT) throw new Error(`${path} cannot be read`);
    const content = createHash("sha256").update(bytes).digest("hex");
    entries[name] = { kind: "file", mode, content, bytes: bytes.length > KEPT_BYTES ? null : bytes.toString("base64") };
  } else if (found.isDirectory()) {
    entries[name] = { kind: "folder", mode: 0, content: "", bytes: null };
    if (deep) for (const inner of namesIn(path)) await readEntry(gitDir, `${name}/${inner}`, entries, true);
  } else entries[name] = { kind: "other", mode, content: "", bytes: null };
}

/** Names that are new, gone, or different. */
export function changedNames(before: ControlArea, after: ControlArea): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isSame(before[name], after[name])).sort();
}

function isSame(one: ControlEntry | undefined, other: ControlEntry | undefined): boolean {
  return one?.kind === other?.kind && one?.mode === other?.mode && one?.content === other?.content;
}

/** Moves what is there to the quarantine and puts back what was there. Returns a sentence per name that could not be put back. */
export async function putBack(
  gitDir: string,
  names: readonly string[],
  before: ControlArea,
  quarantine: string,
): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const name of names) {
    try {
      await takeAway(join(gitDir, name), join(quarantine, name.replaceAll("/", "-")));
      await restore(join(gitDir, name), before[name]);
    } catch (error) {
      failed.push(`${name} could not be put back: ${messageOf(error)}`);
    }
  }
  return failed;
}

async function takeAway(path: string, target: string): Promise<void> {
  if (statOf(path) === null) return;
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await rm(target, { recursive: true, force: true });
  await rename(path, target).catch(async (error: NodeJS.ErrnoException) => {
    // The quarantine may be on another file system.
    if (error.code !== "EXDEV") throw error;
    await cp(path, target, { recursive: true, dereference: false });
    await rm(path, { recursive: true, force: true });
  });
}

async function restore(path: string, entry: ControlEntry | undefined): Promise<void> {
  if (entry === undefined) return;
  if (entry.kind === "other" || (entry.kind === "file" && entry.bytes === null))
    throw new Error("Passrail has no copy of it");
  await mkdir(dirname(path), { recursive: true });
  if (entry.kind === "folder") await mkdir(path, { recursive: true });
  if (entry.kind === "link") await symlink(entry.content, path);
  if (entry.kind !== "file") return;
  await writeFile(path, Buffer.from(entry.bytes ?? "", "base64"), { flag: "wx", mode: entry.mode });
  await chmod(path, entry.mode);
}

function namesIn(folder: string): readonly string[] {
  const found = statOf(folder);
  // A link in the place of a folder is an entry by itself where it matters, and is not followed.
  if (found?.isDirectory() !== true) return [];
  return (orGone(() => readdirSync(folder)) ?? []).sort();
}

function statOf(path: string): Stats | null {
  return orGone(() => lstatSync(path, { throwIfNoEntry: false })) ?? null;
}

/** Null if it is not there: git removes a worktree's registration file by file while this reads. */
function orGone<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}
