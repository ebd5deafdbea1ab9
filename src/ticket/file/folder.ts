// The port of the tickets' folder: a person's files, which Passrail reads and writes alongside the person. It does not know runs.

import type { NewTicket } from "../../core/ticket/new-ticket.ts";
import type { Result } from "../../core/result.ts";
import type { Ticket, TicketProblem, TicketScan } from "../../core/ticket/ticket.ts";
import type { CreateHow } from "./create.ts";

/** Keys that Passrail writes into a ticket's front matter. Null removes the key; all others stay as they are, byte for byte. */
export type TicketKeys = {
  readonly status?: string;
  readonly title?: string;
  readonly dependsOn?: readonly string[];
  readonly group?: string | null;
  readonly priority?: number | null;
  readonly repo?: string;
  /** Why it is blocked, with the log's path. */
  readonly last_error?: string | null;
  readonly branch?: string | null;
  readonly pr_url?: string | null;
  /** Number of the newest run. */
  readonly run?: number | null;
  /** The run's status if a person's status differs from it. */
  readonly conflict?: string | null;
};

export type Written = {
  /** Sha-256 of the file's bytes after writing. */
  readonly hash: string;
  /** The status in the file before. */
  readonly before: string;
};

export interface TicketFolder {
  /** The name of the project's own repository in a new ticket. */
  readonly ownRepo: string;
  /** The repository of a new ticket that names none: the own one; TBD where tickets may also name others, because then it is a choice. */
  readonly repo: string;
  /** Reads the changes since the last call; the first call reads everything. Never throws because of a file's content. */
  scan(): Promise<TicketScan>;
  /** The whole text of one file as it is now. */
  text(ticket: Pick<Ticket, "path">): Promise<Result<string>>;
  /**
   * Changes only these keys. `expect` is compared with the file right before it is replaced: on a difference nothing is written and the
   * answer is `ticket_conflict`. A concurrent edit of other parts is kept: the file is read again.
   */
  update(
    ticket: Pick<Ticket, "path">,
    changes: TicketKeys,
    expect?: { readonly status: string },
  ): Promise<Result<Written>>;
  /** Replaces the whole text atomically; calls `change` again if the file changed meanwhile. */
  replace(ticket: Pick<Ticket, "path">, change: (text: string) => Result<string>): Promise<Result<Written>>;
  /** The problems of the file with this text, except those that depend on other files. */
  check(ticket: Pick<Ticket, "path">, text: string): readonly TicketProblem[];
  /** One folder FR-n with all of them, or nothing. Repeating it with the same key returns the same paths. */
  create(tickets: readonly NewTicket[], how: CreateHow): Promise<Result<readonly string[]>>;
  /** Calls back soon after a change in the folder, even if the folder is created later. The returned function stops it. */
  watch(onChange: () => void): () => void;
}
