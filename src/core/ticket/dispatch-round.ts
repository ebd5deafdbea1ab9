// One round of the dispatcher as pure steps: which startable ticket to try next, and what follows when it starts or is refused. A round
// fills the slots and a little more, so that a free slot always finds a ready run.

import { optional } from "../optional.ts";
import type { Problem } from "../result.ts";
import { type CannotStart, cannotStartLines, formatCannotStart, refusedStart } from "./cannot-start.ts";
import type { PlannedTicket, TicketPlan } from "./plan.ts";
import type { Ticket } from "./ticket.ts";

/** A ticket that could not start, with its file at that time. */
export type TicketRefusal = { readonly ticket: Ticket; readonly problem: Problem; readonly atMs: number };

/** The dispatcher's memory between rounds. */
export type DispatchMemory = {
  readonly refusals: ReadonlyMap<string, TicketRefusal>;
  /** Reasons logged since a ticket last started. */
  readonly logged: ReadonlySet<string>;
  /** The last messages about tickets that cannot start or are doubtful, a line each. */
  readonly told: ReadonlySet<string>;
  readonly saidIdle: boolean;
  /** Tickets that could start and have not been tried yet. */
  readonly eligible: number;
  /** Runs that work, or begin as soon as a slot is free. */
  readonly inLine: number;
};

export type DispatchLimits = {
  readonly slots: number;
  /** A refused ticket is tried again after this time, or as soon as its file has changed. */
  readonly retryMs: number;
};

export type DispatchRound = {
  readonly memory: DispatchMemory;
  /** Tickets not tried yet, in order. */
  readonly queue: readonly PlannedTicket[];
  readonly refusedNow: number;
  readonly refusalsBefore: number;
};

export const NEW_MEMORY: DispatchMemory = {
  refusals: new Map(),
  logged: new Set(),
  told: new Set(),
  saidIdle: false,
  eligible: 0,
  inLine: 0,
};

/** Runs beyond the slots: they begin the moment a slot is free. */
const LOOK_AHEAD = 2;

/** The number of refusals that ends a round; the next round continues after them. */
const REFUSALS_PER_ROUND = 20;

export function beginRound(memory: DispatchMemory, plan: TicketPlan, inLine: number): DispatchRound {
  const queue = plan.eligible.flatMap(({ id }) => plan.tickets.get(id) ?? []);
  const refusals = new Map([...memory.refusals].filter(([id]) => plan.tickets.get(id)?.state === "eligible"));
  return {
    memory: { ...memory, refusals, inLine, eligible: plan.eligible.length },
    queue,
    refusedNow: 0,
    refusalsBefore: refusals.size,
  };
}

/** The next ticket to start; none if the slots are filled, enough were refused, or no ticket is left. */
export function takeNext(
  round: DispatchRound,
  { slots, retryMs }: DispatchLimits,
  nowMs: number,
): { readonly round: DispatchRound; readonly next?: PlannedTicket } {
  const { memory, queue, refusedNow } = round;
  if (memory.inLine >= slots + LOOK_AHEAD || refusedNow >= REFUSALS_PER_ROUND) return { round };
  const at = queue.findIndex(({ ticket }) => !isRefusedStill(memory.refusals.get(ticket.id), ticket, nowMs - retryMs));
  const taken = at === -1 ? queue.length : at + 1;
  const left = { ...memory, eligible: memory.eligible - taken };
  return { round: { ...round, memory: left, queue: queue.slice(taken) }, ...optional({ next: queue[at] }) };
}

export function afterStart(round: DispatchRound, id: string): DispatchRound {
  const { memory } = round;
  const refusals = new Map([...memory.refusals].filter(([other]) => other !== id));
  return { ...round, memory: { ...memory, refusals, logged: new Set(), inLine: memory.inLine + 1 } };
}

/** `line`: the reason for the log, once for all tickets that it blocks. */
export function afterRefusal(
  round: DispatchRound,
  refusal: TicketRefusal,
): { readonly round: DispatchRound; readonly line?: string } {
  const { memory } = round;
  const { message } = refusal.problem;
  const reason = message.slice(message.indexOf(": ") + 1);
  const isNew = !memory.logged.has(reason);
  const next: DispatchMemory = {
    ...memory,
    refusals: new Map(memory.refusals).set(refusal.ticket.id, refusal),
    logged: isNew ? new Set(memory.logged).add(reason) : memory.logged,
    told: isNew ? new Set(memory.told).add(tellingOf(refusal)) : memory.told,
  };
  const line = cannotStartLines([refusedStart(refusal.ticket, refusal.problem)]).join("\n");
  return { round: { ...round, memory: next, refusedNow: round.refusedNow + 1 }, ...(isNew ? { line } : {}) };
}

/** Messages for people about the files of tickets. */
export type Doubts = { readonly stuck: readonly CannotStart[]; readonly warnings: readonly string[] };
const NO_DOUBTS: Doubts = { stuck: [], warnings: [] };

/** `again`: tickets after the refused ones wait for another round. Tickets that cannot start, and warnings, are reported once until they change. */
export function endRound(
  { memory, refusedNow, refusalsBefore }: DispatchRound,
  { stuck, warnings }: Doubts = NO_DOUBTS,
): {
  readonly memory: DispatchMemory;
  readonly again: boolean;
  readonly lines: readonly string[];
} {
  const again = refusedNow >= REFUSALS_PER_ROUND && memory.refusals.size > refusalsBefore;
  const isNews = (line: string): boolean => !memory.told.has(line);
  const lines = [
    ...warnings.filter(isNews),
    ...cannotStartLines(stuck.filter((each) => isNews(formatCannotStart(each)))),
  ];
  const after = { ...memory, told: new Set([...warnings, ...stuck.map(formatCannotStart)]) };
  if (memory.inLine > 0) return { memory: { ...after, saidIdle: false }, again, lines };
  if (memory.saidIdle || memory.refusals.size > 0) return { memory: after, again, lines };
  return { memory: { ...after, saidIdle: true }, again, lines: [...lines, "No eligible tasks"] };
}

function tellingOf({ ticket, problem }: TicketRefusal): string {
  return formatCannotStart(refusedStart(ticket, problem));
}

function isRefusedStill(refusal: TicketRefusal | undefined, ticket: Ticket, sinceMs: number): boolean {
  return refusal !== undefined && refusal.ticket === ticket && refusal.atMs > sinceMs;
}
