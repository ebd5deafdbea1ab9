import { expect, test } from "vitest";
import { plainTicket as ticket } from "../../../test/harness/tickets.ts";
import {
  afterRefusal,
  afterStart,
  beginRound,
  type DispatchMemory,
  type DispatchRound,
  endRound,
  NEW_MEMORY,
  takeNext,
} from "./dispatch-round.ts";
import { refusedStart } from "./cannot-start.ts";
import { planTickets } from "./plan.ts";
import type { Ticket } from "./ticket.ts";

const limits = { slots: 1, retryMs: 1000 };
const many = (count: number) => Array.from({ length: count }, (_, at) => ticket(at + 1));
const begin = (tickets: readonly Ticket[], memory: DispatchMemory = NEW_MEMORY, inLine = 0) =>
  beginRound(memory, planTickets({ tickets, problems: [] }, { busy: new Set(), busyBranches: new Set() }), inLine);
const problem = { code: "x", message: "AGI-1 cannot start: no runner" };

/** Starts or refuses every ticket that the round offers. */
function play(first: DispatchRound, starts: (id: string) => boolean, nowMs = 0) {
  const tried: string[] = [];
  const lines: string[] = [];
  let round = first;
  for (;;) {
    const taken = takeNext(round, limits, nowMs);
    ({ round } = taken);
    if (taken.next === undefined) break;
    const { ticket: own } = taken.next;
    tried.push(own.id);
    if (starts(own.id)) round = afterStart(round, own.id);
    else {
      const refused = afterRefusal(round, { ticket: own, problem, atMs: nowMs });
      ({ round } = refused);
      if (refused.line !== undefined) lines.push(refused.line);
    }
  }
  return { tried, ...endRound(round), lines, ended: endRound(round) };
}

test("R-004-59: a round fills the slots and two more, and keeps the rest for later", () => {
  const { tried, memory, ended } = play(begin(many(5)), () => true);
  expect(tried).toEqual(["AGI-1", "AGI-2", "AGI-3"]);
  expect(memory).toMatchObject({ inLine: 3, eligible: 2 });
  expect(ended.again).toBe(false);
  expect(play(begin(many(5), NEW_MEMORY, 3), () => true).tried).toEqual([]);
});

test("a refused ticket does not hold up those behind it, and its reason is logged once until a ticket starts", () => {
  const first = play(begin(many(3)), (id) => id === "AGI-3");
  expect(first.tried).toEqual(["AGI-1", "AGI-2", "AGI-3"]);
  expect(first.lines).toEqual([expect.stringMatching(/^1 ticket cannot start:\n {2}AGI-1 \(\S+\): no runner$/u)]);
  expect([...first.memory.refusals.keys()]).toEqual(["AGI-1", "AGI-2"]);
  expect(first.memory.logged.size).toBe(0);
});

test("a refused ticket is tried again when its file has changed or the pause is over, not before", () => {
  const [own] = many(1) as [Ticket];
  const { memory } = play(begin([own]), () => false, 5000);
  expect(play(begin([own], memory), () => false, 5999).tried).toEqual([]);
  expect(play(begin([own], memory), () => false, 6000).tried).toEqual(["AGI-1"]);
  expect(play(begin([{ ...own, title: "Edited" }], memory), () => false, 5001).tried).toEqual(["AGI-1"]);
});

test("a refusal is forgotten when the ticket cannot start any more", () => {
  const [own] = many(1) as [Ticket];
  const { memory } = play(begin([own]), () => false);
  expect(begin([{ ...own, status: "Done" }], memory).memory.refusals.size).toBe(0);
});

test("after twenty refusals a further round continues behind them", () => {
  const tickets = many(25);
  const first = play(begin(tickets), () => false);
  expect(first.tried).toHaveLength(20);
  expect(first.ended.again).toBe(true);
  const second = play(begin(tickets, first.memory), () => false);
  expect(second.tried).toEqual(["AGI-21", "AGI-22", "AGI-23", "AGI-24", "AGI-25"]);
  expect(second.ended.again).toBe(false);
  expect(second.memory.eligible).toBe(0);
});

test('R-004-57: "No eligible tasks" is logged once until a run is in line again', () => {
  const idle = endRound(begin([]));
  expect(idle.lines).toEqual(["No eligible tasks"]);
  expect(endRound(begin([], idle.memory)).lines).toEqual([]);
  const busy = endRound(begin([], idle.memory, 1));
  expect(busy.lines).toEqual([]);
  expect(endRound(begin([], busy.memory)).lines).toEqual(["No eligible tasks"]);
  expect(play(begin(many(1)), () => false).ended.lines).toEqual([]);
});

test("R-004-28, R-004-36: each ticket that cannot start is told once, again when its reason changes, and not twice if its start was refused", () => {
  const stuck = (why: string) => ({ stuck: [{ ticket: "AGI-1", path: "p/AGI-1.md", line: 4, why }], warnings: [] });
  const first = endRound(begin([]), stuck("no repo"));
  expect(first.lines).toEqual(["1 ticket cannot start:", "  AGI-1 (p/AGI-1.md:4): no repo", "No eligible tasks"]);
  const second = endRound(begin([], first.memory), stuck("no repo"));
  expect(second.lines).toEqual([]);
  const mended = endRound(begin([], second.memory));
  expect(endRound(begin([], mended.memory), stuck("no repo")).lines).toHaveLength(2);
  expect(endRound(begin([], second.memory), stuck("a typo")).lines[1]).toContain("a typo");
  const warned = endRound(begin([]), { stuck: [], warnings: ["warning: x"] });
  expect(warned.lines).toEqual(["warning: x", "No eligible tasks"]);
  expect(endRound(begin([], warned.memory), { stuck: [], warnings: ["warning: x"] }).lines).toEqual([]);
  const tickets = many(2);
  const { round } = afterRefusal(begin(tickets), { ticket: tickets[0] as Ticket, problem, atMs: 0 });
  const both = tickets.map((each) => refusedStart(each, problem));
  expect(endRound(round, { stuck: both, warnings: [] }).lines).toEqual([
    "1 ticket cannot start:",
    expect.stringContaining("AGI-2 ("),
  ]);
});
