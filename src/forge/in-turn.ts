// Tasks with the same key run one after the other. A chain in one process is enough, because only the holder of the engine lock lands work.

const inTurnOf = new Map<string, Promise<unknown>>();

/** Runs after the earlier tasks with the same key, however they ended. */
export function inTurn<T>(key: string, task: () => Promise<T>): Promise<T> {
  const before = inTurnOf.get(key) ?? Promise.resolve();
  const turn = before.then(task, task);
  const settled = turn
    .catch(() => undefined)
    .then(() => {
      if (inTurnOf.get(key) === settled) inTurnOf.delete(key);
    });
  inTurnOf.set(key, settled);
  return turn;
}
