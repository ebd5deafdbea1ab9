// The port of an issue tracker: tickets may come from it, and people follow their state there.

import type { Result } from "../core/result.ts";
import type { IssueState, TrackedStates } from "../core/ticket/tracked.ts";

export type TrackedIssue = {
  /** As people write it: 12, ENG-12. Unique in its tracker. */
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly url: string;
};

/** Problems with this code are about the moment: the same call may succeed later. */
export const UNAVAILABLE = "tracker_unavailable";
/** Problems with these are about the issue: the same call would fail again. All others (a login, a key that is missing) are a person's to mend. */
export const REFUSALS: ReadonlySet<string> = new Set(["tracker_refused", "tracker_state"]);

export interface Tracker {
  /** `linear:ENG`; with `#ENG-12` it is the source of a ticket. */
  readonly origin: string;
  readonly states: TrackedStates;
  /** Open issues that are not started, oldest first. */
  waiting(query: { readonly label?: string; readonly limit: number }): Promise<Result<readonly TrackedIssue[]>>;
  /** By id; an issue that is gone is missing. */
  statesOf(ids: readonly string[]): Promise<Result<ReadonlyMap<string, IssueState>>>;
  /** Moving an issue to where it is already changes nothing. */
  move(id: string, state: string): Promise<Result<null>>;
}
