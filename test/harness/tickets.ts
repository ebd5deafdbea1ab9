// Tickets for tests that need no file, and the status words that a ticket passes.

import type { Ticket } from "../../src/core/ticket/ticket.ts";

export function plainTicket(number: number, given: Partial<Ticket> = {}): Ticket {
  return {
    id: `AGI-${number}`,
    number,
    title: `Ticket ${number}`,
    description: "",
    body: "",
    repo: "shop",
    status: "Backlog",
    dependsOn: [],
    group: null,
    variantHint: null,
    priority: null,
    workflow: null,
    flow: null,
    request: "FR-1",
    path: `feature_requests/FR-1/AGI-${number}.md`,
    hash: `${number}`,
    lastError: null,
    prUrl: null,
    conflict: null,
    source: null,
    ...given,
  };
}

/** From its first stage to the end. */
export const WALK: readonly string[] = [
  "Needs Research",
  "Research In Progress",
  "Needs Spec",
  "Spec In Progress",
  "Needs Plan",
  "Plan In Progress",
  "Needs Implement",
  "Implement In Progress",
  "Needs Validate",
  "Validate In Progress",
  "Done",
];
