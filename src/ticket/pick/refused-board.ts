// The starts that the dispatcher was refused in its last round, for the API of the same process: both then say the same about a ticket.

import type { RefusedStarts } from "../../core/ticket/cannot-start.ts";

export type RefusedBoard = {
  /** Replaces the earlier ones. */
  set(refused: RefusedStarts): void;
  now(): RefusedStarts;
};

export function createRefusedBoard(): RefusedBoard {
  let known: RefusedStarts = new Map();
  return {
    set(refused) {
      known = refused;
    },
    now: () => known,
  };
}
