// The columns of a stored attempt that a later attempt reads. A record of the store has them.

import type { JsonObject } from "../core/json.ts";

export type EarlierAttempt = {
  readonly runId: string;
  readonly stage: string;
  readonly attempt: number;
  readonly track: string;
  readonly status: "ready" | "running" | "done" | "interrupted" | "canceled";
  readonly endedAt: string | null;
  /** Outcome of a finished attempt, as in its event. */
  readonly outcome: JsonObject | null;
  /** Process identity, paths of prompt and output, exit facts, commit range. */
  readonly facts: JsonObject;
};
