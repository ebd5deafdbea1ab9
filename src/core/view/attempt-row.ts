// One attempt as every reader shows it: the store's record with its outcome and the engine's notes read into typed fields.
// The CLI, the server and the logs print this row; none of them reads the stored JSON by key.

import { type AttemptFacts, attemptFacts } from "../attempt-facts.ts";
import type { Usage } from "../budget/usage.ts";
import { type Outcome, routeKey, withReused } from "../flow/outcome.ts";
import type { JsonObject } from "../json.ts";
import { type Containment, containmentOf } from "./containment.ts";
import { rungText } from "./rung-text.ts";

/** The part of a stored attempt that a row is made of. */
export type RecordedAttempt = {
  readonly stage: string;
  readonly attempt: number;
  readonly track: string;
  readonly status: "ready" | "running" | "done" | "interrupted" | "canceled";
  readonly readyAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly outcome: JsonObject | null;
  readonly facts: JsonObject;
};

export type AttemptRow = Omit<RecordedAttempt, "outcome" | "facts"> & {
  readonly health: Outcome["health"] | null;
  readonly verdict: NonNullable<Outcome["verdict"]> | null;
  /** The flow's own word for the verdict, or for the health where that decided. */
  readonly word: string | null;
  /** The key that picks the route: the verdict of a healthy attempt, else its health. */
  readonly canonical: string | null;
  readonly score: number | null;
  readonly summary: string | null;
  /** Why it ended as it did: the agent's reason, else the engine's cause. */
  readonly cause: string | null;
  readonly issues: Outcome["issues"];
  readonly questions: readonly string[];
  /** Until now while the attempt is running; null before it starts. */
  readonly durationMs: number | null;
  readonly exitCode: number | null;
  /** The commits that the attempt added; null where there are none. */
  readonly commits: { readonly from: string; readonly to: string } | null;
  readonly workspace: string | null;
  readonly branch: string | null;
  /** The worker that carries it out; null: the machine of the engine. */
  readonly worker: string | null;
  /** Null where no program ran, or the record does not say in what. */
  readonly containment: Containment | null;
  readonly runner: string | null;
  readonly model: string | null;
  /** The pool that paid: `API key`, `cloud`, `login`; null where that is not known. */
  readonly account: string | null;
  /** Which rung of its ladder it took, and why; null for a stage without one. */
  readonly rung: string | null;
  /** Null where the runner reported no usage. */
  readonly usage: Usage | null;
  /** The tokens of one more request, which its program did not make because it was ended at its verdict; null if it was not. */
  readonly sparedTokens: number | null;
  /** The time that the agent's program says it took; null where it said none. */
  readonly reportedMs: number | null;
};

/** `now` in milliseconds: the end of an attempt that is still running. */
export function attemptRow(record: RecordedAttempt, now: number): AttemptRow {
  const { outcome, facts: _stored, ...rest } = record;
  const facts = attemptFacts(record);
  // The store holds the outcome as the event recorded it.
  const ended = outcome as unknown as Outcome | null;
  return {
    ...rest,
    health: ended?.health ?? null,
    verdict: ended?.verdict ?? null,
    word: filled(ended?.word),
    canonical: ended === null ? null : routeKey(ended),
    score: ended?.score ?? null,
    summary: ended === null ? null : filled(withReused(ended, ended.summary ?? "")),
    cause: filled(ended?.reason) ?? filled(ended?.cause),
    issues: ended?.issues ?? [],
    questions: ended?.questions ?? [],
    durationMs: durationOf(record, now),
    exitCode: facts.exitCode,
    commits: commitsOf(facts),
    workspace: facts.workspace,
    branch: facts.branch,
    worker: facts.claim?.worker ?? null,
    containment: containmentOf(facts),
    runner: facts.runner,
    model: facts.model,
    account: facts.account,
    rung: facts.rung === null ? null : rungText(facts.runner ?? "", facts.rung),
    usage: facts.usage,
    sparedTokens: facts.sparedTokens,
    reportedMs: facts.reportedMs,
  };
}

function durationOf({ startedAt, endedAt }: RecordedAttempt, now: number): number | null {
  if (startedAt === null) return null;
  return (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt);
}

function commitsOf({ from, to }: AttemptFacts): AttemptRow["commits"] {
  return from !== null && to !== null && from !== to ? { from, to } : null;
}

function filled(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
