// The port of every store: the whole contract between the engine and its database on one page. One `commit` is one transaction is
// one handoff; it is answered only after it is durable. Reads see committed data only. Times are ISO 8601 UTC with Z.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { CachedCheck } from "../core/flow/check-result.ts";
import type {
  BudgetAmounts,
  BudgetScope,
  BudgetUse,
  OverBudget,
  Reservation,
  SpendingKey,
} from "../core/budget/budget.ts";
import type { RunEvent } from "../core/run/event.ts";
import type { Hold, HoldKey } from "../core/run/hold.ts";
import type { Command } from "../core/run/command.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { InboxItem, Run, Subject } from "../core/run/run.ts";
import type { Usage } from "../core/budget/usage.ts";
import type { NodeShare } from "./node-share.ts";

export type { NodeShare, RunCopy } from "./node-share.ts";

/** Everything one decision changes. */
export type Change = {
  readonly runId: string;
  /** Number of events the run had when it was decided upon; 0 for a new run. */
  readonly expectedVersion: number;
  /** Unique within the run: a repeated id is answered with "duplicate" and changes nothing. Several when decisions were joined. */
  readonly signalIds: readonly string[];
  /** At least one. */
  readonly events: readonly RunEvent[];
  /** The run after these events. */
  readonly run: Run;
  /** Stored with the change, and performed until it succeeds. */
  readonly enqueue: readonly Command[];
  /** The reservations of the starts among the events, with the limits they must not exceed. Checked inside the transaction. */
  readonly reserve?: readonly Reservation[];
};

/**
 * "ok" carries the sequence number of the last event, and the limits of which this change uses a great part. "over_budget" names the
 * start for which there is no room; nothing is stored.
 */
export type CommitResult =
  | { readonly type: "ok"; readonly seq: number; readonly version: number; readonly near?: readonly BudgetUse[] }
  | ({ readonly type: "over_budget"; readonly stage: string; readonly attempt: number } & OverBudget)
  | { readonly type: "conflict" }
  | { readonly type: "duplicate" };

export type StoredRun = { readonly run: Run; readonly version: number };

export type StoredEvent = {
  readonly seq: number;
  readonly runId: string;
  readonly version: number;
  readonly event: RunEvent;
  /** The run's chain as far as this event; empty if it continues to a later event of the same commit. */
  readonly hash: string;
};

export type RunSummary = {
  readonly id: string;
  readonly number: number;
  readonly flow: string;
  readonly subject: Pick<Subject, "id" | "title">;
  readonly status: Run["status"];
  readonly word: string;
  readonly stage: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
};

export type AttemptRecord = {
  readonly runId: string;
  readonly stage: string;
  readonly attempt: number;
  readonly track: string;
  readonly status: "ready" | "running" | "done" | "interrupted" | "canceled";
  readonly readyAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Outcome of a finished attempt, as in its event. */
  readonly outcome: JsonObject | null;
  /** Facts that the engine adds: process identity, paths of prompt and output, exit facts, commit range. Last write wins per key. */
  readonly facts: JsonObject;
};

export type HandoffRecord = {
  /** Grows over the whole store. */
  readonly id: number;
  readonly runId: string;
  readonly number: number;
  readonly track: string;
  readonly subjectId: string;
  readonly fromStage: string | null;
  readonly fromAgent: string | null;
  readonly fromAttempt: number;
  readonly toStage: string | null;
  readonly toAgent: string | null;
  readonly loop: number;
  readonly state: "pending" | "accepted" | "done" | "rejected" | "withdrawn" | "expired";
  readonly rejectionReason: string | null;
  readonly createdAt: string;
  readonly processedAt: string | null;
  /** People's words to its agents, as keys of its payload. */
  readonly added: JsonObject | null;
};

/** A handoff with what it carries, as the outside is shown it (handoffPayload). */
export type HandoffRow = HandoffRecord & { readonly flowHash: string; readonly payload: JsonObject | null };

/** `pending`: those to agents; one to a gate is a person's, and waits in the inbox. `pendingSince`: of them, created before this time. */
export type HandoffQuery =
  | { readonly subjectId: string }
  | { readonly id: number }
  | { readonly pendingSince: string }
  | { readonly pending: true };

/** "not_ended" and "in_use" name the runs that keep the subject from going; nothing was deleted. */
export type Deletion = {
  /** in_use: a run has ended, and its workspace is not released yet. */
  readonly type: "deleted" | "not_ended" | "in_use";
  readonly runIds: readonly string[];
};

export type InboxRecord = {
  readonly runId: string;
  /** Of the run, as people type it. */
  readonly number: number;
  readonly item: InboxItem;
  readonly flow: string;
  readonly subject: Pick<Subject, "id" | "title">;
};

export type WorkRecord = { readonly id: number; readonly runId: string; readonly command: Command };

/** Sums of the reported values, and how often and how much is unknown. */
export type SpendingRow = {
  /** Null for a missing model. */
  readonly key: string | null;
  readonly attempts: number;
  readonly usd: number;
  /** Attempts whose cost is not known, and what is booked for them instead. */
  readonly unknownUsd: number;
  readonly assumedUsd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** Attempts whose tokens are not known, and what is booked for them instead. */
  readonly unknownTokens: number;
  readonly assumedTokens: number;
  /** Of attempts that have ended. */
  readonly durationMs: number;
};

export type RunFilter = {
  readonly status?: Run["status"];
  readonly flow?: string;
  /** Of the subject with this id. */
  readonly subject?: string;
  /** Either the canonical status or the source's word. */
  readonly word?: string;
  /** Occurs in the title or in the subject's id, in upper or lower case as far as ASCII goes. */
  readonly text?: string;
  /** Keyset paging: runs with a number below this. */
  readonly before?: number;
  readonly limit: number;
};

/** Subjects of runs: the newest run of a subject, the number of runs, and their known cost. */
export type SubjectRecord = {
  readonly newest: RunSummary;
  readonly runs: number;
  readonly usd: number;
  /** Attempts whose cost is not known. */
  readonly unknownUsd: number;
};

export type SubjectFilter = {
  /** This one only. */
  readonly id?: string;
  /** Those whose newest run is of this flow. */
  readonly flow?: string;
  /** Those whose newest run is open (true) or has ended. */
  readonly open?: boolean;
  /** Keyset paging: those whose newest run has a number below this. */
  readonly before?: number;
  readonly limit: number;
};

/** How the last runs of a flow went. Times are from the start to the end, waiting included. */
export type FlowStats = {
  readonly runs: number;
  readonly completed: number;
  readonly canceled: number;
  readonly stopped: number;
  /** Of completed runs; null where there is none. */
  readonly medianMs: number | null;
  /** Of completed runs whose whole cost is known; null where there is none. */
  readonly medianUsd: number | null;
  /** How often work was sent back and counted. */
  readonly loops: number;
};

/** Where the last runs lose time: what is sent back, what waits for people, what failed. */
export type Insights = {
  /** How many runs were looked at. */
  readonly runs: number;
  readonly loops: readonly { readonly flow: string; readonly stage: string; readonly loops: number }[];
  readonly waits: readonly WaitRow[];
  /** Newest first, a few only. */
  readonly failures: readonly FailureRow[];
};

/** `medianMs` and `longestMs` are of items that were answered. */
export type WaitRow = {
  readonly kind: InboxItem["kind"];
  readonly flow: string;
  readonly stage: string;
  readonly times: number;
  readonly open: number;
  readonly medianMs: number | null;
  readonly longestMs: number | null;
};

export type FailureRow = {
  readonly runId: string;
  readonly number: number;
  readonly flow: string;
  readonly stage: string;
  readonly attempt: number;
  readonly agent: string | null;
  readonly at: string;
  readonly reason: string;
};

/** A request that carries an idempotency key, by its caller. */
export type RequestKey = { readonly caller: string; readonly key: string };

export type RequestClaim = RequestKey & {
  /** The same for the same request only. */
  readonly request: string;
  readonly at: string;
  /** Claims from before this time are forgotten. Beyond 10,000 or so the oldest are forgotten, too. */
  readonly forgetBefore: string;
};

/** "unanswered": claimed before, and no answer was recorded. "reused": the key belongs to another request. */
export type ClaimResult =
  | { readonly type: "new" | "unanswered" | "reused" }
  | { readonly type: "answered"; readonly answer: Json };

export type Damage = { readonly seq: number | null; readonly runId: string | null; readonly what: string };

export type BookedQuery = {
  readonly keys: readonly { readonly scope: BudgetScope; readonly key: string }[];
  readonly runId: string;
  readonly stage: string;
  readonly attempt: number;
};

export type Booked = {
  /** In the order of the query. */
  readonly keys: readonly BudgetAmounts[];
  readonly own: BudgetAmounts | null;
};

export interface Store {
  /**
   * If it throws, the change is stored or is not, never a part of it: `loadRun` shows which. Repeating it is safe, because a stored change is
   * answered with "duplicate".
   */
  commit(change: Change): Promise<CommitResult>;
  /** Notes about an attempt that are facts, not decisions (pid, paths, exit facts). Durable when answered. */
  noteAttempt(runId: string, stage: string, attempt: number, facts: JsonObject): Promise<void>;
  /** Deletes a work row once it is done. Repeating is fine. */
  settleWork(id: number): Promise<void>;
  /** The resolved flow of runs, by its hash; saving the same hash again changes nothing. Loading keeps the latest flows in memory. */
  saveFlow(resolved: ResolvedFlow): Promise<void>;
  loadFlow(hash: string): Promise<ResolvedFlow | undefined>;
  /**
   * Removes every run of a subject and all that belongs to it, once all of them have ended; a subject without runs is deleted already.
   * Money spent on a day stays spent. The attempts' files are the caller's to remove.
   */
  deleteSubject(subjectId: string): Promise<Deletion>;
  /** Records that a request is about to be carried out; a key that is known already changes nothing. Durable when answered. */
  claimRequest(claim: RequestClaim): Promise<ClaimResult>;
  answerRequest(key: RequestKey, answer: Json): Promise<void>;
  /** Forgets a claim that has no answer: nothing was carried out. */
  releaseRequest(key: RequestKey): Promise<void>;
  /** The result of a check by its key, if it is not too old. */
  findCheck(key: string, now: string): Promise<CachedCheck | undefined>;
  /** Keeps a result for the next run on the same tree. A later one with the same key replaces it; after 30 days it is forgotten. */
  saveCheck(check: CachedCheck): Promise<void>;

  /** Runners that no attempt starts on for now, also those whose time has passed. */
  holds(): Promise<readonly Hold[]>;
  /** Replaces the one of the same runner and account. Durable when answered. */
  setHold(hold: Hold): Promise<void>;
  /** False if there was none. */
  liftHold(key: HoldKey): Promise<boolean>;

  loadRun(runId: string): Promise<StoredRun | undefined>;
  /** Runs whose id or number begins with this text, at most 10. */
  findRuns(prefix: string): Promise<readonly RunSummary[]>;
  /** Newest first. */
  listRuns(filter: RunFilter): Promise<readonly RunSummary[]>;
  /** Every run of a subject, newest first. */
  runsOf(subjectId: string): Promise<readonly RunSummary[]>;
  /** Whether a run has taken this signal, applied or ignored. */
  hasSignal(runId: string, signalId: string): Promise<boolean>;
  /** By their newest run, newest first. */
  listSubjects(filter: SubjectFilter): Promise<readonly SubjectRecord[]>;
  countRuns(): Promise<Readonly<Record<Run["status"], number>>>;
  /** Ids of runs that may have something to do now (status running), oldest change first. */
  activeRuns(): Promise<readonly string[]>;
  /** In order of sequence, after the given number. */
  events(query: {
    readonly after: number;
    readonly runId?: string;
    readonly limit: number;
  }): Promise<readonly StoredEvent[]>;
  lastSeq(): Promise<number>;
  attempts(runId: string): Promise<readonly AttemptRecord[]>;
  handoffs(runId: string): Promise<readonly HandoffRecord[]>;
  /** In order of id, at most 10,000. */
  handoffRows(query: HandoffQuery): Promise<readonly HandoffRow[]>;
  /** Oldest first. */
  inbox(): Promise<readonly InboxRecord[]>;
  pendingWork(): Promise<readonly WorkRecord[]>;
  /** The usage of metered attempts and the reservations, summed up by one key, the most expensive first. `since`: started at or after. */
  spending(query: {
    readonly by: SpendingKey;
    readonly since?: string;
    readonly runId?: string;
  }): Promise<readonly SpendingRow[]>;
  /** The amounts booked under these keys, reservations included, and the part booked for one attempt; null if it is not metered. */
  booked(query: BookedQuery): Promise<Booked>;
  /** The usage of the last attempts of an agent with this runner and model, newest first, without attempts of no usage. */
  usageHistory(query: {
    readonly agent: string;
    readonly runner: string;
    readonly model: string | null;
    readonly limit: number;
  }): Promise<readonly Usage[]>;
  /** Of the newest runs of a flow, at most `limit`. */
  flowStats(query: { readonly flow: string; readonly limit: number }): Promise<FlowStats>;
  /** Of the newest runs that were made since a time, at most `limit`. */
  insights(query: { readonly since?: string; readonly limit: number }): Promise<Insights>;
  /** Walks the whole chain; an empty list means every event is as it was written and every run is the fold of its events. */
  verify(): Promise<readonly Damage[]>;
  /**
   * The random id of this store's content, at least 16 hexadecimal digits. A store that is restored from a backup beside newer work gets a
   * new one when its next owner opens it, so that files of the lost work never count. Empty for a reader of a store that was not upgraded.
   */
  incarnation(): string;
  /** The data that several nodes share; null if the store is a file, which has one node. */
  readonly nodes: NodeShare | null;
  /** True when another process has written since the last call. Cheap. Throws `store_fenced` like every write. */
  changedElsewhere(): Promise<boolean>;
  /** Earlier calls are still answered. */
  close(): void;
}

export type StoreErrorCode =
  | "data_dir_unsafe"
  | "database_invalid"
  | "database_refused"
  | "disk_full"
  | "schema_too_new"
  | "schema_too_old"
  | "sqlite_too_old"
  | "store_busy"
  | "store_closed"
  | "store_damaged"
  | "store_fenced"
  | "store_foreign"
  | "store_io"
  | "store_missing"
  | "store_not_empty"
  | "store_read_only"
  | "store_same";

/**
 * `store_fenced`: another process owns the store now, or its content was replaced; this process can never write again and must stop.
 * All others: the machine, not the change, is the reason. After a rejected commit reload the run: with an I/O error it may still be stored.
 */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly hint: string;

  constructor(code: StoreErrorCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.code = code;
    this.hint = hint;
  }
}
