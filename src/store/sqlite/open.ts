// The store in one SQLite file, without a service. Several processes may open it and commit; SQLite's locks and the expected
// version keep them apart. Who performs work is decided elsewhere (lock.ts).

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type Store, StoreError } from "../store.ts";
import { type Check, openReader, openWriter } from "./connection.ts";
import { explainError } from "./errors.ts";
import { openGroup } from "./group.ts";
import { prepareReads, type Reads } from "./read.ts";
import { prepareRequests, type Requests } from "./requests.ts";
import { verifyFile } from "./verify.ts";
import { prepareWrites, requireWellFormed, type Writes } from "./write.ts";

type SqliteStoreOptions = {
  readonly file: string;
  /** For readers beside a running engine: creates and upgrades nothing. */
  readonly readOnly?: boolean;
  /** Whether the file is checked for damage at opening. */
  readonly check?: Check;
};

/** Throws a StoreError when the file or the machine is not fit for use. */
export function openSqliteStore({ file, readOnly = false, check = "auto" }: SqliteStoreOptions): Store {
  let connection: Connection | undefined = connect(check);
  let seenVersion = connection.reads.dataVersion();
  let isClosed = false;
  const group = openGroup(transact);

  function connect(checkAtOpening: Check): Connection {
    const db = readOnly ? openReader(file) : openWriter(file, checkAtOpening);
    return {
      db,
      begin: db.prepare("BEGIN IMMEDIATE"),
      commit: db.prepare("COMMIT"),
      reads: prepareReads(db),
      writes: prepareWrites(db),
      requests: prepareRequests(db),
    };
  }

  function connected(): Connection {
    if (isClosed) throw new StoreError("store_closed", `${file} is closed.`, "Open the store again.");
    connection ??= connect("never");
    return connection;
  }

  /** After an I/O error the handle is not trusted again: what counts is what the disk says when it is opened anew. */
  function dropConnection(): void {
    try {
      connection?.db.close();
    } finally {
      connection = undefined;
      seenVersion = Number.NaN;
    }
  }

  function transact(work: () => void): void {
    const { db, begin, commit, writes } = connected();
    try {
      begin.run();
      writes.begun();
      work();
      commit.run();
    } catch (error) {
      const explained = explainError(error, file);
      // SQLite has already rolled back by itself after some errors.
      if (db.isTransaction) db.exec("ROLLBACK");
      writes.rolledBack();
      if (explained instanceof StoreError && explained.code === "store_io") dropConnection();
      throw explained;
    }
  }

  async function write<T>(work: (writes: Writes, requests: Requests) => T): Promise<T> {
    if (readOnly) {
      throw new StoreError("store_read_only", `${file} is open for reading only.`, "Open the store for writing.");
    }
    connected();
    return group.add(() => work(connected().writes, connected().requests));
  }

  async function read<T>(query: (reads: Reads) => T): Promise<T> {
    try {
      return query(connected().reads);
    } catch (error) {
      throw explainError(error, file);
    }
  }

  return {
    commit: async (change) => {
      requireWellFormed(change);
      return write((writes) => writes.commit(change));
    },
    noteAttempt: (runId, stage, attempt, facts) => write((writes) => writes.noteAttempt(runId, stage, attempt, facts)),
    settleWork: (id) => write((writes) => writes.settleWork(id)),
    saveFlow: (resolved) => write((writes) => writes.saveFlow(resolved)),
    loadFlow: (hash) => read((reads) => reads.loadFlow(hash)),
    loadRun: (runId) => read((reads) => reads.loadRun(runId)),
    findRuns: (prefix) => read((reads) => reads.findRuns(prefix)),
    listRuns: (filter) => read((reads) => reads.listRuns(filter)),
    listSubjects: (filter) => read((reads) => reads.listSubjects(filter)),
    countRuns: () => read((reads) => reads.countRuns()),
    activeRuns: () => read((reads) => reads.activeRuns()),
    events: (query) => read((reads) => reads.events(query)),
    lastSeq: () => read((reads) => reads.lastSeq()),
    attempts: (runId) => read((reads) => reads.attempts(runId)),
    deleteSubject: (subjectId) => write((writes) => writes.deleteSubject(subjectId)),
    claimRequest: (claim) => write((_, requests) => requests.claim(claim)),
    answerRequest: (key, answer) => write((_, requests) => requests.answer(key, answer)),
    releaseRequest: (key) => write((_, requests) => requests.release(key)),
    runsOf: (subjectId) => read((reads) => reads.runsOf(subjectId)),
    hasSignal: (runId, signalId) => read((reads) => reads.hasSignal(runId, signalId)),
    handoffRows: (query) => read((reads) => reads.handoffRows(query)),
    handoffs: (runId) => read((reads) => reads.handoffs(runId)),
    inbox: () => read((reads) => reads.inbox()),
    pendingWork: () => read((reads) => reads.pendingWork()),
    spending: (query) => read((reads) => reads.spending(query)),
    usageHistory: (query) => read((reads) => reads.usageHistory(query)),
    flowStats: (query) => read((reads) => reads.flowStats(query)),
    insights: (query) => read((reads) => reads.insights(query)),
    verify: () => verifyFile(file),
    changedElsewhere: () => {
      const version = connected().reads.dataVersion();
      const isChanged = version !== seenVersion;
      seenVersion = version;
      return isChanged;
    },
    close: () => {
      if (isClosed) return;
      // What was asked for before is still answered.
      group.flush();
      isClosed = true;
      connection?.db.close();
    },
  };
}

type Connection = {
  readonly db: DatabaseSync;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
  readonly reads: Reads;
  readonly writes: Writes;
  readonly requests: Requests;
};
