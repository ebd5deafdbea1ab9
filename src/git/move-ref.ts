// Moves one ref the way git does where refs are plain files: under its lock, only from the value that the caller knows, with a line in the
// reflogs. Anything unusual, and every doubt, is for git: then nothing has been written.

import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
} from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isPlainPerson, type Person, signed } from "./plain-commit.ts";
import { isPlainlyWritten, readConfigText } from "./plain-config.ts";
import { ASK_GIT, type AskGit, isBelowFolders, statPlain } from "./plain-file.ts";
import { isFreeName, readHead, readNames, type RefsPlace } from "./plain-refs.ts";

export type RefMove = {
  readonly name: string;
  readonly to: string;
  /** Its present value; null: it must not exist. */
  readonly from: string | null;
  /** Who is named in the reflog of a branch. */
  readonly by: Person;
  readonly why?: string;
};

const BRANCHES = "refs/heads/";
const OWN = "refs/passrail/";
/** Only one Passrail writes its own refs, and holds a lock for less than a millisecond. */
const LEFT_MS = 10_000;

export async function moveRef(place: RefsPlace, move: RefMove): Promise<"moved" | AskGit> {
  const { commonDir } = place;
  const { name, to } = move;
  const config = readConfigText(commonDir);
  if (config === ASK_GIT || !isPlainlyWritten(config) || !isPlainPerson(move.by)) return ASK_GIT;
  const folder = dirname(name);
  const draft = join(commonDir, folder, `.passrail-${randomBytes(6).toString("hex")}`);
  try {
    if (!makeFolders(commonDir, folder)) return ASK_GIT;
    // On the disk before it is visible, so that the lock is held for two system calls only: a kill hardly ever leaves one behind.
    const file = await open(draft, "wx", 0o666);
    try {
      await file.writeFile(`${to}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    return install(place, move, draft);
  } catch {
    return ASK_GIT;
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

function install(place: RefsPlace, move: RefMove, draft: string): "moved" | AskGit {
  const path = join(place.commonDir, move.name);
  const lock = `${path}.lock`;
  if (move.name.startsWith(OWN)) removeLeft(lock);
  linkSync(draft, lock);
  try {
    if (isAsKnown(place, move) && writeLogs(place, move)) {
      renameSync(lock, path);
      return "moved";
    }
  } catch {
    // git finds the same obstacle and has the words for it.
  }
  rmSync(lock, { force: true });
  return ASK_GIT;
}

function isAsKnown(place: RefsPlace, { name, from }: RefMove): boolean {
  return from === null ? isFreeName(place, name) : readNames(place, [name])[0] === from;
}

/** git logs branches, and HEAD if it is on the branch. Of other refs it only continues a log. */
function writeLogs(place: RefsPlace, { name, to, from, by, why }: RefMove): boolean {
  const logs = join(place.commonDir, "logs");
  if (!name.startsWith(BRANCHES)) return statPlain(join(logs, name)) === null;
  const head = readHead(place);
  if (head === null || head === ASK_GIT) return false;
  if (!makeFolders(place.commonDir, dirname(join("logs", name)))) return false;
  const line = `${from ?? "0".repeat(to.length)} ${to} ${signed(by, new Date())}${why === undefined ? "" : `\t${why}`}\n`;
  appendTo(join(logs, name), line);
  if (head.branch !== name) return true;
  if (!makeFolders(place.gitDir, "logs")) return false;
  appendTo(join(place.gitDir, "logs", "HEAD"), line);
  return true;
}

function appendTo(path: string, line: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666);
  try {
    appendFileSync(file, line);
  } finally {
    closeSync(file);
  }
}

/** False if one of them is no real folder. */
function makeFolders(root: string, path: string): boolean {
  const below = isBelowFolders(root, path.split("/"));
  if (below !== null) return below;
  mkdirSync(join(root, path), { recursive: true });
  return isBelowFolders(root, path.split("/")) === true;
}

function removeLeft(lock: string): void {
  const found: Stats | null | AskGit = statPlain(lock);
  if (found !== null && found !== ASK_GIT && found.isFile() && found.mtimeMs < Date.now() - LEFT_MS)
    rmSync(lock, { force: true });
}
