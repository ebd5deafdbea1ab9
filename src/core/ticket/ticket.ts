// A ticket as its file describes it: the work, its dependencies and its status. src/ticket reads and writes the file; plan.ts decides which
// ticket may start.

import type { TicketStatus } from "./status.ts";

export type Ticket = {
  /** AGI-7; the prefix is a setting. */
  readonly id: string;
  readonly number: number;
  readonly title: string;
  /** The description from the front matter; the body of the file if there is none. */
  readonly description: string;
  /** The text below the front matter. */
  readonly body: string;
  /** "TBD" if not decided yet; such a ticket waits. */
  readonly repo: string;
  readonly status: TicketStatus;
  readonly dependsOn: readonly string[];
  /** Tickets of one group share a branch. */
  readonly group: string | null;
  /** `branch: adopt`: a person gives Passrail the existing branch of that name. */
  readonly adoptsBranch?: boolean;
  /** The value of `branch`: where it worked last, or where its author wants it to work. */
  readonly branch?: string;
  readonly variantHint: string | null;
  /** Lower comes first; tickets with null follow by number. */
  readonly priority: number | null;
  /** `oneshot`: all of it in one stage. */
  readonly workflow: string | null;
  /** A flow other than the one for tickets. */
  readonly flow: string | null;
  /** FR-2: the folder, one per request. */
  readonly request: string;
  /** Relative to the project, with `/`. */
  readonly path: string;
  /** Sha-256 of the file's bytes. */
  readonly hash: string;
  /** Written by Passrail: why it is blocked, where it is proposed, and the run's status if a person's differs. */
  readonly lastError: string | null;
  readonly prUrl: string | null;
  readonly conflict: string | null;
  /** Where it was imported from: github:owner/repo#12. */
  readonly source: string | null;
};

/** S12: ids become parts of paths and branches. */
export function ticketNumber(id: string, prefix: string): number | undefined {
  const [letters, digits = ""] = id.split("-", 2);
  return letters === prefix && id === `${prefix}-${digits}` && /^[1-9][0-9]{0,8}$/u.test(digits)
    ? Number(digits)
    : undefined;
}

const GROUP = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,59}$/u;
export const GROUP_PATTERN =
  "1 to 60 letters, digits, - _ / . that begin with a letter or digit, without .. // or .lock";

/** A group becomes a part of a branch name. */
export function isSafeGroup(group: string): boolean {
  if (!GROUP.test(group)) return false;
  return group.split("/").every((part) => part !== "" && !/^\.|\.\.|\.$|\.lock$/u.test(part));
}

/** A problem with a file or its relation to others. `refused`: the ticket does not start; `warning`: it starts, and people see this. */
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

/** The contents of the tickets folder. A ticket with a refusing problem is in `tickets` only if its status and id were readable. */
export type TicketScan = {
  readonly tickets: readonly Ticket[];
  readonly problems: readonly TicketProblem[];
};
