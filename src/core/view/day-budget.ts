// A spent day budget keeps many runs waiting and is one thing to decide: the inbox shows the item that waits longest for all of them.

import type { InboxItem } from "../run/run.ts";

export type Grouped<T> = T & {
  /** How many further runs wait for the same budget. */
  readonly others: number;
};

export function groupDayBudgets<T extends { readonly item: InboxItem }>(records: readonly T[]): readonly Grouped<T>[] {
  const sizes = new Map<string, number>();
  for (const { item } of records) {
    const key = keyOf(item);
    if (key !== undefined) sizes.set(key, (sizes.get(key) ?? 0) + 1);
  }
  const shown = new Set<string>();
  return records.flatMap((record) => {
    const key = keyOf(record.item);
    if (key === undefined) return [{ ...record, others: 0 }];
    if (shown.has(key)) return [];
    shown.add(key);
    return [{ ...record, others: (sizes.get(key) ?? 1) - 1 }];
  });
}

/** The note for the person beside the numbers; undefined for any other item. */
export function dayBudgetNote(item: InboxItem, others: number): string | undefined {
  if (keyOf(item) === undefined) return undefined;
  const more = others === 0 ? "" : `${others} more ${others === 1 ? "run waits" : "runs wait"} for it. `;
  return `${more}A raise counts for every run of the day; without one they continue at 00:00 UTC.`;
}

/** Undefined for an item that is its run's own. */
function keyOf(item: InboxItem): string | undefined {
  return item.kind === "budget" && item.scope === "day" ? `${item.key} ${item.unit}` : undefined;
}
