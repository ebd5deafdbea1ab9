// A runner whose account is over a limit of its vendor: no attempt starts on it until the limit ends, for whichever run. Stored once for all
// runs; an attempt that waits for it says so in its own run.

/** `account`: the login that pays, where one runner has several; empty for its only one. */
export type HoldKey = { readonly runner: string; readonly account: string };

export type Hold = HoldKey & {
  /** `rate_limit`, `quota` or `billing`, as the failure that it comes from; `near`: it is not over its limit yet. */
  readonly cause: string;
  /** What the program said, for people. */
  readonly reason: string;
  readonly since: string;
  /** Null: only a person ends it. */
  readonly until: string | null;
  /** The run that found it out. */
  readonly runId: string | null;
  /** Who set it: `engine`, or a person. */
  readonly by: string;
};
