import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { plainTicket as ticket } from "../../../test/harness/tickets.ts";
import { DEFAULT_PICK_RULES, type PickRules, pickRules } from "./pick-rules.ts";
import { planTickets } from "./plan.ts";
import type { Ticket } from "./ticket.ts";

const nobody = { busy: new Set<string>(), busyBranches: new Set<string>() };
const planned = (tickets: readonly Ticket[], rules: Partial<PickRules>, busy: readonly string[] = []) =>
  planTickets({ tickets, problems: [] }, { ...nobody, busy: new Set(busy) }, () => ({
    ...DEFAULT_PICK_RULES,
    ...rules,
  })).tickets;

test("the shipped flow for tickets writes out the default rules", () => {
  expect(pickRules(shippedFlow("ticket"))).toEqual(DEFAULT_PICK_RULES);
  expect(pickRules({ enter: {} })).toEqual(DEFAULT_PICK_RULES);
});

test("R-004-37: `satisfied` decides which statuses of a dependency let a ticket start", () => {
  const tickets = [
    ticket(1, { status: "Blocked" }),
    ticket(2, { status: "Done" }),
    ticket(3, { dependsOn: ["AGI-1"] }),
    ticket(4, { dependsOn: ["AGI-2"] }),
  ];
  const found = planned(tickets, { satisfied: pickRules({ enter: {}, pick: { satisfied: ["Blocked"] } }).satisfied });
  expect(found.get("AGI-3")).toMatchObject({ state: "eligible" });
  expect(found.get("AGI-4")).toMatchObject({ state: "waits", on: [{ ticket: "AGI-2", why: "Done" }] });
});

test("R-004-39: `skip` leaves tickets of a status to a person", () => {
  const { skip } = pickRules({ enter: {}, pick: { skip: ["Backlog"] } });
  const found = planned([ticket(1), ticket(2, { status: "Needs Plan" }), ticket(3, { status: "Blocked" })], { skip });
  expect(found.get("AGI-1")).toMatchObject({ state: "intervention", why: "Backlog: a person has to act" });
  expect(found.get("AGI-2")).toMatchObject({ state: "eligible" });
  expect(found.get("AGI-3")).toMatchObject({ state: "intervention" });
});

test("without depends-on-satisfied a ticket starts whatever became of those before it, also in a circle", () => {
  const { waitsForDependencies } = pickRules({ enter: {}, pick: { needs: ["actionable-status", "branch-free"] } });
  const tickets = [ticket(1, { dependsOn: ["AGI-2"] }), ticket(2, { dependsOn: ["AGI-1", "AGI-99"] })];
  const states = (given: Partial<PickRules>) => [...planned(tickets, given).values()].map(({ state }) => state);
  expect(states({ waitsForDependencies })).toEqual(["eligible", "eligible"]);
  expect(states({})).toEqual(["refused", "refused"]);
});

test("`enter` decides from which statuses a ticket starts, and only where `skip` does not list them", () => {
  const enter = { Backlog: [{ stage: "a" }], Blocked: [{ stage: "a" }], Done: [{ stage: "a" }] };
  const own = [
    ticket(1),
    ticket(2, { status: "Needs Plan" }),
    ticket(3, { status: "Blocked" }),
    ticket(4, { status: "Done" }),
    ticket(5, { status: "Blocked" }),
  ];
  const states = (skip: string[] | undefined) =>
    [...planned(own, pickRules({ enter, ...(skip === undefined ? {} : { pick: { skip } }) }), ["AGI-5"]).values()].map(
      ({ state }) => state,
    );
  expect(states(undefined)).toEqual(["eligible", "intervention", "intervention", "ended", "intervention"]);
  expect(states([])).toEqual(["eligible", "intervention", "eligible", "ended", "intervention"]);
});

test("every ticket is judged by the rules of its own flow", () => {
  const tickets = [ticket(1), ticket(2, { flow: "strict" })];
  const strict = pickRules({ enter: {}, pick: { skip: ["Backlog"] } });
  const { eligible } = planTickets({ tickets, problems: [] }, nobody, (flow) =>
    flow === "strict" ? strict : DEFAULT_PICK_RULES,
  );
  expect(eligible.map(({ id }) => id)).toEqual(["AGI-1"]);
});
