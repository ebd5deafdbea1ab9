// The store in one SQLite file, without a service. Several processes may open it and commit; SQLite's locks and the expected
// version keep them apart. lock.ts decides which of them performs work, and fence.ts refuses the writes of one that was replaced.

import type { Store } from "../store.ts";
import { requireWellFormed } from "../well-formed.ts";
import { openHandle, type SqliteStoreOptions } from "./handle.ts";
import { readFlowStats, readInsights } from "./read-insight.ts";

/** Throws a StoreError when the file or the machine is not fit for use. */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const { read, write, incarnation, changedElsewhere, close } = openHandle(options);
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
    findCheck: (key, now) => read((_, checks) => checks.find(key, now)),
    saveCheck: (check) => write((_, __, checks) => checks.save(check)),
    holds: () => read((_, __, holds) => holds.list()),
    setHold: (hold) => write((_, __, ___, holds) => holds.set(hold)),
    liftHold: (key) => write((_, __, ___, holds) => holds.lift(key)),
    runsOf: (subjectId) => read((reads) => reads.runsOf(subjectId)),
    hasSignal: (runId, signalId) => read((reads) => reads.hasSignal(runId, signalId)),
    handoffRows: (query) => read((reads) => reads.handoffRows(query)),
    handoffs: (runId) => read((reads) => reads.handoffs(runId)),
    inbox: () => read((reads) => reads.inbox()),
    pendingWork: () => read((reads) => reads.pendingWork()),
    spending: (query) => read((reads) => reads.spending(query)),
    booked: (query) => read((reads) => reads.booked(query)),
    usageHistory: (query) => read((reads) => reads.usageHistory(query)),
    flowStats: (query) => readFlowStats(read, query),
    insights: (query) => readInsights(read, query),
    // Commands that look at a list need neither the fold of events nor a second set of tables.
    verify: async () => (await import("./verify.ts")).verifyFile(options.file),
    incarnation,
    nodes: null,
    changedElsewhere: async () => changedElsewhere(),
    close,
  };
}
