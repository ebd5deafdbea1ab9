// The one shape of a use case's refusal. Each door adds its own hint: a command or a path.

import type { Issue } from "../core/flow/outcome.ts";
import type { InboxItem } from "../core/run/run.ts";

export type AppProblem = {
  readonly code:
    | "action_refused"
    | "amount_invalid"
    | "answer_empty"
    | "answer_unknown"
    | "gate_not_waiting"
    | "hold_not_found"
    | "idempotency_key_reused"
    | "invalid_field"
    | "item_not_found"
    | "item_not_waiting"
    | "reason_required"
    | "reason_too_long"
    | "run_ambiguous"
    | "run_ended"
    | "run_missing"
    | "run_not_found"
    | "version_mismatch"
    | "version_required";
  readonly message: string;
  readonly hint?: string;
  /** The input field that is wrong. */
  readonly field?: "answer" | "text" | "issues" | "reason";
  /** The current version of the item, or the current commit of the run. */
  readonly current?: string;
  /** Events since the version that the caller saw. */
  readonly changed?: readonly VersionChange[];
  /** The decision that closed the item. */
  readonly decided?: ClosingDecision;
};

export type VersionChange = {
  readonly type: string;
  readonly at: string;
  readonly stage?: string;
  readonly seq?: number;
};

/** How an inbox item was answered. */
export type ClosingDecision = {
  readonly kind: InboxItem["kind"];
  readonly answer: string;
  readonly text: string;
  readonly issues: readonly Issue[];
  readonly by: string;
  readonly at: string;
};
