// The jobs of the function `write` (schema-write.ts), as plain data.

import { type Reservation, toMicros, WARNED_AT } from "../../core/budget/budget.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RunEvent } from "../../core/run/event.ts";
import type { Run } from "../../core/run/run.ts";
import { chainOf } from "../chain.ts";
import { type RowChange, rowChanges } from "../projections.ts";
import { eventColumns, type HoldRow, runColumns } from "../rows.ts";
import type { Change } from "../store.ts";
import { plainText } from "./text.ts";

export type Job =
  | CommitJob
  | {
      readonly type: "note";
      readonly runId: string;
      readonly stage: string;
      readonly attempt: number;
      readonly facts: JsonObject;
    }
  | { readonly type: "settle"; readonly id: number }
  | { readonly type: "flow"; readonly hash: string; readonly body: string }
  | { readonly type: "delete"; readonly subject: string }
  | {
      readonly type: "claim";
      readonly caller: string;
      readonly key: string;
      readonly request: string;
      readonly at: string;
      readonly forgetBefore: string;
      /** Random: distinguishes a second try of the same claim from another claim. */
      readonly claim: string;
      /** Above 0: keeps only this many. */
      readonly trim: number;
    }
  | { readonly type: "answer"; readonly caller: string; readonly key: string; readonly answer: string }
  | { readonly type: "release"; readonly caller: string; readonly key: string }
  | { readonly type: "hold"; readonly hold: HoldRow }
  | { readonly type: "lift"; readonly runner: string; readonly account: string }
  | {
      readonly type: "check";
      readonly key: string;
      readonly runId: string;
      readonly at: string;
      readonly body: string;
      readonly forgetBefore: string;
      readonly keep: number;
    };

export type CommitJob = {
  readonly type: "commit";
  readonly runId: string;
  readonly expected: number;
  readonly signalIds: readonly string[];
  /** The head that the hashes were computed upon; null: not known. */
  readonly previous: string | null;
  readonly head: string;
  readonly updatedAt: string;
  readonly run: ReturnType<typeof runColumns>;
  readonly state: string;
  readonly edited: boolean;
  /** Type, time, actor, body and hash of each. */
  readonly events: readonly (readonly string[])[];
  /** Their sequence numbers count from 1, the first event. */
  readonly changes: readonly JsonObject[];
  readonly handoffs: number;
  readonly reserve?: readonly JsonObject[];
  readonly reserving?: readonly JsonObject[];
  readonly warned?: number;
  readonly work: readonly string[];
};

const EVENT_VALUES = 5;

/** `previous`: the hash of the run's last event; undefined for a new run and where it is not known. */
export function commitJob(change: Change, previous: string | undefined): CommitJob {
  const { runId, expectedVersion, signalIds, events, run, enqueue, reserve = [] } = change;
  const { head, values } = chainOf(change, previous, plainEventColumns);
  const changes = rowChanges(events, 1);
  const isReserving = ({ type }: RowChange): boolean => reserve.length > 0 && type === "reserve";
  const job: CommitJob = {
    type: "commit",
    runId: plainText(runId),
    expected: expectedVersion,
    signalIds: signalIds.map(plainText),
    previous: previous ?? null,
    head,
    updatedAt: events.at(-1)?.at ?? run.createdAt,
    run: plainRunColumns(run),
    state: JSON.stringify(run),
    edited: events.some(({ type }) => type === "ticket.edited"),
    events: events.map((_, index) => values.slice(index * EVENT_VALUES, (index + 1) * EVENT_VALUES)),
    changes: changes.filter((each) => !isReserving(each)).map(toRow),
    handoffs: changes.filter(({ type }) => type === "open-handoff").length,
    work: enqueue.map((command) => JSON.stringify(command)),
  };
  if (reserve.length === 0) return job;
  const reserving = changes.filter(isReserving).map(toRow);
  return { ...job, reserve: reserve.map(toMicroDollars), reserving, warned: WARNED_AT };
}

function plainRunColumns(run: Run): ReturnType<typeof runColumns> {
  const columns = runColumns(run);
  const entries = Object.entries(columns).map(([name, value]) => [name, value === null ? null : plainText(value)]);
  return Object.fromEntries(entries) as typeof columns;
}

function plainEventColumns(event: RunEvent): ReturnType<typeof eventColumns> {
  const columns = eventColumns(event);
  return { ...columns, actor: plainText(columns.actor) };
}

/** Values for a text column are JSON already; values with a column of their own are taken out. */
function toRow(change: RowChange): JsonObject {
  if (change.type === "open-item") {
    const { number, kind, stage, openedAt } = change.item;
    return { type: change.type, number, kind, stage, openedAt, item: JSON.stringify(change.item) };
  }
  if (change.type !== "open-handoff") return change;
  const { type, number, track, fromStage, fromAgent, fromAttempt, toStage, toAgent, loop } = change;
  const { state, createdAt, processedAt, added } = change;
  const edge = { type, number, track, fromStage, fromAgent, fromAttempt, toStage, toAgent, loop };
  return { ...edge, state, createdAt, processedAt, added: added === undefined ? null : JSON.stringify(added) };
}

function toMicroDollars({ stage, attempt, usd, tokens, limits }: Reservation): JsonObject {
  return {
    stage,
    attempt,
    usd: toMicros(usd),
    tokens,
    limits: limits.map((limit) => ({ ...limit, usd: toMicros(limit.usd) })),
  };
}
