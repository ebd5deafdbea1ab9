// The cost of attempts that started since a time, with the reservations of those that have not reported.

import type { Store } from "../store/store.ts";

export async function spentSince(store: Pick<Store, "spending">, since: string): Promise<number> {
  const rows = await store.spending({ by: "runner", since });
  const sum = rows.reduce((total, { usd, assumedUsd }) => total + usd + assumedUsd, 0);
  return Math.round(sum * 1e6) / 1e6;
}
