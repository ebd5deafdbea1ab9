// What would help a ticket on, for each way in which it can stand.

import type { ListedFile, ListedTicket } from "./listed-ticket.ts";
import { commandOf } from "../run/acts.ts";

export type NextStep = { readonly text: string; readonly command: string | null };

export function nextStep(
  { id, waits, newest, status }: Pick<ListedTicket, "id" | "waits" | "newest" | "status">,
  { state, dependents, repo, lastError }: Pick<ListedFile, "state" | "dependents" | "repo" | "lastError">,
): NextStep {
  if (waits.length > 0) return { text: "It waits for your answer.", command: null };
  if (status === "stopped" && newest !== null)
    return {
      text: "Its run has stopped. Try the stage again, or move the ticket.",
      command: commandOf("retry", newest.number, null, ""),
    };
  switch (state) {
    case "eligible":
      return {
        text: "It starts as soon as tickets are picked and there is room. Where nobody picks them yet:",
        command: "passrail work",
      };
    case "waits":
      return { text: "It starts by itself when what it waits for is done.", command: `passrail explain ${id}` };
    case "refused":
      return repo === "TBD"
        ? { text: "Say which repository the work belongs to.", command: `passrail ticket edit ${id} --set repo=.` }
        : { text: "Mend its file, then it can start.", command: `passrail ticket edit ${id}` };
    case "working":
      return { text: "Nothing is to be done by you.", command: null };
    case "intervention":
      return {
        text: `${lastError === null ? "A person has to act" : "What went wrong is told below"}: move it on when it is ready.`,
        command: `passrail ticket move ${id} "Needs Implement"`,
      };
    case "awaiting-merge":
      return { text: "It is done when its pull request is merged.", command: `passrail done ${id}` };
    case "ended":
      return {
        text: dependents.length === 0 ? "Nothing is left to do." : "Nothing is left to do; others can build on it.",
        command: null,
      };
  }
}
