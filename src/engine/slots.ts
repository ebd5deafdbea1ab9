// Limits how many attempts work at once: a number in all, a number per agent, and exclusive locks on workspaces and branches.
// A lock belongs to a run: attempts of one run (its tracks) share it, other runs wait.

export type SlotRequest = {
  readonly runId: string;
  readonly agent: string;
  readonly agentLimit: number | null;
  readonly locks: readonly string[];
};

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
};

export function createSlots(limit: number): Slots {
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

  const take = (runId: string, agent: string, keys: readonly string[]): void => {
    used += 1;
    perAgent.set(agent, (perAgent.get(agent) ?? 0) + 1);
    for (const key of keys) lock(runId, key);
  };

  return {
    get full() {
      return used >= limit;
    },
    tryTake({ runId, agent, agentLimit, locks: keys }) {
      if (used >= limit || barred.has(runId)) return false;
      if (agentLimit !== null && (perAgent.get(agent) ?? 0) >= agentLimit) return false;
      if (keys.some((key) => (locks.get(key)?.runId ?? runId) !== runId)) return false;
      take(runId, agent, keys);
      return true;
    },
    take: ({ runId, agent, locks: keys }) => take(runId, agent, keys),
    release({ runId, agent, locks: keys }) {
      used -= 1;
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
