// The moves that a person can make with a ticket: their wording and the calls that carry them out.

import { call } from "../base/api.ts";
import type { Choice } from "../inbox/words.ts";
import type { TicketStatus } from "../../../src/core/ticket/status.ts";
import { changeTicket } from "./queries.ts";
import type { ListedTicket } from "./listed-ticket.ts";
import { type Act, WORDING, type Wording } from "../run/acts.ts";
import { performAct } from "../run/perform-act.ts";

export type Move =
  | { readonly kind: "answer"; readonly item: string; readonly choice: Choice }
  | { readonly kind: "act"; readonly act: Act["act"]; readonly stage: string | null }
  /** By the status in the ticket's file. */
  | { readonly kind: "status"; readonly to: TicketStatus };

/** Opens the move dialog; a button for one answer passes that move. */
export type MoveTicket = (ticket: ListedTicket, move?: Move) => void;

type Words = {
  /** The label of the button. */
  readonly name: string;
  /** The effect, if the name does not say it. */
  readonly about: string;
  /** The label of its text field; empty if it takes no text. */
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
      asks: needsReason ? "Why? The next attempt gets your answer." : "Comment (optional)",
      mustSay: needsReason,
      isDangerous: look === "danger" || ENDS.has(answer),
    };
  }
  if (move.kind === "status")
    return {
      name: `To ${move.to}`,
      about: STATUS_ABOUT[move.to] ?? "It can start there as soon as a slot is free.",
      asks: "",
      mustSay: false,
      isDangerous: move.to === "Canceled",
    };
  const at = move.stage !== null ? ` ${move.stage}` : move.act === "rerun" ? " an earlier stage" : " the run";
  const { name, about, says, isDanger } = WORDING[move.act];
  return { name: `${name}${at}`, about, asks: ASKS[says], mustSay: says === "needed reason", isDangerous: isDanger };
}

const STATUS_ABOUT: Readonly<Partial<Record<TicketStatus, string>>> = {
  Blocked: "It starts only after a person moves it on.",
  "Needs Human Review": "It starts only after a person moves it on.",
  "Needs Human Decision": "It starts only after a person moves it on.",
  Canceled: "Ends the ticket. Tickets that depend on it no longer wait for it.",
};

/** Answers of escalations and budgets that end the run. */
const ENDS: ReadonlySet<string> = new Set(["cancel", "abort", "stop"]);

const ASKS: Readonly<Record<Wording["says"], string>> = {
  reason: "Reason (optional)",
  "needed reason": "Why?",
  note: "Note for the agent (optional)",
  nothing: "",
};

/** `version`: of the item that the person saw; the daemon refuses a decision about another one. */
export async function make(
  move: Move,
  { id, newest, file }: Pick<ListedTicket, "id" | "newest" | "file">,
  text: string,
  version: string | undefined,
): Promise<void> {
  if (move.kind === "status") return changeTicket(id, { status: move.to }, file?.version ?? "");
  if (move.kind === "act") {
    await performAct(newest?.id ?? "", move, text);
    return;
  }
  await call(
    "answerItem",
    { params: { item: move.item }, body: { answer: move.choice.answer, text } },
    version === undefined ? {} : { ifMatch: version },
  );
}
