// The moves that a person can make with a ticket, and the calls that make them.

import type { AnswerTo } from "../../../src/client/input.ts";
import { call } from "../app/api.ts";
import { answerText, needsReason } from "./card-facts.ts";

export type Act = AnswerTo<"listActs">["acts"][number];

export type Move =
  | { readonly kind: "answer"; readonly item: string; readonly answer: string }
  | { readonly kind: "act"; readonly act: Act["act"]; readonly stage: string | null };

type Words = {
  /** What the button says. */
  readonly name: string;
  /** What is asked for beside it. */
  readonly asks: string;
  readonly mustSay: boolean;
  readonly isDangerous: boolean;
};

export function wordsOf(move: Move): Words {
  if (move.kind === "answer") {
    const mustSay = needsReason(move.answer);
    return {
      name: answerText(move.answer),
      asks: mustSay ? "Why? The next attempt is told." : "Comment (optional)",
      mustSay,
      isDangerous: ["reject", "decline", "cancel", "abort", "stop"].includes(move.answer),
    };
  }
  const at = move.stage === null ? "" : ` ${move.stage}`;
  const { name, asks } = ACTS[move.act];
  return { name: `${name}${at}`, asks, mustSay: move.act === "skip", isDangerous: move.act === "cancel" };
}

const ACTS: Readonly<Record<Act["act"], Pick<Words, "name" | "asks">>> = {
  pause: { name: "Pause", asks: "Reason (optional)" },
  resume: { name: "Resume", asks: "" },
  retry: { name: "Retry", asks: "Note for the agent (optional)" },
  rerun: { name: "Go back to", asks: "Note for the agent (optional)" },
  skip: { name: "Skip", asks: "Why is it skipped?" },
  cancel: { name: "Cancel the run", asks: "Reason (optional)" },
};

/** `version`: what the person has looked at; a decision about something else is refused. */
export async function make(move: Move, run: string, text: string, version: string | undefined): Promise<void> {
  if (move.kind === "answer") {
    await call(
      "answerItem",
      { params: { item: move.item }, body: { answer: move.answer, text } },
      version === undefined ? {} : { ifMatch: version },
    );
    return;
  }
  const params = { run };
  const stage = move.stage === null ? {} : { stage: move.stage };
  switch (move.act) {
    case "pause":
      await call("pauseRun", { params, body: { reason: text } });
      return;
    case "resume":
      await call("resumeRun", { params, body: {} });
      return;
    case "retry":
      await call("retryStage", { params, body: { ...stage, note: text } });
      return;
    case "rerun":
      await call("rerunFrom", { params, body: { stage: move.stage ?? "", note: text } });
      return;
    case "skip":
      await call("skipStage", { params, body: { ...stage, reason: text } });
      return;
    case "cancel":
      await call("cancelRun", { params, body: { reason: text } });
      return;
  }
}
