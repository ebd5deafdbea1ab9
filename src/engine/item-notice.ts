// The notice about an item that a run has opened. One of many items that wait for the same day's budget tells for all of them.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { JsonObject } from "../core/json.ts";
import { openItems, type Run } from "../core/run/run.ts";
import { groupDayBudgets } from "../core/view/day-budget.ts";
import { itemNotice, type LastReport } from "../core/view/notice.ts";
import type { AttemptRecord, Store } from "../store/store.ts";

type Reading = Pick<Store, "attempts" | "inbox">;

/** Null: another item tells the same. */
export async function noticeOfItem(
  store: Reading,
  flowOf: (hash: string) => Promise<ResolvedFlow>,
  { run, item, text }: { readonly run: Run; readonly item: number; readonly text: string },
): Promise<string | null> {
  if (await isToldByAnother(store, run, item)) return null;
  const [{ flow }, attempts] = await Promise.all([flowOf(run.flowHash), store.attempts(run.id)]);
  return itemNotice(flow, run, text, lastReport(attempts));
}

async function isToldByAnother(store: Reading, run: Run, number: number): Promise<boolean> {
  const open = openItems(run).find((item) => item.number === number);
  if (open?.kind !== "budget" || open.scope !== "day") return false;
  const shown = groupDayBudgets(await store.inbox());
  return !shown.some(({ runId, item }) => runId === run.id && item.number === number);
}

function lastReport(attempts: readonly AttemptRecord[]): LastReport | undefined {
  const ended = attempts.filter(({ status, outcome }) => status === "done" && outcome !== null);
  const last = ended.toSorted((a, b) => ((a.endedAt ?? "") < (b.endedAt ?? "") ? -1 : 1)).at(-1);
  if (last?.outcome === undefined || last.outcome === null) return undefined;
  const word = textOf(last.outcome, "word") || textOf(last.outcome, "verdict") || textOf(last.outcome, "health");
  return { stage: last.stage, word, summary: textOf(last.outcome, "summary") };
}

function textOf(outcome: JsonObject, key: string): string {
  const value = outcome[key];
  return typeof value === "string" ? value : "";
}
