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

/** Of a process that no worker can join. `isForWorkers`: no agent works here, even so. */
export function onlyHere(isForWorkers: boolean): Places {
  const isLeft = ({ labels, mayMove }: PlaceWish): boolean => mayMove && (isForWorkers || labels.length > 0);
  return {
    hasFree: () => false,
    book: (wish, isFreeHere) => (isFreeHere && !isLeft(wish) ? "here" : undefined),
    isLeft,
    isBooked: () => false,
    release: () => {},
  };
}
