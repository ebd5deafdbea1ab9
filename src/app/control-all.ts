// A person holds or releases everything at once: every open run is paused or resumed, one after another, each by its own record. Whoever
// repeats it after a crash finishes the rest; a run that is so already stays as it is.

import { optional } from "../core/optional.ts";
import type { Result } from "../core/result.ts";
import type { RunSummary, Store } from "../store/store.ts";
import type { ControlAction, Controlled } from "./control-run.ts";
import type { Sent } from "./deliver.ts";
import type { AppProblem } from "./problem.ts";

export type ControlledAll = {
  /** The numbers of the runs that this request changed. */
  readonly changed: readonly number[];
  /** Runs that could not be changed, mostly because they ended meanwhile. */
  readonly refused: readonly { readonly number: number; readonly why: string }[];
};

export type AllAction = Extract<ControlAction, { type: "pause" | "resume" }>;

type Deps = {
  readonly store: Pick<Store, "listRuns">;
  readonly controlRun: (run: string, action: ControlAction, sent: Sent) => Promise<Result<Controlled, AppProblem>>;
};

export async function controlAll(
  { store, controlRun }: Deps,
  action: AllAction,
  { actor, key }: Sent,
): Promise<ControlledAll> {
  const changed: number[] = [];
  const refused: { number: number; why: string }[] = [];
  for (const { id, number } of await openRuns(store)) {
    const done = await controlRun(id, action, { actor, ...optional({ key }) });
    if (!done.ok) refused.push({ number, why: done.error.message });
    else if (done.value.changed) changed.push(number);
  }
  return { changed, refused };
}

const PAGE = 500;

/** Those that work, are in line, or wait for a person: a paused run stays paused when its gate is answered. */
export async function openRuns(store: Pick<Store, "listRuns">): Promise<readonly RunSummary[]> {
  const found: RunSummary[] = [];
  for (const status of ["running", "waiting"] as const) {
    for (let before: number | undefined; ; ) {
      const page = await store.listRuns({ status, limit: PAGE, ...optional({ before }) });
      found.push(...page);
      if (page.length < PAGE) break;
      before = page.at(-1)?.number;
    }
  }
  return found.toSorted((a, b) => a.number - b.number);
}
