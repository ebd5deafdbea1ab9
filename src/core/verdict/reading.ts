// What all readers of verdicts share: the input, and the two ways a reading can end.
// A reader is pure and linear in the length of its text; it never repairs, never guesses, and takes exactly one candidate or none.

import type { Report } from "../outcome.ts";
import type { Result } from "../result.ts";

/** Why there is no usable verdict. `message` can be sent to the agent as it is (the repair round). */
export type Unreadable = {
  readonly code:
    | "verdict_missing"
    | "verdict_ambiguous"
    | "verdict_unknown"
    | "verdict_invalid_json"
    | "verdict_wrong_subject"
    | "verdict_too_large"
    | "verdict_field_invalid"
    | "verdict_stale";
  readonly message: string;
};

export type Reading = Result<Report, Unreadable>;
