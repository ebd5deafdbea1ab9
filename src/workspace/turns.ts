// Serialises tasks that would conflict: openings of the same folder, registrations in the same repository.

/** Runs a task after all earlier ones with the same key. */
export type InTurn = <T>(key: string, task: () => Promise<T>) => Promise<T>;

/** Two tracks of a run may open its workspace at once: the second waits for the first and finds it ready. */
export function inTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (key, task) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(task, task);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
