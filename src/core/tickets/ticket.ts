// A ticket as its file tells it: the work, what has to be finished before, and where it stands. Reading and writing the file is in
// src/tickets; which ticket may start is in plan.ts.

import type { TicketStatus } from "./status.ts";

export type Ticket = {
  /** AGI-7; the prefix is a setting. */
  readonly id: string;
  readonly number: number;
  readonly title: string;
  /** The front matter's own text of the work; the body of the file where there is none. */
  readonly description: string;
  /** What stands below the front matter. */
  readonly body: string;
  /** "TBD" where nobody has said yet; such a ticket waits. */
  readonly repo: string;
  readonly status: TicketStatus;
  readonly dependsOn: readonly string[];
  /** Tickets of one group share a branch. */
  readonly group: string | null;
  readonly variantHint: string | null;
  /** Lower comes first; null: by number after those that have one. */
  readonly priority: number | null;
  /** `oneshot`: all of it in one stage. */
  readonly workflow: string | null;
  /** Another flow than the one for tickets. */
  readonly flow: string | null;
  /** FR-2: the folder, which stands for one request. */
  readonly request: string;
  /** Relative to the project, with `/`. */
  readonly path: string;
};

/** What is wrong with a file or its place among the others. `refused`: the ticket is not started; `warning`: it is, and people see this. */
export type TicketProblem = {
  readonly code: string;
  readonly message: string;
  readonly severity: "refused" | "warning";
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  /** The ticket's id where it could be read. */
  readonly ticket?: string;
};

/** Everything that the folder of tickets holds. A ticket with a refusing problem of its own is in `tickets` only if its status and id could be read. */
export type TicketScan = {
  readonly tickets: readonly Ticket[];
  readonly problems: readonly TicketProblem[];
};
