// Collects what a person should know before a run begins: the plan's text from its copy, and the usual cost of each stage from the store.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import { MAIN_TRACK } from "../core/flow/flow.ts";
import { HISTORY } from "../core/budget/budget.ts";
import { pinnedOf } from "../core/run/pinned.ts";
import type { InboxItem, Run } from "../core/run/run.ts";
import { stagesOf, isWork } from "../core/run/sequence.ts";
import { transition } from "../core/run/transition.ts";
import { type Briefing, briefingOf, isBeforeWork, plannedStages } from "../core/view/briefing.ts";
import { listStages } from "../core/view/stage-list.ts";
import { readPinned } from "../file/pinned-copy.ts";
import type { Store } from "../store/store.ts";

/** Null for every other item. */
export async function findBriefing(
  { store, home }: { readonly store: Pick<Store, "usageHistory">; readonly home: string },
  resolved: ResolvedFlow,
  run: Run,
  item: InboxItem,
): Promise<Briefing | null> {
  if (item.kind !== "gate" || !isBeforeWork(run)) return null;
  const usual = await usualCost(store, resolved, run);
  return briefingOf(resolved, run, planText(home, run), (stage) => usual.get(stage) ?? null);
}

/** The same for a start that is only planned. `at`: ISO 8601, UTC; what depends on the time holds for a start at that moment. */
export async function briefPlan(
  store: Pick<Store, "usageHistory">,
  { runId, resolved, subject, facts }: PlannedRun,
  at: string,
): Promise<{ readonly run: Run; readonly briefing: Briefing }> {
  const request = { type: "run.requested", runId, flowHash: resolved.hash, subject, facts } as const;
  const { run } = transition(resolved.flow, undefined, { ...request, id: runId, at, actor: "system" });
  const usual = await usualCost(store, resolved, run);
  return { run, briefing: briefingOf(resolved, run, null, (stage) => usual.get(stage) ?? null) };
}

export type PlannedRun = Pick<Run, "subject" | "facts"> & { readonly runId: string; readonly resolved: ResolvedFlow };

/** The mean of the last attempts that reported a cost, by stage. */
async function usualCost(
  store: Pick<Store, "usageHistory">,
  resolved: ResolvedFlow,
  run: Run,
): Promise<ReadonlyMap<string, number>> {
  const works = new Map(
    listStages(stagesOf(resolved.flow, run, MAIN_TRACK)).flatMap(({ stage }) =>
      isWork(stage) ? [[stage.id, stage.agent] as const] : [],
    ),
  );
  const found = new Map<string, number>();
  for (const { stage, runner, model, isMetered } of plannedStages(resolved, run)) {
    const agent = works.get(stage);
    if (!isMetered || runner === null || agent === undefined) continue;
    const history = await store.usageHistory({ agent, runner, model, limit: HISTORY });
    const known = history.flatMap(({ usd }) => usd ?? []);
    if (known.length > 0) found.set(stage, known.reduce((sum, usd) => sum + usd, 0) / known.length);
  }
  return found;
}

function planText(home: string, run: Run): string | null {
  const plan = pinnedOf(run).inputs.find(({ name }) => name === "plan.plan");
  const read = plan === undefined ? undefined : readPinned(home, run.id, plan.sha256);
  return read?.ok === true ? read.value : null;
}
