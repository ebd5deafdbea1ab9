import { expect, test } from "vitest";
import { TICKET_STATUSES, type TicketStatus } from "./status.ts";
import { type IssueState, type LastCompared, phaseOf, trackStep, type TrackedStates } from "./tracked.ts";

const STATES: TrackedStates = { working: "In Progress", done: "Done", canceled: "Canceled" };
const TODO = { name: "Todo", kind: "open" } as const;
const DONE = { name: "Done", kind: "done" } as const;
test("every status of a ticket has a phase", () => {
  expect(Object.groupBy(TICKET_STATUSES, phaseOf)).toMatchObject({
    open: ["Backlog", "Needs Research"],
    attention: ["Blocked", "Needs Human Review", "Needs Human Decision"],
    review: ["Awaiting Merge"],
    done: ["Done"],
    canceled: ["Canceled"],
  });
});

type Case = {
  readonly name: string;
  readonly status: TicketStatus;
  readonly there: IssueState;
  readonly last: LastCompared | null;
  readonly is: "nothing" | "move" | "cancel";
};

test.each<Case>([
  { name: "a new ticket says nothing", status: "Backlog", there: TODO, last: null, is: "nothing" },
  { name: "work begins", status: "Spec In Progress", there: TODO, last: null, is: "move" },
  {
    name: "the next stage is the same phase",
    status: "Plan In Progress",
    there: { name: "In Progress", kind: "started" },
    last: { phase: "working", state: "In Progress" },
    is: "nothing",
  },
  {
    name: "somebody chose another state meanwhile",
    status: "Plan In Progress",
    there: { name: "Paused", kind: "started" },
    last: { phase: "working", state: "In Progress" },
    is: "nothing",
  },
  {
    name: "the work is in",
    status: "Done",
    there: { name: "Paused", kind: "started" },
    last: { phase: "working", state: "Paused" },
    is: "move",
  },
  {
    name: "the move was made and its note lost",
    status: "Done",
    there: DONE,
    last: { phase: "working", state: "In Progress" },
    is: "nothing",
  },
  {
    name: "somebody closed it",
    status: "Plan In Progress",
    there: DONE,
    last: { phase: "working", state: "In Progress" },
    is: "cancel",
  },
  { name: "it was closed before it began", status: "Backlog", there: DONE, last: null, is: "cancel" },
  {
    name: "it is opened again",
    status: "Canceled",
    there: TODO,
    last: { phase: "canceled", state: "Done" },
    is: "nothing",
  },
  {
    name: "a person starts the ticket although its issue stays closed",
    status: "Backlog",
    there: DONE,
    last: { phase: "canceled", state: "Done" },
    is: "nothing",
  },
  { name: "a phase without a name", status: "Blocked", there: TODO, last: null, is: "nothing" },
])("$name: $is", ({ status, there, last, is }) => {
  expect(trackStep(status, there, last, STATES).type).toBe(is);
});
