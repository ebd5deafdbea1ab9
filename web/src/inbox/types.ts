// Types of the inbox, taken from the daemon's answers.

import type { AnswerTo } from "../../../src/http/client/input.ts";
import type { ProblemDocument } from "../../../src/http/contract/problem.ts";

export type WaitingItem = AnswerTo<"listInbox">["items"][number];
/** Comes with a single item. */
export type Evidence = AnswerTo<"showItem">["evidence"];
export type ItemBriefing = NonNullable<AnswerTo<"showItem">["briefing"]>;
export type ItemKind = WaitingItem["kind"];
export type AnswerLead = WaitingItem["leads"][number];
/** The decision that closed an item. */
export type Decided = NonNullable<ProblemDocument["decided"]>;
export type Changed = NonNullable<ProblemDocument["changed"]>;

/** An issue as agents and people write it. */
export type ShownIssue =
  | string
  | { readonly severity?: string; readonly description?: string; readonly file?: string; readonly line?: number };
