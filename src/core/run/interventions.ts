// A person's hand on a run at any time: stop its agents, resume, retry a stage, go back to an earlier one, skip a stage. All of it is recorded; a gate cannot be skipped.

import { type Draft, emit } from "./draft.ts";
import type { Actor } from "./event.ts";
import type { WorkStage } from "../flow/flow.ts";
import { MAIN_TRACK } from "../flow/flow.ts";
import { handOffAgain } from "./handoff.ts";
import { changedSettings } from "./renewed-settings.ts";
import { enter, leave, ready } from "./routing.ts";
import { type Carry, heldAttempt, type Run, takenOver, type Track } from "./run.ts";
import { conditionHolds, findStage, findWork, stagesOf } from "./sequence.ts";
import type { Signal } from "./signal.ts";
import { toldNote } from "./told.ts";

export function resumed(draft: Draft, signal: Signal): string | undefined {
  if (!draft.run.paused) return "the run is not paused";
  emit(draft, { type: "run.unpaused" }, signal.actor);
  return undefined;
}

/** The agents end now; their stages are ready again with the same carry, and nothing is counted. Nothing starts before a person resumes the run. */
export function stoppedByHand(draft: Draft, signal: Signal & { type: "stop.requested" }): string | undefined {
  const working = Object.entries(draft.run.tracks).flatMap(([name, track]) => {
    if (track.at !== "running" || track.outside === true) return [];
    if (signal.stage !== undefined && track.stage !== signal.stage) return [];
    const stage = findWork(draft.flow, draft.run, name, track.stage);
    return stage === undefined ? [] : [{ name, track, stage }];
  });
  if (working.length === 0)
    return signal.stage === undefined ? "no agent works on it here" : `no agent works on ${signal.stage} here`;
  const reason = signal.reason.trim() === "" ? "stopped by a person" : signal.reason;
  if (!draft.run.paused) emit(draft, { type: "run.paused", reason }, signal.actor);
  for (const { name, track, stage } of working) {
    endCurrent(draft, name, track, reason, signal.actor);
    ready(draft, { track: name, stage, carry: track.carry }, { actor: signal.actor });
  }
  return undefined;
}

export function retried(draft: Draft, signal: Signal & { type: "retry.requested" }): string | undefined {
  const found = currentTrack(draft.run, signal.stage);
  if (typeof found === "string") return signal.stage === undefined ? found : wentBack(draft, signal);
  const { name, track } = found;
  if (track.at === "taken") return handBackFirst(track);
  const said = signal.note === "" ? {} : { said: signal.note };
  const { untaken: _closed, ...before } = track.carry;
  const carry: Carry = { ...before, reason: "again", ...said, ...toldNote(draft.flow, before, signal.note) };
  const gate = findStage(draft.flow, draft.run, name, track.stage);
  if (gate?.kind === "gate" && track.at === "stopped") {
    if (signal.runners !== undefined) return `no agent works at ${track.stage}`;
    const sender = { track: name, stage: gate, attempt: 0, carry };
    enter(draft, sender, { track: name, stage: gate, reason: "again", actor: signal.actor });
    return undefined;
  }
  const stage = findWork(draft.flow, draft.run, name, track.stage) ?? routerOf(draft, track.stage);
  if (stage === undefined) return `${track.stage} cannot be retried: it is not a stage that works`;
  renew(draft, signal);
  endCurrent(draft, name, track, "retried", signal.actor);
  const handoff = handoffAfter(draft, found, stage, carry);
  ready(draft, { track: name, stage, carry: { ...carry, handoff } }, { actor: signal.actor });
  return undefined;
}

/**
 * Back to a stage that has worked before, in the same track; whatever comes after it comes again, gates too. Loops that were counted
 * stay counted. From a stage before a fork the tracks end.
 */
function wentBack(draft: Draft, signal: Signal & { type: "retry.requested" }): string | undefined {
  const { flow, run } = draft;
  const { stage: id = "", note, actor } = signal;
  const taken = takenOver(run)?.track;
  if (taken !== undefined) return handBackFirst(taken);
  const [name, track] = Object.entries(run.tracks).find(([each]) => findWork(flow, run, each, id) !== undefined) ?? [];
  const stage = name === undefined ? undefined : findWork(flow, run, name, id);
  if (name === undefined || track === undefined || stage === undefined)
    return `${id} is not the current stage, and not an earlier one that works`;
  const memory = run.stages[id];
  if (memory?.last === undefined) return `${id} is not the current stage, and has not worked yet`;
  const ids = stagesOf(flow, run, name).map((each) => each.id);
  if (track.at === "done") {
    if (run.tracks[MAIN_TRACK]?.at !== "forked")
      return `${id} is of a track that has joined; go back to an earlier stage`;
  } else if (ids.indexOf(id) >= ids.indexOf(track.stage)) return `${id} does not come before ${track.stage}`;
  renew(draft, signal);
  const leaving = track.at === "done" ? stage : (findStage(flow, run, name, track.stage) ?? stage);
  const ending = track.at === "forked" ? Object.entries(run.tracks) : [[name, track] as const];
  for (const [each, state] of ending) {
    if (state.at === "done" || state.at === "forked") continue;
    endCurrent(draft, each, state, "went back", actor);
    const isUntaken = state.at !== "waiting" || heldAttempt(state.item) !== undefined;
    if (isUntaken && state.carry.handoff > 0)
      emit(draft, { type: "handoff.withdrawn", track: each, number: state.carry.handoff, reason: "went back" });
    if (each !== name) emit(draft, { type: "track.done", track: each });
  }
  const said = { ...(note === "" ? {} : { said: note }), ...toldNote(flow, {}, note) };
  const rest = { names: [], issues: [], questions: [], loop: 0, loopMax: null };
  const sender = {
    track: name,
    stage: leaving,
    attempt: run.stages[leaving.id]?.attempts ?? 0,
    carry: { from: leaving.id, reason: "again" as const, ...rest, ...said },
  };
  enter(draft, sender, { track: name, stage, reason: "again", actor });
  return undefined;
}

export function skipped(draft: Draft, signal: Signal & { type: "skip.requested" }): string | undefined {
  if (signal.reason.trim() === "") return "skipping needs a reason";
  const found = currentTrack(draft.run, signal.stage);
  if (typeof found === "string") return found;
  const { name, track } = found;
  if (track.at === "taken") return handBackFirst(track);
  const stage = findWork(draft.flow, draft.run, name, track.stage);
  if (stage === undefined) return `${track.stage} cannot be skipped: it is not a stage that works`;
  if (stage.kind === "router") return `${track.stage} cannot be skipped: without its list there is nothing to run`;
  endCurrent(draft, name, track, "skipped", signal.actor);
  // A handoff that no agent took must not wait any longer.
  if (track.at !== "running" && track.carry.handoff > 0)
    emit(draft, { type: "handoff.withdrawn", track: name, number: track.carry.handoff, reason: signal.reason });
  emit(draft, { type: "stage.skipped", track: name, stage: stage.id, reason: signal.reason }, signal.actor);
  const { untaken: _closed, ...before } = track.carry;
  const carry = {
    ...before,
    from: stage.id,
    reason: "next" as const,
    issues: [],
    questions: [],
    loop: 0,
    loopMax: null,
  };
  leave(draft, { track: name, stage, attempt: draft.run.stages[stage.id]?.attempts ?? 0, carry }, "next");
  return undefined;
}

/** The next attempt works with the settings of now, and with what a person chose. */
function renew(draft: Draft, { settings, runners, actor }: Signal & { type: "retry.requested" }): void {
  const changed = changedSettings(draft.run, settings);
  if (changed !== undefined) emit(draft, { type: "settings.renewed", ...changed }, actor);
  if (runners !== undefined) emit(draft, { type: "runners.chosen", runners }, actor);
}

/** An unfinished handoff brings the next attempt as well. An agent outside looks for a handoff that can be taken: a new one. */
function handoffAfter(draft: Draft, { name, track }: Current, stage: WorkStage, carry: Carry): number {
  const isTakenOutside = track.at === "running" && track.outside === true;
  if (carry.handoff > 0 && !isTakenOutside) return carry.handoff;
  if (carry.handoff > 0)
    emit(draft, { type: "handoff.withdrawn", track: name, number: carry.handoff, reason: "retried" });
  return handOffAgain(draft, name, stage, carry);
}

/** A dynamic stage that could not use its list is retried by asking the router again. */
function routerOf(draft: Draft, id: string): WorkStage | undefined {
  const stage = findStage(draft.flow, draft.run, MAIN_TRACK, id);
  if (stage?.kind !== "dynamic") return undefined;
  const routers = stage.from.map((name) => findWork(draft.flow, draft.run, MAIN_TRACK, name.split(".")[0] ?? ""));
  return routers.find(
    (router) => router?.kind === "router" && (router.when === undefined || conditionHolds(draft.run, router.when)),
  );
}

/** The workspace is a person's: nothing else may change what happens in it. */
function handBackFirst({ by, stage }: Track & { at: "taken" }): string {
  return `${by} has taken over ${stage}; it must be handed back first`;
}

type Resting = Exclude<Track, { at: "done" } | { at: "forked" }>;
type Current = { readonly name: string; readonly track: Resting };

/** The track that a person means: the one at the named stage, or the only one. */
export function currentTrack(run: Run, stage: string | undefined): Current | string {
  const candidates = Object.entries(run.tracks).flatMap(([name, track]) =>
    track.at === "done" || track.at === "forked" || (stage !== undefined && track.stage !== stage)
      ? []
      : [{ name, track }],
  );
  const [only, ...others] = candidates;
  if (only === undefined) return stage === undefined ? "no stage is current" : `${stage} is not the current stage`;
  if (others.length > 0)
    return `several stages are current, name one: ${candidates.map(({ track }) => track.stage).join(", ")}`;
  return only;
}

export function endCurrent(draft: Draft, name: string, track: Resting, reason: string, actor: Actor): void {
  if (track.at === "ready" || track.at === "running") {
    emit(draft, { type: "stage.canceled", track: name, stage: track.stage, attempt: track.attempt, reason }, actor);
  } else if (track.at === "waiting") {
    emit(draft, { type: "item.withdrawn", track: name, number: track.item.number, reason }, actor);
    const attempt = heldAttempt(track.item);
    if (attempt !== undefined)
      emit(draft, { type: "stage.canceled", track: name, stage: track.stage, attempt, reason }, actor);
  }
}
