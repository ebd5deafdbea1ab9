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
  /** Sha-256 of the file's bytes. */
  readonly hash: string;
  /** What Passrail wrote: why it is blocked, where it is proposed, what its run says where a person's status differs. */
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

/** A group becomes a part of a branch's name. */
export function isSafeGroup(group: string): boolean {
  if (!GROUP.test(group)) return false;
  return group.split("/").every((part) => part !== "" && !/^\.|\.\.|\.$|\.lock$/u.test(part));
}

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
