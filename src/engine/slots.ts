// Limits how many attempts work at once: a number in all, a number per agent, and exclusive locks on workspaces and branches.
// A lock belongs to a run: attempts of one run (its tracks) share it, other runs wait.

import type { PlaceWish } from "../core/worker/place-wish.ts";
import { onlyHere, type Places } from "./places.ts";

export type SlotRequest = {
  readonly runId: string;
  readonly agent: string;
  readonly agentLimit: number | null;
  readonly locks: readonly string[];
  /** The runners that may play it, the preferred one first; none for a stage without a vendor. */
  readonly runners?: readonly string[];
  /** Absent: here. */
  readonly place?: PlaceWish;
};

/** What is known of runners now. */
export type Pace = {
  /** The runner of a ladder that would take an attempt now. */
  readonly runnerOf: (runners: readonly string[]) => string | undefined;
  /** Its attempts start one at a time. */
  readonly isSlow: (runner: string) => boolean;
};

const FREE: Pace = { runnerOf: ([first]) => first, isSlow: () => false };

export type Slots = {
  /** Takes everything the request needs, or nothing. */
  tryTake(request: SlotRequest): boolean;
  /** For an attempt that works already: whatever the limits are now. */
  take(request: SlotRequest): void;
  release(request: SlotRequest): void;
  /** Keeps locks for a run beyond its attempts, until it is let go. */
  keep(runId: string, locks: readonly string[]): void;
  letGo(runId: string): void;
  /** Nothing of the run starts until it is unbarred as often as it was barred. */
  bar(runId: string): void;
  unbar(runId: string): void;
  readonly full: boolean;
  /** Whether only a worker could carry it out, and none can join this process. */
  isLeft(request: SlotRequest): boolean;
};

/** `limit`: of this process; workers have their own. */
export function createSlots(limit: number, pace: Pace = FREE, places: Places = onlyHere(false)): Slots {
  let used = 0;
  const perAgent = new Map<string, number>();
  const locks = new Map<string, { runId: string; holders: number }>();
  const kept = new Map<string, Set<string>>();
  const barred = new Map<string, number>();

  const lock = (runId: string, key: string): void => {
    locks.set(key, { runId, holders: (locks.get(key)?.holders ?? 0) + 1 });
  };
  const unlock = (runId: string, key: string): void => {
    const holders = (locks.get(key)?.holders ?? 1) - 1;
    if (holders === 0) locks.delete(key);
    else locks.set(key, { runId, holders });
  };

  const line = createLine(pace);
  const isElsewhere = (place: PlaceWish | undefined): boolean => place !== undefined && places.isBooked(place.key);

  const take = (request: SlotRequest): void => {
    const { runId, agent, locks: keys, place } = request;
    if (!isElsewhere(place)) used += 1;
    line.enter(request);
    perAgent.set(agent, (perAgent.get(agent) ?? 0) + 1);
    for (const key of keys) lock(runId, key);
  };

  return {
    get full() {
      return used >= limit && !places.hasFree();
    },
    tryTake(request) {
      const { runId, agent, agentLimit, locks: keys, place } = request;
      if (barred.has(runId)) return false;
      if (agentLimit !== null && (perAgent.get(agent) ?? 0) >= agentLimit) return false;
      if (keys.some((key) => (locks.get(key)?.runId ?? runId) !== runId)) return false;
      if (line.isClosedTo(request)) return false;
      const isFree = used < limit;
      if (place === undefined ? !isFree : places.book(place, isFree) === undefined) return false;
      take(request);
      return true;
    },
    take,
    isLeft: ({ place }) => place !== undefined && places.isLeft(place),
    release(request) {
      const { runId, agent, locks: keys, place } = request;
      if (place !== undefined && isElsewhere(place)) places.release(place.key);
      else used -= 1;
      line.leave(request);
      perAgent.set(agent, (perAgent.get(agent) ?? 1) - 1);
      for (const key of keys) unlock(runId, key);
    },
    keep(runId, keys) {
      const own = kept.get(runId) ?? new Set();
      kept.set(runId, own);
      for (const key of keys) {
        if (own.has(key)) continue;
        own.add(key);
        lock(runId, key);
      }
    },
    letGo(runId) {
      for (const key of kept.get(runId) ?? []) unlock(runId, key);
      kept.delete(runId);
    },
    bar(runId) {
      barred.set(runId, (barred.get(runId) ?? 0) + 1);
    },
    unbar(runId) {
      const times = (barred.get(runId) ?? 1) - 1;
      if (times === 0) barred.delete(runId);
      else barred.set(runId, times);
    },
  };
}

/** Counts the attempts at work per runner: one whose account is near a limit takes no second one. */
function createLine({ runnerOf, isSlow }: Pace) {
  const working = new Map<string, number>();
  const runnerAt = new WeakMap<SlotRequest, string>();
  const count = (runner: string, by: number): void => void working.set(runner, (working.get(runner) ?? 0) + by);
  return {
    isClosedTo({ runners = [] }: SlotRequest): boolean {
      const runner = runnerOf(runners);
      return runner !== undefined && isSlow(runner) && (working.get(runner) ?? 0) > 0;
    },
    enter(request: SlotRequest): void {
      const runner = runnerOf(request.runners ?? []);
      if (runner === undefined) return;
      runnerAt.set(request, runner);
      count(runner, 1);
    },
    leave(request: SlotRequest): void {
      const runner = runnerAt.get(request);
      if (runner !== undefined) count(runner, -1);
      runnerAt.delete(request);
    },
  };
}
