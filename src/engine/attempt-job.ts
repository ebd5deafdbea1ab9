// The job of a started attempt as plain data.

import { attemptFiles, channelFiles, markerOf } from "../attempt/attempt-files.ts";
import type { AttemptJob } from "../attempt/job.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import { runnerChoiceOf } from "../core/flow/runner-choice.ts";
import { projectOf, repositorySettings } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { EngineOptions } from "./options.ts";
import type { ReadyAttempt } from "./ready-attempt.ts";

export function jobOf(
  options: Pick<EngineOptions, "store" | "storeId" | "newId" | "home" | "keepWorkspaces" | "url">,
  resolved: ResolvedFlow,
  run: Run,
  ready: ReadyAttempt,
  token: string,
): AttemptJob {
  const { attempt, track } = ready;
  const stage = findWork(resolved.flow, run, track, ready.stage);
  const state = run.tracks[track];
  if (stage === undefined || state?.at !== "running") throw new Error(`${ready.key} is not running`);
  return {
    resolved,
    run,
    track,
    stage,
    attempt,
    carry: state.carry,
    marker: markerOf(options.storeId, run.id, stage.id, attempt),
    nonce: options.newId(),
    token,
    files: channelFiles(attemptFiles(options.home, run.id, stage.id, attempt), options.store.incarnation()),
    home: options.home,
    play: runnerChoiceOf(resolved, run.facts, stage, (state.rung?.number ?? 1) - 1) ?? null,
    rung: state.rung ?? null,
    repositorySettings: repositorySettings(run),
    project: projectOf(run),
    keepWorkspaces: options.keepWorkspaces === true,
    url: options.url(),
  };
}
