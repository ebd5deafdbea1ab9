// Whether an item offers an answer. The transition also refuses a wrong one; this earlier check gives the caller a reason and records
// nothing.

import { readRaise } from "../core/budget/budget.ts";
import type { Issue } from "../core/flow/outcome.ts";
import { answersOf, type InboxItem } from "../core/run/run.ts";
import type { AppProblem } from "./problem.ts";

export type GivenAnswer = {
  /** One of the answers that the item offers; "" if it asks for a text. */
  readonly answer: string;
  /** A comment, the answer as text, a note or an amount. */
  readonly text: string;
  /** Findings in the work, line by line; for gates and escalations. */
  readonly issues: readonly Issue[];
};

/** How strict a door is. */
export type AnswerRules = {
  /** Sending work back or rejecting it requires a reason, which the next attempt gets. */
  readonly needsReason: boolean;
  /** Null: no limit. */
  readonly maxChars: { readonly question: number; readonly other: number } | null;
};

/** Gate answers that the next reader cannot act upon without a reason. */
const NEED_REASON: ReadonlySet<string> = new Set(["revise", "reject", "decline"]);

export function refuseAnswer(item: InboxItem, given: GivenAnswer, rules: AnswerRules): AppProblem | undefined {
  return notOffered(item, given) ?? notFitting(item, given, rules) ?? noAmount(item, given);
}

/** Whether the text of this answer is part of the decision. */
export function needsWords(answer: string): boolean {
  return NEED_REASON.has(answer);
}

/** People say reject, some flows say decline. Both mean the answer that the gate knows. */
export function takenAnswer(kind: InboxItem["kind"], known: readonly string[], answer: string): string {
  return kind === "gate" && answer === "reject" && !known.includes("reject") ? "decline" : answer;
}

function notOffered(item: InboxItem, { answer, text }: GivenAnswer): AppProblem | undefined {
  const offered = answersOf(item);
  if (item.kind !== "question")
    return offered.includes(takenAnswer(item.kind, offered, answer))
      ? undefined
      : unknown(answer, `expected one of ${offered.join(", ")}`);
  if (answer !== "") return unknown(answer, "a text is asked for, give it as `text`");
  return text.trim() === "" ? { code: "answer_empty", message: "The answer is empty.", field: "text" } : undefined;
}

function notFitting(
  item: InboxItem,
  { answer, text, issues }: GivenAnswer,
  rules: AnswerRules,
): AppProblem | undefined {
  if (issues.length > 0 && item.kind !== "gate" && item.kind !== "escalation")
    return { code: "invalid_field", message: `A ${item.kind} takes no issues.`, field: "issues" };
  const most = item.kind === "question" ? rules.maxChars?.question : rules.maxChars?.other;
  if (most !== undefined && text.length > most) {
    const message = `It has ${text.length} characters, ${most} are allowed.`;
    return { code: "reason_too_long", message, field: "text" };
  }
  const isSilent = text.trim() === "" && issues.length === 0;
  const taken = takenAnswer(item.kind, answersOf(item), answer);
  return rules.needsReason && item.kind === "gate" && needsWords(taken) && isSilent
    ? { code: "reason_required", message: `"${taken}" needs a reason in \`text\`.`, field: "text" }
    : undefined;
}

function noAmount(item: InboxItem, { answer, text }: GivenAnswer): AppProblem | undefined {
  if (item.kind !== "budget" || answer !== "raise" || readRaise(text, item.unit, item.size) !== undefined)
    return undefined;
  return {
    code: "amount_invalid",
    message: `${JSON.stringify(text.slice(0, 80))} is no amount in ${item.unit}.`,
    field: "text",
    hint: item.unit === "usd" ? "for example 5 usd" : "for example 200000 tokens",
  };
}

function unknown(answer: string, why: string): AppProblem {
  return { code: "answer_unknown", message: `${JSON.stringify(answer)} is not offered: ${why}.`, field: "answer" };
}
