// Attempts that are ready and wait for the limit of their runner: they are held, and let go when the limit is gone before its time.

import { optional } from "../optional.ts";
import { type Draft, emit } from "./draft.ts";
import type { Run, Track } from "./run.ts";
import type { Signal } from "./signal.ts";

type ReadyTrack = Track & { at: "ready" };

/** Its runner is over its limit, as another attempt found out: this one does not try. */
export function held(draft: Draft, signal: Signal & { type: "attempt.held" }): string | undefined {
  const found = readyTrack(draft, signal);
  if (found === undefined) return `attempt ${signal.attempt} of ${signal.stage} is not ready`;
  const { stage, attempt, runner, cause, until, ladder } = signal;
  const more = optional({ ladder });
  emit(draft, { type: "stage.held", track: found.name, stage, attempt, runner, cause, until, ...more });
  return undefined;
}

/** A person lifted the hold, or the runner works again. */
export function released(draft: Draft, signal: Signal & { type: "hold.lifted" }): string | undefined {
  if (signal.actor !== "engine" && !signal.actor.startsWith("human:")) return "only a person can do this";
  const waiting = waitingFor(draft.run, signal.runner, Date.parse(draft.at));
  if (waiting.length === 0) return `nothing of this run waits for ${signal.runner}`;
  const { runner, reason } = signal;
  for (const [track, { stage, attempt }] of waiting)
    emit(draft, { type: "stage.released", track, stage, attempt, runner, reason }, signal.actor);
  return undefined;
}

/** The tracks that wait for this runner now; `nowMs` in milliseconds. */
export function waitingFor(run: Run, runner: string, nowMs: number): readonly (readonly [string, ReadyTrack])[] {
  return Object.entries(run.tracks).flatMap(([name, track]) =>
    track.at === "ready" && isFor(track, runner) && Date.parse(track.notBefore ?? "") > nowMs
      ? [[name, track] as const]
      : [],
  );
}

function isFor({ runner, ladder = [] }: ReadyTrack, name: string): boolean {
  return runner === name || ladder.includes(name);
}

export function readyTrack(
  { run }: Draft,
  { stage, attempt }: { readonly stage: string; readonly attempt: number },
): { name: string; track: ReadyTrack } | undefined {
  for (const [name, track] of Object.entries(run.tracks)) {
    if (track.at === "ready" && track.stage === stage && track.attempt === attempt) return { name, track };
  }
  return undefined;
}
