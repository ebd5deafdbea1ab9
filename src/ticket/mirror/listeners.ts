// The listeners for changes in a project's tickets.

export type Listeners = {
  /** Calls `onChange` after each change, until the returned function is called. */
  listen(project: string, onChange: () => void): () => void;
  notify(project: string): void;
};

export function createListeners(): Listeners {
  const known = new Map<string, Set<() => void>>();
  return {
    listen(project, onChange) {
      const own = known.get(project) ?? new Set();
      known.set(project, own.add(onChange));
      return () => void own.delete(onChange);
    },
    notify(project) {
      for (const listener of known.get(project) ?? []) listener();
    },
  };
}
