// Queries and changes of the ticket pages.

import { queryOptions } from "@tanstack/react-query";
import { call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import type { InputTo } from "../../../src/http/client/input.ts";

export const problemsQuery = queryOptions({
  queryKey: ["ticket-problems"],
  queryFn: ({ signal }) => call("ticketProblems", {}, { signal }),
});

export type TicketEdit = NonNullable<InputTo<"editTicket">["body"]>;

/** `version`: of the file that the person saw; the daemon refuses to overwrite a newer one. */
export async function changeTicket(id: string, changes: TicketEdit, version: string): Promise<void> {
  await call("editTicket", { params: { ticket: id }, body: changes }, { ifMatch: version });
  await askAgain(id);
}

/** Live events do this too; this call shows the change to its author at once. */
export async function askAgain(id: string): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ["ticket", id] }),
    queryClient.invalidateQueries({ queryKey: ["tickets"] }),
    queryClient.invalidateQueries({ queryKey: ["ticket-problems"] }),
  ]);
}
