// What a start would do, for a person before they start it: the flow that the files choose, what was read from them, the state of the
// repositories, and the exceptions that only a person can allow. It makes every check of a real start and stores nothing.

import { inputsOf } from "../../core/input/inputs-of.ts";
import { type Json, lookUp } from "../../core/json.ts";
import { ok, type Problem, type Result } from "../../core/result.ts";
import { pinnedOf, type PinnedInput } from "../../core/run/pinned.ts";
import { type BriefedRepository, repositoriesOf } from "../../core/view/briefing.ts";
import { EXCEPTIONS, type PreflightException, preflightNeeds } from "./preflight.ts";
import type { PlanRequest, RunPlan } from "./start-run.ts";

export type StartPreview = {
  readonly flow: string;
  readonly title: string;
  /** What a file states and the flow reads; `value` is null where the file says nothing. */
  readonly stated: readonly { readonly fact: string; readonly label: string; readonly value: Json }[];
  readonly files: readonly PinnedInput[];
  readonly repositories: readonly BriefedRepository[];
  /** The start is refused until a person allows these exceptions; null if nothing has to be allowed. */
  readonly refused: { readonly problem: Problem; readonly needs: readonly PreflightException[] } | null;
};

export async function previewRun(
  planRun: (request: PlanRequest) => Promise<Result<RunPlan>>,
  request: PlanRequest,
): Promise<Result<StartPreview>> {
  const plan = await planRun(request);
  if (plan.ok) return ok(preview(plan.value, null));
  if (plan.error.code !== "preflight_failed") return plan;
  // The same start as if everything were allowed: what was read is true either way.
  const allowed = await planRun({ ...request, allow: EXCEPTIONS });
  return allowed.ok ? ok(preview(allowed.value, plan.error)) : allowed;
}

function preview({ resolved: { flow }, facts }: RunPlan, problem: Problem | null): StartPreview {
  const repositories = repositoriesOf({ facts });
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
    refused: problem === null ? null : { problem, needs: preflightNeeds(flow, repositories) },
  };
}
