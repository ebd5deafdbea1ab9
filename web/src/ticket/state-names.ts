// How a ticket can stand among the others, as a choice of a filter.

import type { ListedFile } from "./listed-ticket.ts";

export const STATE_NAMES: readonly (readonly [ListedFile["state"], string])[] = [
  ["eligible", "Can start"],
  ["working", "Worked on"],
  ["waits", "Waits for others"],
  ["intervention", "Needs a person"],
  ["refused", "Cannot start"],
  ["awaiting-merge", "Awaiting merge"],
  ["ended", "Ended"],
];
