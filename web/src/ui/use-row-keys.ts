// The keys of a long table: from row to row, select one, clear the selection. Rows are found by the link that they begin with.

import { useEffect, useMemo, useRef } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import type { Selection } from "./use-selection.ts";

/** `group`: the heading in the list of keys. A row's link has `data-row` with the key of the row. */
export function useRowKeys(group: string, selection: Selection): void {
  const latest = useRef(selection);
  useEffect(() => {
    latest.current = selection;
  });
  const shortcuts = useMemo(
    () => [
      { keys: "j", does: "Next row", group, act: () => step(1) },
      { keys: "k", does: "Previous row", group, act: () => step(-1) },
      {
        keys: "x",
        does: "Select the row",
        group,
        act: () => {
          const key = focused()?.dataset["row"];
          if (key !== undefined) latest.current.toggle(key);
        },
      },
      { keys: "Escape", does: "Clear the selection", group, act: () => latest.current.clear() },
    ],
    [group],
  );
  useShortcuts(shortcuts);
}

function links(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-row]")].toSorted(
    (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top,
  );
}

function focused(): HTMLElement | undefined {
  const row = document.activeElement?.closest("[role=row]");
  return row?.querySelector<HTMLElement>("[data-row]") ?? undefined;
}

function step(by: 1 | -1): void {
  const all = links();
  const here = focused();
  const at = here === undefined ? -1 : all.indexOf(here);
  const next = at === -1 ? all[0] : all[at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
