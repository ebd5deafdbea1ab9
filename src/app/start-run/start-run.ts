// A run starts in two steps. The plan checks everything and stores nothing, so it can be shown, refused or passed to another process. The
// start stores the run; starting the same plan twice makes one run.

import { canonicalJson, type JsonObject } from "../../core/json.ts";
import { optional } from "../../core/optional.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Actor } from "../../core/run/event.ts";
import type { Run } from "../../core/run/run.ts";
import type { Engine, RunRequest } from "../../engine/engine.ts";
import type { Settings } from "../../settings/settings.ts";
import type { AppProblem } from "../problem.ts";
import { runIdOf } from "../run-id.ts";
import { prepareRun, type StartInput } from "./prepare.ts";
import { resolveFlow } from "./resolve-flow.ts";

/** Plain JSON: everything that a start needs. */
export type RunPlan = Omit<RunRequest, "actor">;

export type PlanRequest = Pick<RunPlan, "subject"> &
  Pick<StartInput, "input" | "workspace"> & {
    readonly flow: string;
    /** `stage=claude`, `*=codex exec -`; overrides the settings. */
    readonly runners?: readonly string[];
    /** Facts that the door adds, such as the occurrence of a trigger. */
    readonly facts?: JsonObject;
    /** Names the occasion: the same key gives the same run. Without a key every start makes a new run. */
    readonly key?: string;
  };

export type StartPlace = {
  readonly project: string;
  /** The current settings. */
  readonly settings: () => Promise<Result<Settings>>;
};

export async function planRun(place: StartPlace, request: PlanRequest): Promise<Result<RunPlan>> {
  const { project } = place;
  const resolved = resolveFlow(project, request.flow);
  if (!resolved.ok) return resolved;
  const settings = await place.settings();
  if (!settings.ok) return settings;
  const { subject, input, workspace, runners = [] } = request;
  const prepared = await prepareRun(
    { resolved: resolved.value, subject, project, cwd: project, input, runners, ...optional({ workspace }) },
    settings.value,
  );
  if (!prepared.ok) return prepared;
  const facts = { ...prepared.value.facts, ...request.facts };
  return ok({ runId: runIdOf(request.key), resolved: resolved.value, subject, facts });
}

/** `started` is false if the run of this plan already exists. */
export type StartedRun = { readonly run: Run; readonly started: boolean };

export async function startRun(
  engine: Pick<Engine, "startRun">,
  plan: RunPlan,
  actor: Actor,
): Promise<Result<StartedRun, AppProblem>> {
  const { runId, resolved, subject, facts } = plan;
  const { run, duplicate } = await engine.startRun({ runId, resolved, subject, facts, actor });
  if (duplicate && !isSameStart(run, plan))
    return err({ code: "idempotency_key_reused", message: "This key has started another run before." });
  return ok({ run, started: !duplicate });
}

function isSameStart(run: Run, { resolved, subject }: RunPlan): boolean {
  return run.flow === resolved.flow.name && canonicalJson(run.subject) === canonicalJson(subject);
}
