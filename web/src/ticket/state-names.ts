// The states of tickets, as options of a filter.

import type { ListedFile } from "./listed-ticket.ts";

export const STATE_NAMES: readonly (readonly [ListedFile["state"], string])[] = [
  ["eligible", "Can start"],
  ["working", "In progress"],
  ["waits", "Waiting for others"],
  ["intervention", "Needs a person"],
  ["refused", "Cannot start"],
  ["awaiting-merge", "Awaiting merge"],
  ["ended", "Ended"],
];
