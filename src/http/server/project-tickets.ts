// The ticket files of the daemon's project, as the API sees them.

import type { Result } from "../../core/result.ts";
import type { Actor } from "../../core/run/event.ts";
import type { Run } from "../../core/run/run.ts";
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
  /** Starts the run of a ticket by the same rules as the dispatcher; absent where nothing is performed. */
  readonly start?: (ticket: PlannedTicket, actor: Actor) => Promise<Result<StartedTicket>>;
};

/** `started` is false where an earlier run of the ticket has not ended. */
export type StartedTicket = { readonly run: Pick<Run, "id">; readonly started: boolean };

export type KnownTickets = {
  folder(): Promise<TicketFolder>;
  /** As they were at the last look. Changes are read in the background, so that no caller waits for thousands of files. */
  now(): Promise<TicketsNow>;
  /** As they are at this moment, for a caller that writes. */
  fresh(): Promise<TicketsNow>;
  /** A file was written here: the next caller sees it. */
  wrote(): void;
  close(): void;
};

export type TicketsNow = {
  readonly scan: TicketScan;
  readonly plan: TicketPlan;
  /** By number, newest first, each id once. */
  readonly newestFirst: readonly PlannedTicket[];
  readonly problems: ReadonlyMap<string, readonly TicketProblem[]>;
  /** Ids of tickets with a run that goes on. */
  readonly busy: ReadonlySet<string>;
};
