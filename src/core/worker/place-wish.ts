// What the place of an attempt depends on: this machine, or a worker on another one.

export type PlaceWish = {
  /** run/stage/attempt */
  readonly key: string;
  readonly runId: string;
  readonly stage: string;
  /** What its worker must have; not empty: never here. */
  readonly labels: readonly string[];
  /** Whether another machine can carry it out at all. */
  readonly mayMove: boolean;
};
