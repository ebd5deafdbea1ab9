// Where a card may be dropped, and what that does. A drop is one of the acts that the card's menu offers, too; a decision is never made by
// a drop, because its evidence is on its page.

import { TICKET_STATUSES } from "../../../src/core/ticket/status.ts";
import { runOfTicket, whyNot } from "../../../src/http/contract/ticket-moves.ts";
import type { BulkDeed } from "../bulk/deed.ts";
import type { BoardLane } from "./board-lanes.ts";
import type { LaneName, WorkItem } from "./item.ts";

export type Drop =
  /** `does`: the effect, in a few words. */
  | { readonly is: "legal"; readonly does: string; readonly deed: BulkDeed }
  | { readonly is: "illegal"; readonly why: string }
  /** It is there already. */
  | { readonly is: "same" };

export function dropOf(item: WorkItem, lane: Pick<BoardLane, "state" | "word">): Drop {
  if (lane.state === null) return toWord(item, lane.word);
  if (lane.state === item.lane) return { is: "same" };
  return toState(item, lane.state);
}

function toWord({ ticket }: WorkItem, word: string): Drop {
  if (ticket.word === word) return { is: "same" };
  const to = TICKET_STATUSES.find((status) => status === word);
  if (ticket.file === null || to === undefined) return illegal("Only its run moves it.");
  const why = whyNot(ticket.id, to, runOfTicket(ticket.status));
  return why === null ? moved(ticket.id, ticket.file.version, to) : illegal(why);
}

function toState(item: WorkItem, lane: LaneName): Drop {
  switch (lane) {
    case "backlog":
      return toBacklog(item);
    case "underway":
      return toUnderWay(item);
    case "done":
      return toDone(item);
    case "stopped":
      return toStopped(item);
    case "you":
      return illegal("A run comes here when it asks for you.");
    case "merge":
      return illegal("Work comes here when its run has finished.");
  }
}

function toBacklog({ ticket, end }: WorkItem): Drop {
  if (ticket.file === null) return illegal("It has no ticket file, so it has no backlog.");
  const offered = end?.verbs.find(({ act }) => act.do === "move" && act.to !== "Canceled")?.act;
  const to = offered?.do === "move" ? offered.to : "Backlog";
  const why = whyNot(ticket.id, to, runOfTicket(ticket.status));
  return why === null ? moved(ticket.id, ticket.file.version, to) : illegal(why);
}

function toUnderWay({ ticket, lane }: WorkItem): Drop {
  if (ticket.file?.state === "eligible" && runOfTicket(ticket.status) === "none")
    return { is: "legal", does: `Start ${ticket.id} now`, deed: { do: "start", ticket: ticket.id } };
  if (ticket.status === "stopped" && ticket.newest !== null)
    return {
      is: "legal",
      does: `Retry #${ticket.newest.number}`,
      deed: { do: "act", run: ticket.newest, act: { act: "retry", stage: null } },
    };
  if (lane === "you") return illegal("Open it: the decision and its evidence are on its page.");
  return illegal(ticket.file === null ? "It has ended." : ticket.file.why);
}

/** Only what the daemon offers for finished work. */
function toDone({ end, lane }: WorkItem): Drop {
  const run = end?.run ?? null;
  const offers = (what: string) => end?.verbs.some(({ act }) => act.do === what) === true;
  if (lane !== "merge" || run === null) return illegal("Only merged work is done.");
  if (offers("merge"))
    return { is: "legal", does: `Merge the work of #${run.number}`, deed: { do: "settle", run, act: { do: "merge" } } };
  if (!offers("confirm-merge")) return illegal("Only merged work is done.");
  return {
    is: "legal",
    does: `Look whether the work of #${run.number} is merged`,
    deed: { do: "settle", run, act: { do: "confirm-merge" } },
  };
}

function toStopped({ ticket }: WorkItem): Drop {
  const run = ticket.newest;
  if (run !== null && runOfTicket(ticket.status) !== "none")
    return {
      is: "legal",
      does: `Cancel #${run.number}`,
      deed: { do: "act", run, act: { act: "cancel", stage: null } },
    };
  if (ticket.file === null || ticket.file.state === "ended") return illegal("It has ended.");
  return moved(ticket.id, ticket.file.version, "Canceled");
}

function moved(ticket: string, version: string, to: (typeof TICKET_STATUSES)[number]): Drop {
  return { is: "legal", does: `Move ${ticket} to ${to}`, deed: { do: "status", ticket, to, version } };
}

function illegal(why: string): Drop {
  return { is: "illegal", why };
}
