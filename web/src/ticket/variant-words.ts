// The effect of choosing a variant on the others, before and after, in sentences.

import type { AnswerTo } from "../../../src/http/client/input.ts";

type Variant = AnswerTo<"showTicket">["variants"][number];

/** The fate of a variant that was not chosen. */
export function fateOf({ word, state, branch, newest, changes }: Variant): string {
  const run = newest === null ? "" : state === "working" ? ` Run #${newest.number} ends now, with its agent.` : "";
  const work =
    newest === null
      ? " It has no work."
      : changes === null
        ? ` Its branch ${branch} stays.`
        : ` Its branch ${branch} stays, with all commits; nothing of it lands.`;
  return `${word} → Canceled.${run}${work}`;
}

/** Null if choosing it changes something. */
export function whyNotChoose({ choice }: Pick<Variant, "choice">): string | null {
  if (choice.why !== null) return choice.why;
  return choice.cancels.length === 0 ? "No other variant is open, so there is nothing to cancel." : null;
}

export function chosenText({ chosen, canceled }: AnswerTo<"chooseTicket">): string {
  if (canceled.length === 0) return `${chosen} is chosen; no other variant was open.`;
  const open = canceled.flatMap(({ pullRequest }) => pullRequest ?? []);
  const requests = open.length === 0 ? "" : ` Still open at the forge: ${open.join(", ")}`;
  const one = canceled.length === 1;
  const names = canceled.map(({ id }) => id).join(", ");
  return `${chosen} is chosen. Canceled: ${names}. ${one ? "Its branch stays" : "Their branches stay"}.${requests}`;
}
