// The only place that knows both spellings: columns in snake_case on one side, the port's records on the other.
// JSON is read as what we wrote; verify is there for doubts.

import { type BudgetAmounts, toUsd } from "../core/budget/budget.ts";
import type { Command } from "../core/run/command.ts";
import type { RunEvent } from "../core/run/event.ts";
import type { Hold } from "../core/run/hold.ts";
import type { JsonObject } from "../core/json.ts";
import type { InboxItem, Run } from "../core/run/run.ts";
import type { Usage } from "../core/budget/usage.ts";
import type {
  AttemptRecord,
  HandoffRecord,
  HandoffRow,
  InboxRecord,
  RunSummary,
  SpendingRow,
  StoredEvent,
  StoredRun,
  SubjectRecord,
  WorkRecord,
} from "./store.ts";

export type RunTableRow = {
  readonly number: number;
  readonly id: string;
  readonly flow: string;
  readonly flow_hash: string;
  readonly subject_id: string;
  readonly subject_title: string;
  readonly created_at: string;
  readonly status: Run["status"];
  readonly word: string;
  readonly stage: string | null;
  readonly version: number;
  readonly head: string;
  readonly updated_at: string;
  readonly updated_seq: number;
  readonly state: string;
};

export type EventRow = {
  readonly seq: number;
  readonly run_id: string;
  readonly version: number;
  readonly type: string;
  readonly at: string;
  readonly actor: string;
  readonly body: string;
  readonly hash: string;
};

export type AttemptTableRow = {
  readonly run_id: string;
  readonly stage: string;
  readonly attempt: number;
  readonly track: string;
  readonly status: AttemptRecord["status"];
  readonly ready_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly outcome: string | null;
  readonly facts: string;
};

export type HandoffTableRow = {
  readonly id: number;
  readonly run_id: string;
  readonly number: number;
  readonly track: string;
  readonly subject_id: string;
  readonly from_stage: string | null;
  readonly from_agent: string | null;
  readonly from_attempt: number;
  readonly to_stage: string | null;
  readonly to_agent: string | null;
  readonly loop: number;
  readonly state: HandoffRecord["state"];
  readonly rejection_reason: string | null;
  readonly created_at: string;
  readonly processed_at: string | null;
  readonly added?: string | null;
};

export type CarryingRow = HandoffTableRow & { readonly flow_hash: string; readonly payload: string | null };

export type InboxRow = Pick<RunTableRow, "flow" | "subject_id" | "subject_title"> & {
  readonly run_id: string;
  readonly number: number;
  readonly item: string;
};

export type SpendingSums = {
  readonly key: string | null;
  readonly attempts: number;
  readonly usd: number;
  readonly unknown_usd: number;
  readonly assumed_usd: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly unknown_tokens: number;
  readonly assumed_tokens: number;
  readonly duration_ms: number;
};

export type UsageRow = {
  readonly usd: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_tokens: number | null;
};

export type WorkRow = { readonly id: number; readonly run_id: string; readonly command: string };

/** The columns of a run that follow from its state. SQLite stores UTF-8, which has no half characters. */
export function runColumns(
  run: Run,
): Omit<RunTableRow, "number" | "version" | "head" | "updated_at" | "updated_seq" | "state"> {
  const main = run.tracks["main"];
  return {
    id: run.id,
    flow: run.flow.toWellFormed(),
    flow_hash: run.flowHash,
    subject_id: run.subject.id.toWellFormed(),
    subject_title: run.subject.title.toWellFormed(),
    created_at: run.createdAt,
    status: run.status,
    word: run.word.toWellFormed(),
    stage: main === undefined || main.at === "done" ? null : main.stage,
  };
}

/** The event as its row keeps it: values with a column of their own are not repeated in the body. */
export function eventColumns(event: RunEvent): Pick<EventRow, "type" | "at" | "actor" | "body"> {
  const { type, at, actor } = event;
  // Keys that are undefined are left out of JSON. Taking the rest of the object apart would take three times as long.
  const body = JSON.stringify({ ...event, type: undefined, at: undefined, actor: undefined });
  return { type, at, actor: actor.toWellFormed(), body };
}

export function toEvent(row: EventRow): RunEvent {
  return {
    type: row.type,
    ...(JSON.parse(row.body) as JsonObject),
    at: row.at,
    actor: row.actor,
  } as unknown as RunEvent;
}

export function toStoredEvent(row: EventRow): StoredEvent {
  return { seq: row.seq, runId: row.run_id, version: row.version, event: toEvent(row), hash: row.hash };
}

export function toStoredRun(row: Pick<RunTableRow, "state" | "version">): StoredRun {
  return { run: JSON.parse(row.state) as Run, version: row.version };
}

/** The columns of a summary. */
export const RUN_SUMMARY = "number, id, flow, subject_id, subject_title, status, word, stage, created_at, updated_at";

export function toRunSummary(row: RunTableRow): RunSummary {
  return {
    id: row.id,
    number: row.number,
    flow: row.flow,
    subject: { id: row.subject_id, title: row.subject_title },
    status: row.status,
    word: row.word,
    stage: row.stage,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function toSubjectRecord(row: RunTableRow & { runs: number; usd: number; unknown_usd: number }): SubjectRecord {
  return { newest: toRunSummary(row), runs: row.runs, usd: toUsd(row.usd), unknownUsd: row.unknown_usd };
}

export function toAttempt(row: AttemptTableRow): AttemptRecord {
  return {
    runId: row.run_id,
    stage: row.stage,
    attempt: row.attempt,
    track: row.track,
    status: row.status,
    readyAt: row.ready_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as JsonObject),
    facts: JSON.parse(row.facts) as JsonObject,
  };
}

export function toHandoff(row: HandoffTableRow): HandoffRecord {
  return {
    id: row.id,
    runId: row.run_id,
    number: row.number,
    track: row.track,
    subjectId: row.subject_id,
    fromStage: row.from_stage,
    fromAgent: row.from_agent,
    fromAttempt: row.from_attempt,
    toStage: row.to_stage,
    toAgent: row.to_agent,
    loop: row.loop,
    state: row.state,
    rejectionReason: row.rejection_reason,
    createdAt: row.created_at,
    processedAt: row.processed_at,
    // A file that was not upgraded yet has no such column.
    added: row.added === null || row.added === undefined ? null : (JSON.parse(row.added) as JsonObject),
  };
}

export function toCarrying(row: CarryingRow): HandoffRow {
  const payload = row.payload === null ? null : (JSON.parse(row.payload) as JsonObject);
  return { ...toHandoff(row), flowHash: row.flow_hash, payload };
}

export function toInboxRecord(row: InboxRow): InboxRecord {
  return {
    runId: row.run_id,
    number: row.number,
    item: JSON.parse(row.item) as InboxItem,
    flow: row.flow,
    subject: { id: row.subject_id, title: row.subject_title },
  };
}

export function toSpendingRow(row: SpendingSums): SpendingRow {
  return {
    key: row.key,
    attempts: row.attempts,
    usd: toUsd(row.usd),
    unknownUsd: row.unknown_usd,
    assumedUsd: toUsd(row.assumed_usd),
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cachedTokens: row.cached_tokens,
    unknownTokens: row.unknown_tokens,
    assumedTokens: row.assumed_tokens,
    durationMs: row.duration_ms,
  };
}

export function toUsage(row: UsageRow): Usage {
  return {
    usd: toUsd(row.usd),
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cachedTokens: row.cached_tokens,
  };
}

export function toAmounts({ usd, tokens }: BudgetAmounts): BudgetAmounts {
  return { usd: toUsd(usd), tokens };
}

export function toWork(row: WorkRow): WorkRecord {
  return { id: row.id, runId: row.run_id, command: JSON.parse(row.command) as Command };
}

export const HOLD_COLUMNS = ["runner", "account", "cause", "reason", "since", "until", "run_id", "set_by"] as const;

export type HoldRow = Readonly<Record<Exclude<(typeof HOLD_COLUMNS)[number], "until" | "run_id">, string>> & {
  readonly until: string | null;
  readonly run_id: string | null;
};

export function toHold({ runner, account, cause, reason, since, until, run_id, set_by }: HoldRow): Hold {
  return { runner, account, cause, reason, since, until, runId: run_id, by: set_by };
}

export function toHoldRow({ runner, account, cause, reason, since, until, runId, by }: Hold): HoldRow {
  return { runner, account, cause, reason, since, until, run_id: runId, set_by: by };
}
