// The rules by which a flow picks its tickets: its `enter` and `pick` keys as sets for the plan. A missing key has the value of source 004,
// which flows/ticket.yaml spells out.

import type { Flow } from "../flow/flow.ts";
import { isActionable, isIntervention, isTicketStatus, TICKET_STATUSES, type TicketStatus } from "./status.ts";

export type PickRules = {
  /** Statuses from which a run can start. */
  readonly startsFrom: ReadonlySet<TicketStatus>;
  /** Statuses whose tickets wait for a person, even where a run could start. */
  readonly skip: ReadonlySet<TicketStatus>;
  /** Statuses of a dependency that let its dependents start. */
  readonly satisfied: ReadonlySet<TicketStatus>;
  /** False: tickets start regardless of their dependencies. */
  readonly waitsForDependencies: boolean;
};

/** The rules of the flow that a ticket names; null is the flow of tickets that name none. */
export type PickRulesOf = (flow: string | null) => PickRules;

export const DEFAULT_PICK_RULES: PickRules = {
  startsFrom: new Set(TICKET_STATUSES.filter(isActionable)),
  skip: new Set(TICKET_STATUSES.filter(isIntervention)),
  satisfied: new Set<TicketStatus>(["Done", "Canceled"]),
  waitsForDependencies: true,
};

export function pickRules({ enter, pick }: Pick<Flow, "enter" | "pick">): PickRules {
  const entries = Object.keys(enter).filter(isTicketStatus).filter(canStart);
  return {
    // A flow without `enter` starts every ticket at its first stage.
    startsFrom: Object.keys(enter).length === 0 ? DEFAULT_PICK_RULES.startsFrom : new Set(entries),
    skip: statuses(pick?.skip) ?? DEFAULT_PICK_RULES.skip,
    satisfied: statuses(pick?.satisfied) ?? DEFAULT_PICK_RULES.satisfied,
    waitsForDependencies: pick?.needs?.includes("depends-on-satisfied") ?? true,
  };
}

/** The other statuses belong to a run that works or waits for its merge, or to an ended ticket. */
function canStart(status: TicketStatus): boolean {
  return isActionable(status) || isIntervention(status);
}

function statuses(words: readonly string[] | undefined): ReadonlySet<TicketStatus> | undefined {
  return words === undefined ? undefined : new Set(words.filter(isTicketStatus));
}
