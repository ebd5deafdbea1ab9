// The inputs of a retried stage: the settings as they are now, the agents that a person chose, and a program that can start.

import type { JsonObject } from "../core/json.ts";
import { optional } from "../core/optional.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { ticketProject } from "../core/run/facts.ts";
import { currentTrack } from "../core/run/interventions.ts";
import { type RenewedSettings, withSettings } from "../core/run/renewed-settings.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { Settings } from "../settings/settings.ts";
import type { Environment } from "../settings/site.ts";
import { flowOf } from "../store/flow-of.ts";
import type { Store } from "../store/store.ts";
import { type ChosenAgents, chosenRunners } from "./chosen-runners.ts";
import type { AppProblem } from "./problem.ts";
import { renewedSettings } from "./start-run/settings-facts.ts";
import { unreadyProgram } from "./start-run/unready-program.ts";

export type Renewing = {
  readonly settings: (project: string) => Promise<Result<Settings>>;
  /** Of the process that performs. */
  readonly environment: Environment;
};

export type RetryWith = { readonly runners?: JsonObject; readonly settings?: RenewedSettings };

export type Retried = { readonly stage?: string; readonly chosen?: ChosenAgents | undefined };

export async function retryWith(
  store: Pick<Store, "loadFlow">,
  renewing: Renewing,
  run: Run,
  { stage, chosen }: Retried,
): Promise<Result<RetryWith, AppProblem>> {
  const resolved = await flowOf(store, run);
  const loaded = await renewing.settings(ticketProject(run) ?? projectOf(run));
  if (!loaded.ok) return refused(loaded.error);
  const settings = renewedSettings(loaded.value, resolved, run);
  const now: Run = { ...run, facts: withSettings(run.facts, settings) };
  const runners = chosen === undefined ? ok(undefined) : chosenRunners(resolved, now, chosen);
  if (!runners.ok) return runners;
  const again = { settings, ...optional({ runners: runners.value }) };
  const facts = { ...now.facts, runners: { ...objectOf(now.facts["runners"]), ...runners.value } };
  const found = currentTrack(run, stage);
  const id = stage ?? (typeof found === "string" ? "" : found.track.stage);
  const works = Object.keys(run.tracks).flatMap((track) => findWork(resolved.flow, run, track, id) ?? []);
  const unready = await unreadyProgram(resolved, facts, works.slice(0, 1), {
    environment: renewing.environment,
    project: projectOf(run),
    mode: workspaceMode(resolved, run),
    config: loaded.value,
  });
  return unready === undefined ? ok(again) : refused(unready);
}

function refused({ message, hint }: Problem): Result<never, AppProblem> {
  return err({ code: "action_refused", message: hint === undefined ? message : `${message} ${hint}` });
}

function objectOf(value: unknown): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}
