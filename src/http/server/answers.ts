// Whether an answer is one that the item offers. The transition would refuse it, too; here the caller learns why, and nothing is recorded.

import type { Refusal } from "../contract/problem.ts";
import { REASON_CHARS, TEXT_CHARS } from "../contract/schemas/common.ts";
import { readRaise } from "../../core/budget/budget.ts";
import { answersOf, type InboxItem } from "../../core/run/run.ts";

export type GivenAnswer = { readonly answer: string; readonly text: string; readonly issues?: readonly unknown[] };

/** Who sends work back or turns it down says why; the next attempt is told. */
const NEED_REASON: ReadonlySet<string> = new Set(["revise", "reject", "decline"]);

export function refuseAnswer(item: InboxItem, given: GivenAnswer): Refusal | undefined {
  const offered = answersOf(item);
  const answer = takenAnswer(item, given);
  if (item.kind === "question") {
    if (given.answer !== "") return unknown(given.answer, "a text is asked for, give it as `text`");
    if (given.text.trim() === "") return { code: "answer_empty", detail: "The answer is empty.", pointer: "/text" };
  } else if (!offered.includes(answer)) {
    return unknown(given.answer, `expected one of ${offered.join(", ")}`);
  }
  if (!hasNoIssues(given) && item.kind !== "gate" && item.kind !== "escalation")
    return { code: "invalid_field", detail: `A ${item.kind} takes no issues.`, pointer: "/issues" };
  const most = item.kind === "question" ? TEXT_CHARS : REASON_CHARS;
  if (given.text.length > most)
    return {
      code: "reason_too_long",
      detail: `It has ${given.text.length} characters, ${most} are allowed.`,
      pointer: "/text",
    };
  const isSilent = given.text.trim() === "" && hasNoIssues(given);
  if (item.kind === "gate" && NEED_REASON.has(answer) && isSilent)
    return { code: "reason_required", detail: `"${answer}" needs a reason in \`text\`.`, pointer: "/text" };
  if (item.kind === "budget" && answer === "raise" && readRaise(given.text, item.unit, item.size) === undefined)
    return {
      code: "amount_invalid",
      detail: `${JSON.stringify(given.text.slice(0, 80))} is no amount in ${item.unit}.`,
      pointer: "/text",
      hint: item.unit === "usd" ? "for example 5 usd" : "for example 200000 tokens",
    };
  return undefined;
}

function hasNoIssues({ issues = [] }: GivenAnswer): boolean {
  return issues.length === 0;
}

/** People say reject, some flows say decline: the same wish, whichever of the two the gate knows. */
export function takenAnswer(
  item: Pick<InboxItem, "kind"> & { readonly answers?: readonly string[]; readonly answer?: string },
  { answer }: GivenAnswer,
): string {
  const knows = item.answers ?? [item.answer ?? ""];
  return item.kind === "gate" && answer === "reject" && !knows.includes("reject") ? "decline" : answer;
}

function unknown(answer: string, why: string): Refusal {
  return { code: "answer_unknown", detail: `${JSON.stringify(answer)} is not offered: ${why}.`, pointer: "/answer" };
}
