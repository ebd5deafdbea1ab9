// What the page and the one that holds the connection say to each other.

export type LiveState =
  | { readonly is: "connecting" }
  | { readonly is: "live" }
  /** `since`: when the connection was lost. */
  | { readonly is: "reconnecting"; readonly since: number }
  | { readonly is: "refused"; readonly why: string };

/** A change, as far as a page needs to know what to ask for again. */
export type LiveChange = {
  readonly name: string;
  readonly runId: string;
  readonly subjectId: string;
};

export type ToPage =
  | { readonly type: "state"; readonly state: LiveState }
  | { readonly type: "changes"; readonly changes: readonly LiveChange[] }
  /** Something was missed that cannot be told any more: everything is asked for again. */
  | { readonly type: "reset" };

export type FromPage =
  | { readonly type: "hello"; readonly token: string }
  | { readonly type: "here" }
  | { readonly type: "bye" };
