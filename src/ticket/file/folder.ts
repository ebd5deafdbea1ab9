// The port of the tickets' folder: a person's files, read and written beside the person. Nothing here knows runs.

import type { NewTicket } from "../../core/ticket/new-ticket.ts";
import type { Result } from "../../core/result.ts";
import type { Ticket, TicketProblem, TicketScan } from "../../core/ticket/ticket.ts";
import type { CreateHow } from "./create.ts";

/** Keys that Passrail writes into a ticket's front matter. Null removes the key; what is not named stays as it is, byte for byte. */
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
  /** What the run says where a person's status differs from it. */
  readonly conflict?: string | null;
};

export type Written = {
  /** Sha-256 of the file's bytes after writing. */
  readonly hash: string;
  /** The status that stood there before. */
  readonly before: string;
};

export interface TicketFolder {
  /** Reads what has changed since the last call; the first call reads everything. Never throws for what is in the files. */
  scan(): Promise<TicketScan>;
  /** The whole text of one file as it is now. */
  text(ticket: Pick<Ticket, "path">): Promise<Result<string>>;
  /**
   * Changes only these keys. `expect` is compared with the file at the last moment before it is replaced: where it differs nothing is
   * written and the answer is `ticket_conflict`. An edit of other parts in between is kept: the file is read again.
   */
  update(
    ticket: Pick<Ticket, "path">,
    changes: TicketKeys,
    expect?: { readonly status: string },
  ): Promise<Result<Written>>;
  /** The whole text anew, at once; `change` is asked again where the file was changed meanwhile. */
  replace(ticket: Pick<Ticket, "path">, change: (text: string) => Result<string>): Promise<Result<Written>>;
  /** What would be wrong with the file if it had this text; not what only shows beside the others. */
  check(ticket: Pick<Ticket, "path">, text: string): readonly TicketProblem[];
  /** One folder FR-n with all of them, or nothing. Asking again with the same key gives the same paths. */
  create(tickets: readonly NewTicket[], how: CreateHow): Promise<Result<readonly string[]>>;
  /** Called soon after something in the folder has changed, also when the folder comes into being later. Ends with the returned function. */
  watch(onChange: () => void): () => void;
}
