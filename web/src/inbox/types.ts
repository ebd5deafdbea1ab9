// The daemon's answers about what waits, under the names that the pages use.

import type { AnswerTo } from "../../../src/http/client/input.ts";
import type { ProblemDocument } from "../../../src/http/contract/problem.ts";

export type WaitingItem = AnswerTo<"listInbox">["items"][number];
/** What an item by itself is shown with. */
export type Evidence = AnswerTo<"showItem">["evidence"];
export type ItemKind = WaitingItem["kind"];
export type AnswerLead = WaitingItem["leads"][number];
/** Who was first. */
export type Decided = NonNullable<ProblemDocument["decided"]>;
export type Changed = NonNullable<ProblemDocument["changed"]>;

/** A finding, as agents and people give it. */
export type ShownIssue =
  | string
  | { readonly severity?: string; readonly description?: string; readonly file?: string; readonly line?: number };
