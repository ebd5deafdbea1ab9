// The answer that a run waits for, and from whom, in a few words.

import type { InboxItem } from "../run/run.ts";

export function waitText({ kind, stage, who }: Pick<InboxItem, "kind" | "stage" | "who">): string {
  return `${WAITS[kind]} for ${who} at ${stage}`;
}

const WAITS: Readonly<Record<InboxItem["kind"], string>> = {
  gate: "Decision",
  question: "Question",
  choice: "Choice",
  escalation: "Escalation",
  budget: "Budget",
};
