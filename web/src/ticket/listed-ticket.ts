// A ticket as lists and the board show it.

import type { AnswerTo } from "../../../src/http/client/input.ts";

export type ListedTicket = AnswerTo<"listTickets">["tickets"][number];
export type ListedFile = NonNullable<ListedTicket["file"]>;

/** A ticket whose file was moved after its run ended is open again. */
export function hasEnded({ status, file }: Pick<ListedTicket, "status" | "file">): boolean {
  if (status !== null && status !== "completed" && status !== "canceled") return false;
  return file === null || file.state === "ended";
}
