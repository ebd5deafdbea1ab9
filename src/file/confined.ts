// The one way to files that an agent can touch: workspaces, notes, verdict and handoff files, folders of attempts. No component of a path
// below the root is a link, a file has one name, and is a regular file of limited size. Passrail creates exclusively and replaces by rename.
//
// Node has no openat. Every component is checked before a file is opened, and compared by device and inode afterwards. The race that remains: a
// process that is still alive swaps a folder for a link and back again between the two checks. It needs the user's account, and can then
// read that file itself.

import { randomBytes } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  fsync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { err, messageOf, ok, type Problem, type Result } from "../core/result.ts";

/** The code of everything that this layer refuses because a path was tampered with. */
export const TAMPERED = "worktree_tampered";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** The text of a file; undefined if there is none. A file of more bytes is the problem `file_too_large`. */
export function readConfined(root: string, path: string, maxBytes: number): Result<string | undefined> {
  const read = readConfinedBytes(root, path, maxBytes);
  return read.ok ? ok(read.value?.toString("utf8")) : read;
}

/** The same, before its bytes are taken for text. */
export function readConfinedBytes(root: string, path: string, maxBytes: number): Result<Buffer | undefined> {
  return confined(path, () => {
    const before = walk(root, path);
    const found = before?.at(-1);
    if (before === undefined || found === undefined) return undefined;
    requirePlainFile(path, found);
    if (found.size > BigInt(maxBytes)) throw new Refusal(tooLarge(path, found.size, maxBytes));
    const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const opened = fstatSync(fd, { bigint: true });
      requirePlainFile(path, opened);
      if (opened.size > BigInt(maxBytes)) throw new Refusal(tooLarge(path, opened.size, maxBytes));
      requireSame(path, before, [...(walk(root, path) ?? []).slice(0, -1), opened]);
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  });
}

/** A file that is open: which one it is, and its length at that moment. The caller closes it. */
export type FileToRead = { readonly fd: number; readonly identity: string; readonly size: number };

/** Opens a file to be read piece by piece; undefined if there is none. */
export function openConfined(root: string, path: string): Result<FileToRead | undefined> {
  return confined(path, () => {
    const before = walk(root, path);
    const found = before?.at(-1);
    if (before === undefined || found === undefined) return undefined;
    requirePlainFile(path, found);
    const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const opened = fstatSync(fd, { bigint: true });
      requirePlainFile(path, opened);
      requireSame(path, before, [...(walk(root, path) ?? []).slice(0, -1), opened]);
      return { fd, identity: `${opened.dev}:${opened.ino}`, size: Number(opened.size) };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  });
}

/** Writes a new file beside the old one and renames it, so nothing is ever written through a link or into a file with a second name. */
export function writeConfined(root: string, path: string, text: string | Uint8Array, mode = 0o600): Result<null> {
  return confined(path, () => {
    const draft = writeDraft(root, path, text, mode);
    return install(draft, () => fsyncSync(draft.fd));
  });
}

/** The same, but this process works on while the disk syncs the file. */
export async function writeConfinedSoon(
  root: string,
  path: string,
  text: string | Uint8Array,
  mode = 0o600,
): Promise<Result<null>> {
  const begun = confined(path, () => writeDraft(root, path, text, mode));
  if (!begun.ok) return begun;
  const draft = begun.value;
  const problem = await new Promise<Error | null>((resolve) => fsync(draft.fd, resolve));
  return confined(path, () =>
    install(draft, () => {
      if (problem !== null) throw problem;
      requireSame(draft.folder, draft.before, requireFolder(root, draft.folder));
    }),
  );
}

/** A file that is written and not yet in its place. */
type Draft = {
  readonly fd: number;
  readonly file: string;
  readonly path: string;
  readonly folder: string;
  /** The folder and those above it, as they were. */
  readonly before: readonly BigIntStats[];
};

function writeDraft(root: string, path: string, text: string | Uint8Array, mode: number): Draft {
  const folder = dirname(path);
  const before = requireFolder(root, folder);
  const old = statOf(path);
  if (old !== undefined) requirePlainFile(path, old);
  const file = join(folder, `.${randomBytes(8).toString("hex")}.new`);
  const fd = openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    requireSame(folder, before, requireFolder(root, folder));
    writeFileSync(fd, text);
    return { fd, file, path, folder, before };
  } catch (error) {
    closeSync(fd);
    rmSync(file, { force: true });
    throw error;
  }
}

function install({ fd, file, path }: Draft, makeSure: () => void): null {
  try {
    makeSure();
    renameSync(file, path);
    return null;
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Creates the missing folders of a path one by one. */
export function makeFolders(root: string, path: string, mode = 0o777): Result<null> {
  return confined(path, () => {
    let folder = root;
    requireFolder(root, root);
    for (const name of partsOf(root, path)) {
      folder = join(folder, name);
      if (statOf(folder) === undefined) mkdirSync(folder, mode);
      requireFolder(root, folder);
    }
    return null;
  });
}

/** Creates the last folder of a path; false if something is there already, whatever it is. */
export function createFolder(root: string, path: string, mode = 0o700): Result<boolean> {
  return confined(path, () => {
    requireFolder(root, dirname(path));
    try {
      mkdirSync(path, mode);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
    requireFolder(root, path);
    return true;
  });
}

/** Metadata of the file or folder that is there; undefined if nothing is. */
export function lookConfined(root: string, path: string): Result<BigIntStats | undefined> {
  return confined(path, () => {
    const found = walk(root, path)?.at(-1);
    if (found !== undefined && !found.isDirectory()) requirePlainFile(path, found);
    return found;
  });
}

/** Thrown inside this file only; `confined` turns it into a Result. */
class Refusal extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

function confined<T>(path: string, task: () => T): Result<T> {
  try {
    return ok(task());
  } catch (error) {
    if (error instanceof Refusal) return err(error.problem);
    const { code } = error as NodeJS.ErrnoException;
    // The system refused what the checks had allowed: the path was swapped in between.
    if (code === "ELOOP" || code === "ENOTDIR" || code === "EISDIR" || code === "ENXIO")
      return err(tamperedWith(path, `it was replaced meanwhile (${code})`));
    return err({ code: "file_failed", message: `${path} cannot be used: ${messageOf(error)}.` });
  }
}

/** Root, every component and the last one; undefined if a component is missing. Every component but the last is a folder. */
function walk(root: string, path: string): readonly BigIntStats[] | undefined {
  const found = [requireRoot(root)];
  const parts = partsOf(root, path);
  let at = root;
  for (const [index, name] of parts.entries()) {
    at = join(at, name);
    const stat = statOf(at);
    if (stat === undefined) return undefined;
    if (stat.isSymbolicLink()) throw new Refusal(tamperedWith(at, "it is a link"));
    if (index < parts.length - 1 && !stat.isDirectory()) throw new Refusal(tamperedWith(at, "it is not a folder"));
    found.push(stat);
  }
  return found;
}

function partsOf(root: string, path: string): readonly string[] {
  const inner = relative(root, path);
  if (inner === "") return [];
  if (isAbsolute(inner) || inner.split(sep).includes("..") || inner.includes("\0"))
    throw new Refusal(tamperedWith(path, `it is not below ${root}`));
  return inner.split(sep);
}

function requireRoot(root: string): BigIntStats {
  const stat = statOf(root);
  if (stat === undefined) throw new Refusal(tamperedWith(root, "it is gone"));
  if (!stat.isDirectory() || realpathSync(root) !== root)
    throw new Refusal(tamperedWith(root, "it is, or leads through, a link"));
  return stat;
}

function requireFolder(root: string, path: string): readonly BigIntStats[] {
  const found = walk(root, path);
  if (found === undefined) throw new Refusal(tamperedWith(path, "the folder is gone"));
  if (found.at(-1)?.isDirectory() !== true) throw new Refusal(tamperedWith(path, "it is not a folder"));
  return found;
}

function requirePlainFile(path: string, stat: BigIntStats): void {
  if (stat.isSymbolicLink()) throw new Refusal(tamperedWith(path, "it is a link"));
  if (!stat.isFile()) throw new Refusal(tamperedWith(path, "it is not a regular file"));
  if (stat.nlink > 1n) throw new Refusal(tamperedWith(path, "the file has a second name (a hard link)"));
}

function requireSame(path: string, before: readonly BigIntStats[], after: readonly BigIntStats[]): void {
  const isSame =
    before.length === after.length &&
    before.every(({ dev, ino }, index) => dev === after[index]?.dev && ino === after[index]?.ino);
  if (!isSame) throw new Refusal(tamperedWith(path, "it was replaced meanwhile"));
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw error;
  }
}

const tamperedWith = (path: string, why: string): Problem => ({
  code: TAMPERED,
  message: `${path} is not used: ${why}.`,
  hint: "Look at it, remove what does not belong there, and start the stage again.",
});

const tooLarge = (path: string, size: bigint, maxBytes: number): Problem => ({
  code: "file_too_large",
  message: `${path} has ${size} bytes; ${maxBytes} are allowed.`,
});
