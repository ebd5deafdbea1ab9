// The inbox item that a caller means, `RUN.NUMBER`: open, or closed with the decision that closed it.

import { err, ok, type Result } from "../core/result.ts";
import { type InboxItem, openItems } from "../core/run/run.ts";
import { pastItems as pastItemsOf } from "../core/view/decision.ts";
import type { Store } from "../store/store.ts";
import { allEvents, findRun, type FoundRun } from "./find-run.ts";
import type { AppProblem, ClosingDecision } from "./problem.ts";

export type FoundItem =
  | { readonly type: "open"; readonly found: FoundRun; readonly item: InboxItem }
  | { readonly type: "closed"; readonly found: FoundRun; readonly item: ClosedItem };

export type ClosedItem = {
  readonly number: number;
  readonly kind: InboxItem["kind"];
  readonly stage: string;
  /** Null where the run withdrew the item before anyone answered it. */
  readonly decided: ClosingDecision | null;
};

export async function findItem(store: Store | undefined, reference: string): Promise<Result<FoundItem, AppProblem>> {
  const dot = reference.lastIndexOf(".");
  const number = Number(reference.slice(dot + 1));
  const found = await findRun(store, reference.slice(0, dot));
  if (!found.ok) return found;
  const open = openItems(found.value.run).find((item) => item.number === number);
  if (open !== undefined) return ok({ type: "open", found: found.value, item: open });
  const past = store === undefined ? [] : await pastItems(store, found.value.run.id);
  const closed = past.find((item) => item.number === number);
  return closed === undefined
    ? err({ code: "item_not_found", message: `There is no item ${reference}.` })
    : ok({ type: "closed", found: found.value, item: closed });
}

/** Every item that the run has ever opened, in order. Open ones have no decision yet. */
export async function pastItems(store: Store, runId: string): Promise<readonly ClosedItem[]> {
  const items = pastItemsOf(await allEvents(store, runId));
  return items.map(({ number, kind, stage, decision }) => ({ number, kind, stage, decided: decision }));
}
