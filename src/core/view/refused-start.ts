// Tickets that could start by their files and do not, because the machine lacks something: a program, a login, a repository. One loose end
// per reason, however many tickets it keeps waiting.

import { refusedStart, type RefusedStarts } from "../ticket/cannot-start.ts";
import type { TicketPlan } from "../ticket/plan.ts";
import type { LooseEnd } from "./loose-end.ts";

const NAMED = 10;

export function refusedEnds(plan: TicketPlan, refused: RefusedStarts): readonly LooseEnd[] {
  const found = [...refused].flatMap(([id, problem]) => {
    const planned = plan.tickets.get(id);
    // It has started since, or its file changed: the refusal no longer holds.
    return planned?.state === "eligible"
      ? [{ ticket: planned.ticket, why: refusedStart(planned.ticket, problem).why }]
      : [];
  });
  return [...Map.groupBy(found, ({ why }) => why)].flatMap(([why, [first, ...more]]): LooseEnd[] => {
    if (first === undefined) return [];
    const ids = [first, ...more].map(({ ticket }) => ticket.id);
    const named =
      ids.length <= NAMED ? ids.join(", ") : `${ids.slice(0, NAMED).join(", ")} and ${ids.length - NAMED} more`;
    return [
      {
        id: `start:${first.ticket.id}`,
        kind: "blocked",
        title: more.length === 0 ? first.ticket.title : `${ids.length} tickets cannot start`,
        text: `${named} cannot start: ${why}`,
        since: null,
        run: null,
        ticket: more.length === 0 ? first.ticket.id : null,
        isTold: false,
        verbs: [
          {
            verb: "explain",
            effect: `Shows ${first.ticket.id} with the reason.`,
            command: `passrail explain ${first.ticket.id}`,
            act: { do: "show", what: "ticket", name: first.ticket.id },
          },
          {
            verb: "agents",
            effect: "Says which programs are installed and logged in, and how to mend it.",
            command: "passrail agent list",
            act: { do: "type" },
          },
          {
            verb: "cancel",
            effect: `${first.ticket.id} becomes Canceled.`,
            command: `passrail ticket move ${first.ticket.id} Canceled`,
            act: { do: "move", to: "Canceled" },
          },
        ],
      },
    ];
  });
}
