// A ticket as lists and the board show it.

import type { AnswerTo } from "../../../src/http/client/input.ts";

export type ListedTicket = AnswerTo<"listTickets">["tickets"][number];
export type ListedFile = NonNullable<ListedTicket["file"]>;

/** A run that has ended does not end a ticket whose file was moved since. */
export function hasEnded({ status, file }: Pick<ListedTicket, "status" | "file">): boolean {
  if (status !== null && status !== "completed" && status !== "canceled") return false;
  return file === null || file.state === "ended";
}
