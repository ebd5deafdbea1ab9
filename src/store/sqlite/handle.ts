// The open file: one connection with its prepared statements, opened anew after an I/O error. Writes of the same turn share a transaction.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { StoreError } from "../store.ts";
import { prepareChecks, type SavedChecks } from "./checks.ts";
import { type Check, openReader, openWriter } from "./connection.ts";
import { explainError } from "./errors.ts";
import { type Fence, type Identity, openFence, prepareIdentity } from "./fence.ts";
import { openGroup } from "./group.ts";
import { prepareHolds, type SavedHolds } from "./holds.ts";
import { prepareReads, type Reads } from "./read.ts";
import { prepareRequests, type Requests } from "./requests.ts";
import { prepareWrites, type Writes } from "./write.ts";

export type SqliteStoreOptions = {
  readonly file: string;
  /** For readers beside a running engine: creates and upgrades nothing. */
  readonly readOnly?: boolean;
  /** For the process that performs: from now on the store refuses what an earlier owner writes. */
  readonly owner?: boolean;
  /** Whether the file is checked for damage at opening. */
  readonly check?: Check;
};

type Query<T> = (reads: Reads, checks: SavedChecks, holds: SavedHolds) => T;
type Work<T> = (writes: Writes, requests: Requests, checks: SavedChecks, holds: SavedHolds) => T;

export type Handle = {
  readonly read: <T>(query: Query<T>) => Promise<T>;
  readonly write: <T>(work: Work<T>) => Promise<T>;
  /** Empty where a reader opened a file of an older schema. */
  readonly incarnation: () => string;
  /** Whether another connection has written since the last call. Throws `store_fenced` when this one may not write any more. */
  readonly changedElsewhere: () => boolean;
  readonly close: () => void;
};

/** Throws a StoreError when the file or the machine is not fit for use. */
export function openHandle({ file, readOnly = false, owner = false, check = "auto" }: SqliteStoreOptions): Handle {
  const connect = (checkAtOpening: Check) => prepareAll(readOnly ? openReader(file) : openWriter(file, checkAtOpening));
  let connection: Connection | undefined = connect(check);
  const fence = readOnly ? undefined : fenceOf(connection.db, file, owner);
  let seenVersion = connection.reads.dataVersion();
  let isClosed = false;
  const group = openGroup(transact);

  function connected(): Connection {
    if (isClosed) throw new StoreError("store_closed", `${file} is closed.`, "Open the store again.");
    connection ??= connect("never");
    return connection;
  }

  /** After an I/O error the connection is not trusted again: only the disk counts, when it is opened anew. */
  function dropConnection(): void {
    try {
      connection?.db.close();
    } finally {
      connection = undefined;
      seenVersion = Number.NaN;
    }
  }

  function transact(work: () => void): void {
    const { db, begin, commit, writes, identity } = connected();
    try {
      begin.run();
      fence?.require(identity());
      writes.begun();
      work();
      commit.run();
      fence?.committed(writes.lastSeq());
    } catch (error) {
      const explained = explainError(error, file);
      // After some errors SQLite has already rolled back.
      if (db.isTransaction) db.exec("ROLLBACK");
      writes.rolledBack();
      if (explained instanceof StoreError && explained.code === "store_io") dropConnection();
      throw explained;
    }
  }

  async function write<T>(work: Work<T>): Promise<T> {
    if (readOnly) {
      throw new StoreError("store_read_only", `${file} is open for reading only.`, "Open the store for writing.");
    }
    connected();
    return group.add(() => carryOut(connected(), work));
  }

  async function read<T>(query: Query<T>): Promise<T> {
    try {
      return look(connected(), query);
    } catch (error) {
      throw explainError(error, file);
    }
  }

  function changedElsewhere(): boolean {
    const { identity, reads } = connected();
    fence?.require(identity());
    const version = reads.dataVersion();
    const isChanged = version !== seenVersion;
    seenVersion = version;
    return isChanged;
  }

  function close(): void {
    if (isClosed) return;
    // Callers who asked before get their answer.
    group.flush();
    isClosed = true;
    connection?.db.close();
    fence?.close();
  }

  return { read, write, incarnation: () => connected().identity().incarnation, changedElsewhere, close };
}

function carryOut<T>({ writes, requests, checks, holds }: Connection, work: Work<T>): T {
  return work(writes, requests, checks, holds);
}

function look<T>({ reads, checks, holds }: Connection, query: Query<T>): T {
  return query(reads, checks, holds);
}

function fenceOf(db: DatabaseSync, file: string, owner: boolean): Fence {
  try {
    return openFence(db, file, { owner });
  } catch (error) {
    db.close();
    throw explainError(error, file);
  }
}

type Connection = {
  readonly db: DatabaseSync;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
  readonly identity: () => Identity;
  readonly reads: Reads;
  readonly writes: Writes;
  readonly requests: Requests;
  readonly checks: SavedChecks;
  readonly holds: SavedHolds;
};

/** Writing statements are prepared with the first write: commands that only read are a third faster without them. */
function prepareAll(db: DatabaseSync): Connection {
  let writes: Writes | undefined;
  let requests: Requests | undefined;
  return {
    db,
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    identity: identityOf(db),
    reads: prepareReads(db),
    get writes() {
      return (writes ??= prepareWrites(db));
    },
    get requests() {
      return (requests ??= prepareRequests(db));
    },
    checks: prepareChecks(db),
    holds: prepareHolds(db),
  };
}

/** A reader may open a file from before version 7, which has no identity. */
function identityOf(db: DatabaseSync): () => Identity {
  const hasIdentity = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'identity'").get() !== undefined;
  return hasIdentity ? prepareIdentity(db) : () => ({ incarnation: "", epoch: 0, seq: 0 });
}
