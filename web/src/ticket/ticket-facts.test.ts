import type { RunStateName } from "../../../src/core/view/state-words.ts";
import { expect, test } from "vitest";
import { waitText } from "../../../src/core/view/wait-text.ts";
import { costText, isStalled, loopBadges, shortId, standingOf, ticketOrigin } from "./ticket-facts.ts";
import { ticketFile, ticketWith } from "./ticket.testsuite.ts";

const now = Date.parse("2026-03-01T10:00:00.000Z");
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const counted = (loops: number, max: number | null = 2) =>
  ticketWith({ counters: loops === 0 ? [] : [{ key: "revision", loops, max }], loops });

test("R-000-38: the loop badge is there only above 0, says n of max, and changes its tone at 1 and at the maximum", () => {
  expect(loopBadges(counted(0))).toEqual([]);
  expect(loopBadges(counted(1))).toEqual([
    { key: "revision", text: "1/2", title: "Revision loop 1 of 2", tone: "warning" },
  ]);
  expect(loopBadges(counted(2))).toMatchObject([{ text: "2/2", title: "Revision loop 2 of 2", tone: "bad" }]);
  expect(loopBadges(counted(7, null))).toMatchObject([{ text: "7", title: "Revision loop 7", tone: "warning" }]);
});

test("with several counters each badge names its own", () => {
  const ticket = ticketWith({
    counters: [
      { key: "be.review", loops: 1, max: 2 },
      { key: "test", loops: 2, max: 2 },
    ],
  });
  expect(loopBadges(ticket).map(({ text }) => text)).toEqual(["be.review 1/2", "test 2/2"]);
});

test("R-000-41: escalated is a state, not a count", () => {
  const is = (name: RunStateName) => ({ state: { is: name, text: "", until: null } });
  expect(standingOf(ticketWith({ status: "waiting", loops: 2, ...is("waiting") }))).toBe("waiting");
  expect(standingOf(ticketWith({ status: "waiting", loops: 0, ...is("escalated") }))).toBe("escalated");
  expect(standingOf(counted(2))).toBe("revising");
  expect(standingOf(ticketWith(is("paused")))).toBe("paused");
  expect(standingOf(ticketWith({ agent: null, ...is("merging") }))).toBe("merging");
  expect(standingOf(ticketWith({ status: "completed", agent: null, ...is("completed") }))).toBe("completed");
});

test("R-000-42: stalled means more than five minutes without a sign of life while an agent runs", () => {
  expect(isStalled(ticketWith({ activeAt: ago(5) }), now)).toBe(false);
  expect(isStalled(ticketWith({ activeAt: ago(5.1) }), now)).toBe(true);
  expect(isStalled(ticketWith({ activeAt: ago(60), agent: null }), now)).toBe(false);
  expect(isStalled(ticketWith({ activeAt: ago(60), status: "waiting", agent: null }), now)).toBe(false);
  expect(isStalled(ticketWith({ activeAt: ago(60), paused: true }), now)).toBe(false);
});

test("a cost that is not known is never a zero", () => {
  expect(costText({ usd: 0, unknownUsd: 0 })).toBe("—");
  expect(costText({ usd: 0, unknownUsd: 2 })).toBe("—");
  expect(costText({ usd: 1.5, unknownUsd: 1 })).toBe("≥ $1.50");
  expect(costText({ usd: 2, unknownUsd: 0 })).toBe("$2.00");
  expect(costText({ usd: 0.001, unknownUsd: 0 })).toBe("<$0.01");
});

test("an id that a machine made is shortened, one that a person gave is not", () => {
  expect(shortId("d337c79a11dd4233af8d2c597b7df544")).toBe("d337c79a…");
  expect(shortId("v0.1:1.1.1")).toBe("v0.1:1.1.1");
});

test("R-000-41: what is waited for reads as words", () => {
  const item = { id: "r0123456789.2", kind: "gate" as const, stage: "ship", who: "owner", answers: [] };
  expect(waitText(item)).toBe("Decision for owner at ship");
});

test("a ticket that nothing has worked on stands as its file says, and belongs to its request", () => {
  expect(standingOf(ticketFile({ state: "eligible" }))).toBe("ready");
  expect(standingOf(ticketFile({ state: "waits" }))).toBe("others");
  expect(standingOf(ticketFile({ state: "refused" }))).toBe("refused");
  expect(standingOf(ticketFile({ state: "intervention", status: "Blocked" }))).toBe("person");
  expect(standingOf(ticketFile({ state: "ended", status: "Done" }))).toBe("completed");
  expect(standingOf(ticketFile({ state: "ended", status: "Canceled" }))).toBe("canceled");
  expect(ticketOrigin(ticketFile({}))).toBe("FR-1");
  expect(isStalled(ticketFile({}), now)).toBe(false);
});

test("a run that goes on is what counts; one that has ended gives way to a file that was moved since", () => {
  const run = { newest: { id: "r0123456789", number: 4 }, runs: 1 };
  const state = { is: "working", text: "worker works on plan #1", until: null } as const;
  const working = ticketFile({ state: "working" }, { ...run, status: "running", agent: "worker", state });
  expect(standingOf(working)).toBe("working");
  expect(ticketOrigin(working)).toBe("#4");
  expect(standingOf(ticketFile({ state: "eligible" }, { ...run, status: "canceled" }))).toBe("ready");
});
