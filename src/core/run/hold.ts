// A runner whose account is over a limit of its vendor: no attempt of any run starts on it until the limit ends. Stored
// once for all runs; an attempt that waits for it records that in its own run.

import { limitMs } from "./postponement.ts";

/** `account`: the login that pays, where one runner has several; empty for its only one. */
export type HoldKey = { readonly runner: string; readonly account: string };

export type Hold = HoldKey & {
  /** `rate_limit`, `quota` or `billing`, as the failure that it comes from; `auth` and others keep only ladders off (`passedOverMs`). */
  readonly cause: string;
  /** The program's message, for people. */
  readonly reason: string;
  readonly since: string;
  /** Null: only a person ends it. */
  readonly until: string | null;
  /** The run that found it out. */
  readonly runId: string | null;
  /** Who set it: `engine`, or a person. */
  readonly by: string;
};

/** A quota without a known end, and an account without credit, are tried again after this time. */
const UNTOLD_MS: Readonly<Record<string, number>> = { quota: 15 * 60_000, billing: 60 * 60_000 };

/** How long a limit keeps other attempts off its runner; undefined if it does not. */
export function holdMs(cause: string | undefined, at: string, resetsAt: string | undefined): number | undefined {
  if (cause !== "rate_limit" && cause !== "quota" && cause !== "billing") return undefined;
  return limitMs(at, resetsAt) ?? UNTOLD_MS[cause];
}

/** Programs that are logged out or missing: ladders take another rung for this time; a stage without a ladder tries, and fails at once. */
const PASSED_OVER_MS = 15 * 60_000;
const PASSED_OVER: ReadonlySet<string> = new Set(["auth", "agent_not_found", "spawn_failed"]);

/** How long ladders pass over a runner that failed for this reason; undefined if they do not. */
export function passedOverMs(cause: string | undefined): number | undefined {
  return cause !== undefined && PASSED_OVER.has(cause) ? PASSED_OVER_MS : undefined;
}

/** Whether it keeps attempts off now. A clock that shows a time before its beginning was set back: the hold lasts no longer than intended. */
export function isHeld({ since, until }: Pick<Hold, "since" | "until">, nowMs: number): boolean {
  if (until === null) return true;
  const [from, to] = [Date.parse(since), Date.parse(until)];
  return nowMs < to && nowMs > from - (to - from);
}
