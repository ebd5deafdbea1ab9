// Stages that people take over: when the agent of one is gone the engine makes its workspace the person's, and takes it back when they are
// done. Both follow from the run, so the next engine does what a dead one left.

import { markerOf } from "../attempt/attempt-files.ts";
import { lendWorkspace, type LentPlace, takeBackWorkspace } from "../attempt/lent-workspace.ts";
import { holdsBranch } from "../attempt/stage-workspace.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import { type Run, takenOver, type Track } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { SignalBody } from "../core/run/signal.ts";
import type { Activity } from "./activity.ts";
import type { Attempts } from "./attempts.ts";
import type { EngineOptions } from "./options.ts";
import { attemptKey } from "../core/run/attempt-key.ts";
import { readyAttempt, type SlotRules } from "./ready-attempt.ts";
import type { Runs } from "./runs.ts";
import type { Slots } from "./slots.ts";

export type Takeovers = {
  /** Brings the workspace of a stage that a person has taken over, or hands back, in line with the run. */
  follow(resolved: ResolvedFlow, run: Run): void;
};

export type TakeoverDeps = {
  readonly options: Pick<EngineOptions, "workspaces" | "runners" | "storeId" | "newId" | "onError">;
  readonly slotRules: SlotRules;
  readonly attempts: Pick<Attempts, "goneOf">;
  readonly slots: Pick<Slots, "keep" | "letGo">;
  readonly activity: Pick<Activity, "add">;
  readonly runs: Pick<Runs, "load">;
  readonly persist: (runId: string, body: SignalBody, actor: "engine", signalId: string) => Promise<unknown>;
  readonly onFreed: () => void;
};

type Taken = Track & { readonly at: "taken" };

export function createTakeovers(deps: TakeoverDeps): Takeovers {
  const { activity, options, slots } = deps;
  /** The runs whose workspace a person has. */
  const lent = new Set<string>();
  /** The runs at which this engine is at work, and whether they have changed since. */
  const busy = new Map<string, "as-seen" | "changed">();
  return { follow };

  function follow(resolved: ResolvedFlow, run: Run): void {
    const found = takenOver(run);
    if (found === undefined) return letGo(resolved, run);
    const { name, track } = found;
    const ready = readyAttempt(resolved, run, { ...track, track: name }, deps.slotRules);
    // Whatever the workspace is: until it is handed back no other run works in it.
    if (ready !== undefined) slots.keep(run.id, ready.slot.locks);
    lent.add(run.id);
    if (track.lent !== undefined && track.returning === undefined) return;
    if (busy.has(run.id)) return void busy.set(run.id, "changed");
    busy.set(run.id, "as-seen");
    activity.add(act(resolved, run.id).catch((error: unknown) => options.onError(run.id, error)));
  }

  async function act(resolved: ResolvedFlow, runId: string): Promise<void> {
    try {
      await settle(deps, resolved, runId);
    } finally {
      const isChanged = busy.get(runId) === "changed";
      busy.delete(runId);
      const run = isChanged ? await deps.runs.load(runId) : undefined;
      if (run !== undefined) follow(resolved, run);
    }
  }

  function letGo(resolved: ResolvedFlow, run: Run): void {
    if (!lent.delete(run.id)) return;
    const stays = Object.entries(run.tracks).some(
      ([track, at]) => (at.at === "ready" || at.at === "running") && holdsBranch(resolved, run, { ...at, track }),
    );
    if (stays) return;
    slots.letGo(run.id);
    deps.onFreed();
  }
}

/** Does what the run asks for now; both acts can be repeated. */
async function settle(deps: TakeoverDeps, resolved: ResolvedFlow, runId: string): Promise<void> {
  const run = await deps.runs.load(runId);
  const found = run === undefined ? undefined : takenOver(run);
  if (run === undefined || found === undefined) return;
  const { name, track } = found;
  await deps.attempts.goneOf(runId, attemptKey(runId, track.stage, track.attempt));
  const stage = findWork(resolved.flow, run, name, track.stage);
  if (stage === undefined) return;
  const { attempt } = track;
  const marker = markerOf(deps.options.storeId, runId, stage.id, attempt);
  const place: LentPlace = { resolved, run, track: name, stage, attempt, project: projectOf(run), marker };
  if (track.lent === undefined) await lend(deps, place);
  else await takeBack(deps, place, track);
}

async function lend({ options, persist }: TakeoverDeps, place: LentPlace): Promise<void> {
  const { run, stage, attempt } = place;
  const prepared = await lendWorkspace(place, portsOf(options, place));
  const where = { stage: stage.id, attempt };
  const body: SignalBody = prepared.ok
    ? { type: "takeover.prepared", ...where, lent: prepared.value }
    : { type: "takeover.failed", ...where, reason: prepared.error.message };
  await persist(run.id, body, "engine", `lent:${stage.id}:${attempt}:${options.newId()}`);
}

async function takeBack(
  { options, persist }: TakeoverDeps,
  place: LentPlace,
  { lent, returning }: Taken,
): Promise<void> {
  if (lent === undefined || returning === undefined) return;
  const { run, stage, attempt } = place;
  const where = { stage: stage.id, attempt };
  const taken = await takeBackWorkspace(place, portsOf(options, place), lent, returning);
  const body: SignalBody = taken.ok
    ? { type: "handback.settled", ...where, work: taken.value }
    : { type: "handback.failed", ...where, reason: taken.error.message };
  await persist(run.id, body, "engine", `handback:${stage.id}:${attempt}:${options.newId()}`);
}

/** Nobody waits long enough to abort it, and a half-done one would be repeated. */
const NEVER = new AbortController().signal;

function portsOf({ workspaces, runners }: TakeoverDeps["options"], { resolved, run }: LentPlace) {
  return { workspaces: workspaces(workspaceMode(resolved, run)), redact: runners.redact, signal: NEVER };
}
