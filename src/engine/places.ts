// Where an attempt is carried out: here, or by a worker on another machine. The board of workers decides; without one everything is here.

import type { PlaceWish } from "../core/worker/place-wish.ts";

export type Places = {
  /** Whether a worker has a free slot. */
  hasFree(): boolean;
  /** Takes a slot of a worker for the attempt, or says "here"; undefined: it waits. */
  book(wish: PlaceWish, isFreeHere: boolean): "here" | "worker" | undefined;
  /** Whether no worker can ever come for it while this process performs: then the attempt is left to the daemon. */
  isLeft(wish: PlaceWish): boolean;
  /** Whether a worker has this attempt. */
  isBooked(key: string): boolean;
  release(key: string): void;
};

export const ONLY_HERE: Places = {
  hasFree: () => false,
  book: ({ labels, mayMove }, isFreeHere) => (isFreeHere && (labels.length === 0 || !mayMove) ? "here" : undefined),
  isLeft: ({ labels, mayMove }) => mayMove && labels.length > 0,
  isBooked: () => false,
  release: () => {},
};
