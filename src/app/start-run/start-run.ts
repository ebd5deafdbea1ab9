// A run starts in two steps. The plan checks everything and stores nothing, so it can be shown, refused or passed to another process. The
// start stores the run; starting the same plan twice makes one run.

import { canonicalJson, type JsonObject } from "../../core/json.ts";
import { optional } from "../../core/optional.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Actor } from "../../core/run/event.ts";
import type { Run } from "../../core/run/run.ts";
import type { Engine, RunRequest } from "../../engine/engine.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Environment } from "../../settings/site.ts";
import type { TrustPlace } from "../../settings/trust/approval.ts";
import type { AppProblem } from "../problem.ts";
import { runIdOf } from "../run-id.ts";
import { prepareRun, type StartInput } from "./prepare.ts";
import { requireProject } from "../projects.ts";
import { lookAtPause } from "../look-at-pause.ts";
import { pauseReason } from "../../core/run/pause-all.ts";
import { deliver, type Delivering } from "../deliver.ts";
import { resolveStart } from "./resolve-flow.ts";

/** Plain JSON: everything that a start needs. */
export type RunPlan = Omit<RunRequest, "actor" | "paused">;

export type PlanRequest = Pick<RunPlan, "subject"> &
  Pick<StartInput, "input" | "workspace" | "allow" | "repositories" | "models" | "budget"> & {
    /** A flow, an alias of one, a family of flows of which the facts choose one, or an agent that works alone. */
    readonly flow: string;
    /** The name of a registered project; default: the project of the place. */
    readonly projectName?: string;
    /** `stage=claude`, `*=codex exec -`; overrides the settings. */
    readonly runners?: readonly string[];
    /** Facts that the door adds, such as the occurrence of a trigger. */
    readonly facts?: JsonObject;
    /** Names the occasion: the same key gives the same run. Without a key every start makes a new run. */
    readonly key?: string;
  };

export type StartPlace = TrustPlace & {
  /** The current settings for this project. */
  readonly settings: (project: string) => Promise<Result<Settings>>;
  /** Of the process that performs; default: this one's. */
  readonly environment?: Environment;
};

export async function planRun(place: StartPlace, request: PlanRequest): Promise<Result<RunPlan>> {
  const found = request.projectName === undefined ? undefined : requireProject(place.home, request.projectName);
  if (found?.ok === false) return found;
  const project = found?.value.folder ?? place.project;
  const start = resolveStart({ home: place.home, project }, request.flow, request.input);
  if (!start.ok) return start;
  const { resolved } = start.value;
  const settings = await place.settings(project);
  if (!settings.ok) return settings;
  const { subject, workspace, allow, repositories, runners = [], models, budget } = request;
  const input = [...request.input, ...start.value.input];
  const prepared = await prepareRun(
    {
      resolved,
      subject,
      project,
      cwd: project,
      input,
      runners,
      home: place.home,
      ...optional({ workspace, allow, repositories, models, budget, environment: place.environment }),
    },
    settings.value,
  );
  if (!prepared.ok) return prepared;
  const { texts, resolved: limited } = prepared.value;
  const facts = { ...prepared.value.facts, ...request.facts };
  return ok({ runId: runIdOf(request.key), resolved: limited, subject, facts, texts });
}

/** `started` is false if the run of this plan already exists. */
export type StartedRun = { readonly run: Run; readonly started: boolean };

export type Starter = Delivering & { readonly engine: Pick<Engine, "startRun"> };

/** While everything is paused, the run begins paused. */
export async function startRun(starter: Starter, plan: RunPlan, actor: Actor): Promise<Result<StartedRun, AppProblem>> {
  const { engine, store } = starter;
  const before = await lookAtPause(store);
  const paused = before === null ? undefined : { by: before.by, reason: pauseReason(before) };
  const { run, duplicate } = await engine.startRun({ ...requestOf(plan), actor, ...optional({ paused }) });
  if (duplicate && !isSameStart(run, plan))
    return err({ code: "idempotency_key_reused", message: "This key has started another run before." });
  if (duplicate) return ok({ run, started: false });
  // A pause or resume of everything between the look and the start did not see this run.
  const after = await lookAtPause(store);
  if ((before === null) === (after === null)) return ok({ run, started: true });
  const settled =
    after === null
      ? await deliver(starter, run, { type: "resume.requested" }, { actor })
      : await deliver(starter, run, { type: "pause.requested", reason: pauseReason(after) }, { actor: after.by });
  return ok({ run: settled.ok ? settled.value.run : run, started: true });
}

/** Only these: a plan may come from a file of an earlier version, with keys of its own. */
function requestOf({ runId, resolved, subject, facts, texts = [] }: RunPlan): RunPlan {
  return { runId, resolved, subject, facts, texts };
}

function isSameStart(run: Run, { resolved, subject }: RunPlan): boolean {
  return run.flow === resolved.flow.name && canonicalJson(run.subject) === canonicalJson(subject);
}
