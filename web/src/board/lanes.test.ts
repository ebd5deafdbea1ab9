import { expect, test } from "vitest";
import { busiestFlow, lanesOf } from "./lanes.ts";
import { hasEnded } from "../ticket/listed-ticket.ts";
import { ticketFile, ticketWith } from "../ticket/ticket.testsuite.ts";

const STATUSES = ["pending", "building", "review", "escalated", "shipped", "canceled"];
const gate = { id: "r0123456789.1", kind: "gate" as const, stage: "ship", who: "owner", answers: ["approve"] };

test("R-000-40: there is one lane per status in the flow's order, empty ones too", () => {
  const lanes = lanesOf(STATUSES, [ticketWith({ id: "A" }), ticketWith({ id: "B", word: "review" })]);
  expect(lanes.map(({ word, tickets }) => [word, tickets.length])).toEqual([
    ["pending", 0],
    ["building", 1],
    ["review", 1],
    ["escalated", 0],
    ["shipped", 0],
    ["canceled", 0],
  ]);
});

test("R-X-06: a word that the flow does not list has its own lane, and no ticket is left out", () => {
  const tickets = [
    ticketWith({ id: "A", word: "inventing" }),
    ticketWith({ id: "B", word: "archived", status: "completed" }),
  ];
  const lanes = lanesOf(STATUSES, tickets);
  expect(lanes.at(0)?.word).toBe("inventing");
  expect(lanes.at(-1)?.word).toBe("archived");
  expect(lanes.flatMap((lane) => lane.tickets)).toHaveLength(2);
});

test("in a lane comes first what waits for a person, then what moved last", () => {
  const tickets = [
    ticketWith({ id: "old", updatedAt: "2026-03-01T08:00:00.000Z" }),
    ticketWith({ id: "new", updatedAt: "2026-03-01T09:00:00.000Z" }),
    ticketWith({ id: "asks", updatedAt: "2026-03-01T07:00:00.000Z", waits: [gate] }),
  ];
  expect(lanesOf(STATUSES, tickets)[1]?.tickets.map(({ id }) => id)).toEqual(["asks", "new", "old"]);
});

test("the board opens with the flow that has most under way, else with what moved last, else with any", () => {
  const done = { status: "completed" as const, agent: null };
  const tickets = [
    ticketWith({ flow: "story", ...done, updatedAt: "2026-03-02T00:00:00.000Z" }),
    ticketWith({ flow: "story", ...done }),
    ticketWith({ flow: "feature" }),
  ];
  expect(busiestFlow(["ticket"], tickets)).toBe("feature");
  expect(busiestFlow(["ticket"], tickets.slice(0, 2))).toBe("story");
  expect(busiestFlow(["ticket"], [])).toBe("ticket");
  expect(busiestFlow([], [])).toBeUndefined();
});

test("tickets without a run have their lanes, too, and are over only when their file says so", () => {
  const lanes = lanesOf(["Backlog", "Done"], [ticketFile({}), ticketFile({ status: "Done", state: "ended" })]);
  expect(lanes.map(({ word, tickets }) => [word, tickets.length])).toEqual([
    ["Backlog", 1],
    ["Done", 1],
  ]);
  expect(hasEnded(ticketFile({}))).toBe(false);
  expect(hasEnded(ticketFile({ state: "ended" }))).toBe(true);
  expect(hasEnded(ticketFile({ state: "eligible" }, { status: "canceled" }))).toBe(false);
  expect(busiestFlow(["feature"], [ticketFile({})])).toBe("ticket");
});
