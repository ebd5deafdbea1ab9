// How a ticket can stand among the others, as a choice of a filter.

import type { Ticket } from "../board/lanes.ts";

export const STATE_NAMES: readonly (readonly [NonNullable<Ticket["file"]>["state"], string])[] = [
  ["eligible", "Can start"],
  ["working", "Worked on"],
  ["waits", "Waits for others"],
  ["intervention", "Needs a person"],
  ["refused", "Cannot start"],
  ["awaiting-merge", "Awaiting merge"],
  ["ended", "Ended"],
];
