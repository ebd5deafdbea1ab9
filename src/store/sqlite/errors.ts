// Turns what SQLite throws into a StoreError where the machine is the reason (full disk, I/O, another writer, damage).
// Anything else is a bug or a bad change and stays what it is.

import { StoreError } from "../store.ts";
import { messageOf } from "../../core/result.ts";

// https://www.sqlite.org/rescode.html: the low byte is the kind, the rest the detail.
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
/** The shared-memory file could not grow: that, too, is a full disk. */
const IOERR_SHMSIZE = 4874;

export function explainError(error: unknown, file: string): unknown {
  const code = sqliteCode(error);
  if (code === undefined || error instanceof StoreError) return error;
  const detail = messageOf(error);
  const storeError = (...[name, message, hint]: [StoreError["code"], string, string]) =>
    new StoreError(name, `${message} (${detail}, SQLite code ${code})`, hint, { cause: error });
  if (code === IOERR_SHMSIZE) return storeError("disk_full", `No space left for ${file}`, FREE_SPACE);
  switch (code & 0xff) {
    case FULL:
      return storeError("disk_full", `No space left for ${file}`, FREE_SPACE);
    case IOERR:
    case CANTOPEN:
      return storeError(
        "store_io",
        `Reading or writing ${file} failed`,
        "Check the disk and the folder's permissions.",
      );
    case BUSY:
    case LOCKED:
      return storeError(
        "store_busy",
        `Another process keeps ${file} locked`,
        "Try again; end a stuck process if it stays.",
      );
    case READONLY:
      return storeError("store_read_only", `${file} cannot be written`, "Check its permissions and the file system.");
    case CORRUPT:
      return storeError("store_damaged", `${file} is damaged`, "Keep a copy of it and restore a backup.");
    case NOTADB:
      return storeError(
        "store_foreign",
        `${file} is not a SQLite database`,
        "Name another data folder, or move the file away.",
      );
    default:
      return error;
  }
}

const FREE_SPACE = "Free some space. Nothing is lost, and writing resumes automatically.";

function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode : undefined;
}
