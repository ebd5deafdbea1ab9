// The moves that a person can make with a ticket, and the calls that make them.

import { call } from "../base/api.ts";
import type { Choice } from "../inbox/words.ts";
import type { TicketStatus } from "../../../src/core/ticket/status.ts";
import { changeTicket } from "./queries.ts";
import type { ListedTicket } from "./listed-ticket.ts";
import { type Act, WORDING, type Wording } from "../run/acts.ts";

export type Move =
  | { readonly kind: "answer"; readonly item: string; readonly choice: Choice }
  | { readonly kind: "act"; readonly act: Act["act"]; readonly stage: string | null }
  /** By the status in the ticket's file. */
  | { readonly kind: "status"; readonly to: TicketStatus };

/** Opens the move dialog; a button for one answer passes that move. */
export type MoveTicket = (ticket: ListedTicket, move?: Move) => void;

type Words = {
  /** What the button says. */
  readonly name: string;
  /** What it does, where the name does not say it all. */
  readonly about: string;
  /** What is asked for beside it. */
  readonly asks: string;
  readonly mustSay: boolean;
  readonly isDangerous: boolean;
};

export function wordsOf(move: Move): Words {
  if (move.kind === "answer") {
    const { answer, label, needsReason, look } = move.choice;
    return {
      name: label,
      about: "",
      asks: needsReason ? "Why? The next attempt is told." : "Comment (optional)",
      mustSay: needsReason,
      isDangerous: look === "danger" || ENDS.has(answer),
    };
  }
  if (move.kind === "status")
    return {
      name: `To ${move.to}`,
      about: STATUS_ABOUT[move.to] ?? "It may be picked up there as soon as there is room.",
      asks: "",
      mustSay: false,
      isDangerous: move.to === "Canceled",
    };
  const at = move.stage !== null ? ` ${move.stage}` : move.act === "rerun" ? " an earlier stage" : " the run";
  const { name, about, says, isDanger } = WORDING[move.act];
  return { name: `${name}${at}`, about, asks: ASKS[says], mustSay: says === "needed reason", isDangerous: isDanger };
}

const STATUS_ABOUT: Readonly<Partial<Record<TicketStatus, string>>> = {
  Blocked: "Nothing starts before somebody moves it on.",
  "Needs Human Review": "Nothing starts before somebody moves it on.",
  "Needs Human Decision": "Nothing starts before somebody moves it on.",
  Canceled: "It is over. Tickets that wait for it go on without it.",
};

/** Answers of escalations and budgets after which nothing more is done. */
const ENDS: ReadonlySet<string> = new Set(["cancel", "abort", "stop"]);

const ASKS: Readonly<Record<Wording["says"], string>> = {
  reason: "Reason (optional)",
  "needed reason": "Why?",
  note: "Note for the agent (optional)",
  nothing: "",
};

/** `version`: what the person has looked at; a decision about something else is refused. */
export async function make(
  move: Move,
  { id, newest, file }: Pick<ListedTicket, "id" | "newest" | "file">,
  text: string,
  version: string | undefined,
): Promise<void> {
  if (move.kind === "status") return changeTicket(id, { status: move.to }, file?.version ?? "");
  const run = newest?.id ?? "";
  if (move.kind === "answer") {
    await call(
      "answerItem",
      { params: { item: move.item }, body: { answer: move.choice.answer, text } },
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
