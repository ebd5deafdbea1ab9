// The next step for a ticket in each state.

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
      text: "Its run stopped. Retry the stage, or move the ticket.",
      command: commandOf("retry", newest.number, null, ""),
    };
  switch (state) {
    case "eligible":
      return {
        text: "It starts as soon as a worker picks tickets and has a free slot. To start one:",
        command: "passrail work",
      };
    case "waits":
      return { text: "It starts when the tickets it depends on are done.", command: `passrail explain ${id}` };
    case "refused":
      return repo === "TBD"
        ? { text: "Set the repository of the work.", command: `passrail ticket edit ${id} --set repo=.` }
        : { text: "Fix its file, then it can start.", command: `passrail ticket edit ${id}` };
    case "working":
      return { text: "You have nothing to do.", command: null };
    case "intervention":
      return {
        text: `${lastError === null ? "It needs a person" : "The error is shown below"}: move it on when it is ready.`,
        command: `passrail ticket move ${id} "Needs Implement"`,
      };
    case "awaiting-merge":
      return { text: "It is done when its pull request is merged.", command: `passrail done ${id}` };
    case "ended":
      return {
        text: dependents.length === 0 ? "Nothing left to do." : "Nothing left to do; other tickets can build on it.",
        command: null,
      };
  }
}
