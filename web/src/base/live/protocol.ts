// The messages between a page and the worker that holds the connection.

export type LiveState =
  | { readonly is: "connecting" }
  | { readonly is: "live" }
  /** `since`: when the connection was lost. */
  | { readonly is: "reconnecting"; readonly since: number }
  | { readonly is: "refused"; readonly why: string };

/** The part of an event from which a page decides which queries to reload. */
export type LiveChange = {
  readonly name: string;
  readonly runId: string;
  readonly subjectId: string;
  /** Of `attempt.output` alone: the attempt whose files have grown, and their bytes. */
  readonly growth?: Growth;
  /** Of `attempt.usage` alone: the usage of the attempt so far. */
  readonly used?: Used;
};

export type Growth = {
  readonly stage: string;
  readonly attempt: number;
  readonly events: number | null;
  readonly output: number | null;
  /** The agent's last line; absent while no page shows a list. */
  readonly line?: { readonly text: string; readonly at: string | null } | null;
};

export type Used = {
  readonly stage: string;
  readonly attempt: number;
  readonly usage: {
    readonly usd: number | null;
    readonly inputTokens: number | null;
    readonly outputTokens: number | null;
    readonly cachedTokens: number | null;
  };
};

export type ToPage =
  | { readonly type: "state"; readonly state: LiveState }
  | { readonly type: "changes"; readonly changes: readonly LiveChange[] }
  /** The page missed events that are gone: it reloads everything. */
  | { readonly type: "reset" };

export type FromPage =
  | { readonly type: "hello"; readonly token: string }
  | { readonly type: "here" }
  | { readonly type: "bye" };
