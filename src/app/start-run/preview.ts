// A preview of a start for a person: the flow that the files choose, the facts read from them, the state of the
// repositories, and the exceptions that only a person can allow. It makes every check of a real start and stores
// nothing.

import type { BudgetLimit, Budgets } from "../../core/budget/budget.ts";
import type { WorkspaceMode } from "../../core/flow/workspace-mode.ts";
import { inputsOf } from "../../core/input/inputs-of.ts";
import { type Json, lookUp } from "../../core/json.ts";
import { ok, type Problem, type Result } from "../../core/result.ts";
import { pinnedOf, type PinnedInput } from "../../core/run/pinned.ts";
import { runLimit } from "../../core/run/run-budget.ts";
import { workspaceMode } from "../../core/run/run-settings.ts";
import type { BriefedRepository, Briefing } from "../../core/view/briefing.ts";
import type { Store } from "../../store/store.ts";
import { briefPlan } from "../briefing.ts";
import { EXCEPTIONS, type PreflightException, preflightNeeds } from "./preflight.ts";
import type { PlanRequest, RunPlan } from "./start-run.ts";

export type StartPreview = {
  readonly flow: string;
  readonly title: string;
  /** A statement of a file that the flow reads; `value` is null if the file has none. */
  readonly stated: readonly { readonly fact: string; readonly label: string; readonly value: Json }[];
  readonly files: readonly PinnedInput[];
  readonly repositories: readonly BriefedRepository[];
  /** The stages in order, with their runners and usual cost. */
  readonly plan: Pick<Briefing, "stages" | "usd" | "unknown">;
  readonly workspace: WorkspaceMode;
  /** The budget of the run; null without a limit. */
  readonly limit: BudgetLimit;
  /** The start is refused until a person allows these exceptions; null if nothing has to be allowed. */
  readonly refused: { readonly problem: Problem; readonly needs: readonly PreflightException[] } | null;
};

export type Previewing = {
  readonly store: Pick<Store, "usageHistory">;
  readonly planRun: (request: PlanRequest) => Promise<Result<RunPlan>>;
  readonly budgets: () => Budgets;
  /** ISO 8601, UTC. */
  readonly now: () => string;
};

export async function previewRun(deps: Previewing, request: PlanRequest): Promise<Result<StartPreview>> {
  const plan = await deps.planRun(request);
  if (plan.ok) return ok(await describePlan(deps, plan.value, null));
  if (plan.error.code !== "preflight_failed") return plan;
  // The same start as if everything were allowed: the facts are the same either way.
  const allowed = await deps.planRun({ ...request, allow: EXCEPTIONS });
  return allowed.ok ? ok(await describePlan(deps, allowed.value, plan.error)) : allowed;
}

/** `problem`: why it does not start before a person allows it. */
export async function describePlan(
  { store, budgets, now }: Omit<Previewing, "planRun">,
  plan: RunPlan,
  problem: Problem | null,
): Promise<StartPreview> {
  const { resolved, facts } = plan;
  const { flow } = resolved;
  const { run, briefing } = await briefPlan(store, plan, now());
  const { stages, usd, unknown, repositories } = briefing;
  return {
    flow: flow.name,
    title: flow.title ?? flow.name,
    stated: inputsOf(flow).flatMap(({ states }) =>
      states.map(({ fact, labels }) => ({
        fact,
        label: labels[0] ?? fact,
        value: lookUp(facts, fact.split(".")) ?? null,
      })),
    ),
    files: pinnedOf({ facts }).inputs,
    repositories,
    plan: { stages, usd, unknown },
    workspace: workspaceMode(resolved, run),
    limit: runLimit(budgets(), run),
    refused: problem === null ? null : { problem, needs: preflightNeeds(flow, repositories) },
  };
}
