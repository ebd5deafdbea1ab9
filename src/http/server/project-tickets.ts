// The ticket files of the daemon's project, as the API sees them.

import type { Problem, Result } from "../../core/result.ts";
import type { Actor } from "../../core/run/event.ts";
import type { Run } from "../../core/run/run.ts";
import type { RefusedStarts } from "../../core/ticket/cannot-start.ts";
import type { PickRulesOf } from "../../core/ticket/pick-rules.ts";
import type { PlannedTicket, TicketPlan } from "../../core/ticket/plan.ts";
import type { TicketProblem, TicketScan } from "../../core/ticket/ticket.ts";
import type { TicketFolder } from "../../ticket/file/folder.ts";

export type ProjectTickets = {
  readonly known: KnownTickets;
  readonly project: string;
  /** The folder, relative to the project. */
  readonly path: string;
  /** The flow of tickets that name none. */
  readonly flow: string;
  /** The name of the project's own repository in a new ticket. */
  readonly repo: string;
  /** Why finished work could not leave; tickets wait until it can. */
  readonly cannotLeave?: () => readonly Problem[];
  /** The starts that the dispatcher of this process was refused. */
  readonly refused?: () => RefusedStarts;
  /** Starts the run of a ticket by the rules of the dispatcher; absent if this process does not perform. */
  readonly start?: (ticket: PlannedTicket, actor: Actor) => Promise<Result<StartedTicket>>;
};

/** `started` is false if an earlier run of the ticket has not ended. */
export type StartedTicket = { readonly run: Pick<Run, "id">; readonly started: boolean };

export type KnownTickets = {
  folder(): Promise<TicketFolder>;
  /** From the last scan. Changes are read in the background, so that no caller waits for thousands of files. */
  now(): Promise<TicketsNow>;
  /** From a scan that begins now, for a caller that writes. */
  fresh(): Promise<TicketsNow>;
  /** The server wrote a file: the next caller sees it. */
  wrote(): void;
  close(): void;
};

export type TicketsNow = {
  readonly scan: TicketScan;
  readonly plan: TicketPlan;
  /** By number, newest first, without duplicate ids. */
  readonly newestFirst: readonly PlannedTicket[];
  readonly problems: ReadonlyMap<string, readonly TicketProblem[]>;
  /** Ids of tickets with an open run. */
  readonly busy: ReadonlySet<string>;
  /** The rules behind the decision. */
  readonly rules: PickRulesOf;
};
