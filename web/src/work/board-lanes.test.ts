import { expect, test } from "vitest";
import { hasEnded } from "../ticket/listed-ticket.ts";
import { ticketFile, ticketWith } from "../ticket/ticket.testsuite.ts";
import { firstOfInterest, stateLanes, wordLanes } from "./board-lanes.ts";
import { itemsOf } from "./item.ts";

const STATUSES = ["pending", "building", "review", "escalated", "shipped", "canceled"];
const gate = { id: "r0123456789.1", kind: "gate" as const, stage: "ship", who: "owner", answers: ["approve"] };
const shape = (lanes: ReturnType<typeof wordLanes>) => lanes.map(({ word, items }) => [word, items.length]);

test("R-000-40: by words there is one lane per status in the flow's order, empty ones too", () => {
  const tickets = [ticketWith({ id: "A" }), ticketWith({ id: "B", word: "review" })];
  expect(shape(wordLanes(STATUSES, itemsOf(tickets, [])))).toEqual([
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
  const lanes = wordLanes(STATUSES, itemsOf(tickets, []));
  expect(lanes.at(0)?.word).toBe("inventing");
  expect(lanes.at(-1)?.word).toBe("archived");
  expect(lanes.flatMap((lane) => lane.items)).toHaveLength(2);
});

test("in a lane comes first what waits for a person, then what moved last", () => {
  const waiting = { status: "waiting" as const, state: { is: "waiting" as const, text: "", until: null } };
  const tickets = [
    ticketWith({ id: "old", updatedAt: "2026-03-01T08:00:00.000Z" }),
    ticketWith({ id: "new", updatedAt: "2026-03-01T09:00:00.000Z" }),
    ticketWith({ id: "asks", updatedAt: "2026-03-01T07:00:00.000Z", waits: [gate], ...waiting }),
  ];
  const lanes = wordLanes(STATUSES, itemsOf(tickets, []));
  expect(lanes[1]?.items.map(({ id }) => id)).toEqual(["asks", "new", "old"]);
  expect(firstOfInterest(stateLanes(itemsOf(tickets, [])))?.word).toBe("Waiting for you");
});

test("by state there are six lanes, whatever the flows call it; a file counts when it has no open run", () => {
  const lanes = stateLanes(
    itemsOf(
      [
        ticketFile({}, { id: "AGI-1" }),
        ticketFile({ status: "Done", state: "ended" }, { id: "AGI-2" }),
        ticketFile({ status: "Blocked", state: "intervention" }, { id: "AGI-3" }),
        ticketFile({ state: "refused" }, { id: "AGI-4" }),
        ticketWith({ id: "A" }),
        ticketWith({ id: "B", state: { is: "paused", text: "", until: null }, paused: true }),
        ticketWith({ id: "C", status: "stopped", state: { is: "stopped", text: "it crashed", until: null } }),
        ticketWith({ id: "D", state: { is: "merging", text: "", until: null } }),
      ],
      [],
    ),
  );
  expect(lanes.map(({ word, items }) => [word, items.map(({ id }) => id).toSorted()])).toEqual([
    ["Backlog", ["AGI-1"]],
    ["Under way", ["A", "B"]],
    ["Waiting for you", ["AGI-3", "AGI-4"]],
    ["To merge", ["D"]],
    ["Done", ["AGI-2"]],
    ["Stopped", ["C"]],
  ]);
  expect(hasEnded(ticketFile({}))).toBe(false);
  expect(hasEnded(ticketFile({ state: "ended" }))).toBe(true);
  expect(hasEnded(ticketFile({ state: "eligible" }, { status: "canceled" }))).toBe(false);
});

test("a completed run whose work has not landed is in To merge and says so", () => {
  const done = ticketWith({ id: "A", status: "completed", state: { is: "completed", text: "", until: null } });
  const end = {
    id: "merge:r0123456789",
    kind: "merge" as const,
    title: "Export",
    text: "Two commits are on passrail/r0123456789.",
    since: null,
    run: { id: "r0123456789", number: 1 },
    ticket: "A",
    verbs: [],
  };
  expect(itemsOf([done], []).map(({ is, lane }) => [is, lane])).toEqual([["completed", "done"]]);
  expect(itemsOf([done], [end]).map(({ is, lane }) => [is, lane])).toEqual([["notLanded", "merge"]]);
});
