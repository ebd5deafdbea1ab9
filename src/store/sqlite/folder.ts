// The data folder and the files in it belong to one user: 0700 and 0600, whatever the umask says. A folder that others can write
// to is refused, because a user who can replace the database decides what the engine runs.

import { chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync, realpathSync, statSync } from "node:fs";
import { StoreError } from "../store.ts";

/** Creates the folder when it is missing, tightens it to 0700 and returns its real path. */
export function prepareFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const real = requireSafeFolder(folder);
  if ((statSync(real).mode & 0o077) !== 0) chmodSync(real, 0o700);
  return real;
}

/** Changes nothing; throws `data_dir_unsafe`. Returns the real path. */
export function requireSafeFolder(folder: string): string {
  const real = realpathSync(folder);
  const { uid, mode } = statSync(real);
  if (isForeign(uid)) {
    throw unsafe(`The data folder ${real} belongs to another user (uid ${uid})`, "Choose a folder of your own.");
  }
  if ((mode & 0o022) !== 0) {
    throw unsafe(`Other users can write to the data folder ${real}`, `Run: chmod 700 '${real}'`);
  }
  return real;
}

/** SQLite gives -wal, -shm and journals the mode of the database, so creating the file as 0600 covers all of them. */
export function preparePrivateFile(file: string): void {
  // Never open a file that exists: closing any descriptor of it would drop this process's POSIX locks on it.
  if (!existsSync(file)) createPrivateFile(file);
  for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) {
    const found = lstatSync(name, { throwIfNoEntry: false });
    if (found === undefined) continue;
    if (!found.isFile() || isForeign(found.uid)) {
      throw unsafe(`${name} is not a file of yours`, "Move it away, or choose another data folder.");
    }
    if ((found.mode & 0o177) !== 0) chmodSync(name, 0o600);
  }
}

function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    const another = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (!another) throw error;
  }
}

function isForeign(uid: number): boolean {
  return process.getuid !== undefined && uid !== process.getuid();
}

function unsafe(message: string, hint: string): StoreError {
  return new StoreError("data_dir_unsafe", `${message}.`, hint);
}
