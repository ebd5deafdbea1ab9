import { expect, test } from "vitest";
import { plainTicket as ticket } from "../../../test/harness/tickets.ts";
import { planTickets } from "./plan.ts";
import type { Ticket } from "./ticket.ts";
import { rivalsOf, ticketsOfGroup } from "./variants.ts";

const plan = (...tickets: readonly Ticket[]) =>
  planTickets({ tickets, problems: [] }, { busy: new Set(), busyBranches: new Set() });
const rivals = (id: string, ...tickets: readonly Ticket[]) => {
  const found = rivalsOf(id, plan(...tickets));
  return found.ok ? found.value.map((each) => each.ticket.id) : found.error.code;
};
const variant = (number: number, given: Partial<Ticket> = {}) => ticket(number, { group: "g", ...given });

test("R-004-30: choosing a variant cancels the open others of its group, not what it builds on and not what has ended", () => {
  const all = [
    variant(1),
    variant(2, { dependsOn: ["AGI-1"] }),
    variant(3, { status: "Awaiting Merge" }),
    variant(4, { status: "Done" }),
    ticket(5, { group: "other" }),
    ticket(6),
  ];
  expect(rivals("AGI-2", ...all)).toEqual(["AGI-3"]);
  expect(rivals("AGI-3", ...all)).toEqual(["AGI-2", "AGI-1"].toReversed());
  expect(ticketsOfGroup(plan(...all), "g")).toHaveLength(4);
});

test("a ticket without a group, without other variants, or that is canceled cannot be chosen", () => {
  expect(rivals("AGI-9", variant(1))).toBe("ticket_not_found");
  expect(rivals("AGI-1", ticket(1))).toBe("no_variants");
  expect(rivals("AGI-1", variant(1), ticket(2))).toBe("no_variants");
  expect(rivals("AGI-1", variant(1, { status: "Canceled" }), variant(2))).toBe("variant_canceled");
  expect(rivals("AGI-1", variant(1), variant(2, { status: "Canceled" }))).toEqual([]);
});
