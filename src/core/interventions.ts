// A person's hand on a run at any time: resume, retry a stage, skip a stage. All of it is recorded; a gate cannot be skipped.

import { type Draft, emit } from "./draft.ts";
import type { WorkStage } from "./flow.ts";
import { MAIN_TRACK } from "./flow.ts";
import { enter, leave, ready } from "./routing.ts";
import type { Carry, Run, Track } from "./run.ts";
import { conditionHolds, findStage, findWork } from "./sequence.ts";
import type { Signal } from "./signal.ts";

export function resumed(draft: Draft, signal: Signal): string | undefined {
  if (!draft.run.paused) return "the run is not paused";
  emit(draft, { type: "run.unpaused" }, signal.actor);
  for (const [track, state] of Object.entries(draft.run.tracks)) {
    if (state.at === "ready")
      draft.commands.push({ type: "start-attempt", track, stage: state.stage, attempt: state.attempt });
  }
  return undefined;
}

export function retried(draft: Draft, signal: Signal & { type: "retry.requested" }): string | undefined {
  const found = currentTrack(draft.run, signal.stage);
  if (typeof found === "string") return found;
  const { name, track } = found;
  const said = signal.note === "" ? {} : { said: signal.note };
  const carry: Carry = { ...track.carry, reason: "again", ...said };
  const gate = findStage(draft.flow, draft.run, name, track.stage);
  if (gate?.kind === "gate" && track.at === "stopped") {
    enter(draft, { track: name, stage: gate, attempt: 0, carry }, name, gate, "again");
    return undefined;
  }
  const stage = findWork(draft.flow, draft.run, name, track.stage) ?? routerOf(draft, track.stage);
  if (stage === undefined) return `${track.stage} cannot be retried: it is not a stage that works`;
  endCurrent(draft, name, track, "retried");
  ready(draft, name, stage, carry);
  return undefined;
}

export function skipped(draft: Draft, signal: Signal & { type: "skip.requested" }): string | undefined {
  if (signal.reason.trim() === "") return "skipping needs a reason";
  const found = currentTrack(draft.run, signal.stage);
  if (typeof found === "string") return found;
  const { name, track } = found;
  const stage = findWork(draft.flow, draft.run, name, track.stage);
  if (stage === undefined) return `${track.stage} cannot be skipped: it is not a stage that works`;
  if (stage.kind === "router") return `${track.stage} cannot be skipped: without its list there is nothing to run`;
  endCurrent(draft, name, track, "skipped");
  emit(draft, { type: "stage.skipped", track: name, stage: stage.id, reason: signal.reason }, signal.actor);
  const carry = {
    ...track.carry,
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

/** A dynamic stage that could not use its list is retried by asking the router again. */
function routerOf(draft: Draft, id: string): WorkStage | undefined {
  const stage = findStage(draft.flow, draft.run, MAIN_TRACK, id);
  if (stage?.kind !== "dynamic") return undefined;
  const routers = stage.from.map((name) => findWork(draft.flow, draft.run, MAIN_TRACK, name.split(".")[0] ?? ""));
  return routers.find(
    (router) => router?.kind === "router" && (router.when === undefined || conditionHolds(draft.run, router.when)),
  );
}

type Resting = Exclude<Track, { at: "done" } | { at: "forked" }>;

/** The track that a person means: the one at the named stage, or the only one. */
function currentTrack(run: Run, stage: string | undefined): { name: string; track: Resting } | string {
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

function endCurrent(draft: Draft, name: string, track: Resting, reason: string): void {
  if (track.at === "ready" || track.at === "running") {
    emit(draft, { type: "stage.canceled", track: name, stage: track.stage, attempt: track.attempt, reason });
    draft.commands.push({ type: "end-attempt", stage: track.stage, attempt: track.attempt, reason });
  } else if (track.at === "waiting") {
    emit(draft, { type: "item.withdrawn", track: name, number: track.item.number, reason });
    if (track.item.kind === "budget")
      emit(draft, { type: "stage.canceled", track: name, stage: track.stage, attempt: track.item.attempt, reason });
  }
}
