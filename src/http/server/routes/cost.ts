// The usage of attempts, grouped by one key.

import { ROUTES } from "../../contract/routes.ts";
import { ok } from "../../../core/result.ts";
import type { SpendingRow } from "../../../store/store.ts";
import { findRun } from "../find-run.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";

export function mountCost(mount: MountRoute, { store }: ServerDeps): void {
  mount.json(ROUTES.cost, async ({ query: { by, since: given, run: reference } }) => {
    const since = given === undefined ? null : new Date(given).toISOString();
    const found = reference === undefined ? undefined : await findRun(store, reference);
    if (found?.ok === false) return found;
    const run = found?.value.run.id ?? null;
    const rows = await store.spending({
      by,
      ...(since === null ? {} : { since }),
      ...(run === null ? {} : { runId: run }),
    });
    return ok({ by, since, run, rows: rows.map((row) => ({ ...row })), total: sumOf(rows) });
  });
}

type Sums = Omit<SpendingRow, "key">;

function sumOf(rows: readonly SpendingRow[]): Sums {
  const sum = (key: keyof Sums): number => rows.reduce((total, row) => total + row[key], 0);
  const money = (key: keyof Sums): number => Math.round(sum(key) * 1e6) / 1e6;
  return {
    attempts: sum("attempts"),
    usd: money("usd"),
    unknownUsd: sum("unknownUsd"),
    assumedUsd: money("assumedUsd"),
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cachedTokens: sum("cachedTokens"),
    unknownTokens: sum("unknownTokens"),
    assumedTokens: sum("assumedTokens"),
    durationMs: sum("durationMs"),
  };
}
