// The choice of a place for an attempt: here, or the worker that fits best. Pure.

import type { PlaceWish } from "../core/worker/place-wish.ts";
import type { WorkerHello } from "../core/worker/wire.ts";
import type { WorkerPlace } from "../settings/workers.ts";

export type Seat = WorkerHello & { readonly heardMs: number; readonly heardAt: string };

export type PlaceChoice<S extends WorkerHello = WorkerHello> = {
  readonly open: readonly { readonly seat: S; readonly free: number }[];
  readonly place: WorkerPlace;
  readonly isFreeHere: boolean;
  /** The worker that carried out this stage of the run before: it has the session of its agent. */
  readonly last: string | undefined;
};

/** Undefined: the attempt waits. */
export function choosePlace<S extends WorkerHello>(
  { labels, mayMove }: PlaceWish,
  { open, place, isFreeHere, last }: PlaceChoice<S>,
): S | "here" | undefined {
  const here = isFreeHere ? "here" : undefined;
  if (!mayMove) return here;
  const fitting = open.filter(({ seat, free }) => free > 0 && labels.every((label) => seat.labels.includes(label)));
  const best = fitting.toSorted((one, other) => other.free - one.free)[0]?.seat;
  const same = fitting.find(({ seat }) => seat.name === last)?.seat;
  if (labels.length > 0 || place === "workers-only") return same ?? best;
  if (same !== undefined) return same;
  return place === "here-first" ? (here ?? best) : (best ?? here);
}
