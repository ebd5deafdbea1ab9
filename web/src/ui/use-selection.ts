// Which rows of a list a person has selected. A row that leaves the list leaves the selection, so that an act never touches what is not
// shown.

import { useCallback, useMemo, useRef, useState } from "react";

export type Selection = {
  /** The selected keys, in the order of the list. */
  readonly keys: readonly string[];
  readonly all: "none" | "some" | "all";
  has(key: string): boolean;
  /** `isRange`: everything from the last toggled row to this one becomes the same. */
  toggle(key: string, isRange?: boolean): void;
  readonly toggleAll: () => void;
  readonly clear: () => void;
};

export function useSelection(shown: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(NOTHING);
  const last = useRef<string | null>(null);
  const keys = useMemo(() => (chosen.size === 0 ? NONE : shown.filter((key) => chosen.has(key))), [shown, chosen]);
  const toggle = useCallback(
    (key: string, isRange = false) => {
      const from = last.current;
      last.current = key;
      setChosen((before) => toggled(before, isRange && from !== null ? between(shown, from, key) : [key], key));
    },
    [shown],
  );
  return useMemo((): Selection => {
    const isAll = shown.length > 0 && keys.length === shown.length;
    return {
      keys,
      all: isAll ? "all" : keys.length > 0 ? "some" : "none",
      has: (key) => chosen.has(key),
      toggle,
      toggleAll: () => setChosen(isAll ? NOTHING : new Set(shown)),
      clear: () => setChosen(NOTHING),
    };
  }, [keys, shown, chosen, toggle]);
}

const NOTHING: ReadonlySet<string> = new Set();
const NONE: readonly string[] = [];

/** All of them become what the clicked one becomes. */
export function toggled(chosen: ReadonlySet<string>, keys: readonly string[], clicked: string): ReadonlySet<string> {
  const next = new Set(chosen);
  const isOn = !chosen.has(clicked);
  for (const key of keys) {
    if (isOn) next.add(key);
    else next.delete(key);
  }
  return next;
}

/** Both ends included, in either direction; only the clicked one if the other is not in the list any more. */
export function between(shown: readonly string[], from: string, to: string): readonly string[] {
  const [a, b] = [shown.indexOf(from), shown.indexOf(to)];
  return a === -1 || b === -1 ? [to] : shown.slice(Math.min(a, b), Math.max(a, b) + 1);
}
