// Keeps out every process whose database is no longer the one it opened: another process has become its owner, a backup was copied over it,
// or the file was replaced. Checked inside every transaction, so that such a process writes nothing, whatever it believes to hold.

import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "../store.ts";
import { type MarkFile, openMark } from "./mark.ts";
import { LAST_SEQ } from "./schema-commits.ts";

/** The file's own identity. */
export type Identity = {
  readonly incarnation: string;
  readonly epoch: number;
  /** The last event ever stored in it. */
  readonly seq: number;
};

export type Fence = {
  /** Throws `store_fenced` when the file is not what this process opened. Within a transaction it holds until the end of it. */
  require(identity: Identity): void;
  /** The last event that this process knows to be stored. */
  committed(seq: number): void;
  close(): void;
};

/** `owner`: this process performs; every earlier owner is fenced from now on. Else the fence only notices another file. */
export function openFence(db: DatabaseSync, file: string, { owner }: { readonly owner: boolean }): Fence {
  const mark = owner ? openMark(file) : undefined;
  const opened = mark === undefined ? prepareIdentity(db)() : takeOver(db, mark);
  const place = placeOf(file);
  let { seq } = opened;
  if (mark !== undefined) writeMark(mark, opened);
  return {
    require(now) {
      if (placeOf(file) !== place) throw fenced(`${file} was replaced or removed`);
      if (now.incarnation !== opened.incarnation || now.seq < seq) throw fenced(`a backup was copied over ${file}`);
      if (owner && now.epoch !== opened.epoch) throw fenced(`another process has taken over ${file}`);
      seq = now.seq;
    },
    committed(last) {
      if (last === seq) return;
      seq = last;
      if (mark !== undefined) writeMark(mark, { ...opened, seq });
    },
    close: () => mark?.close(),
  };
}

export function prepareIdentity(db: DatabaseSync): () => Identity {
  // A reader may have opened a file from before version 13; only writers ask for the number.
  const hasCommits = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'commits'").get() !== undefined;
  const find = db.prepare(`SELECT incarnation, epoch, ${hasCommits ? LAST_SEQ : "0"} AS seq FROM identity`);
  return () => find.get() as Identity;
}

/** A new epoch; and a new incarnation if the files around the database are ahead of it, or belong to another one. */
function takeOver(db: DatabaseSync, { found }: MarkFile): Identity {
  db.exec("BEGIN IMMEDIATE");
  try {
    const stored = prepareIdentity(db)();
    const epoch = Math.max(stored.epoch, found?.epoch ?? 0) + 1;
    db.prepare("UPDATE identity SET epoch = ?").run(epoch);
    if (isRestored(stored, found)) db.exec("UPDATE identity SET incarnation = lower(hex(randomblob(8)))");
    const taken = prepareIdentity(db)();
    db.exec("COMMIT");
    return taken;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** A store without an owner so far is new, or was upgraded: its incarnation is fresh. */
function isRestored({ incarnation, epoch, seq }: Identity, mark: MarkFile["found"]): boolean {
  if (epoch === 0) return false;
  return mark === undefined || mark.incarnation !== incarnation || mark.epoch > epoch || mark.seq > seq;
}

/** The commit is stored: a mark that cannot be written must not look like a failed commit. */
function writeMark(mark: MarkFile, identity: Identity): void {
  try {
    mark.write(identity);
  } catch {
    // It is not updated, and a newer backup is not noticed.
  }
}

/** A file of the same name may be another file. */
function placeOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "" : `${found.dev}:${found.ino}`;
}

function fenced(why: string): StoreError {
  return new StoreError(
    "store_fenced",
    `This process may not write any more: ${why}.`,
    "passrail status   shows the process that performs now; start this one again if there is none",
  );
}
