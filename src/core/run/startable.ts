// Which attempts may start and which may run, derived from the run's tracks. No command duplicates this.

import { isEnded, pendingInputs, type Run, takenOver } from "./run.ts";

export type StartableAttempt = {
  readonly track: string;
  readonly stage: string;
  readonly attempt: number;
  /** It must not start before this time. */
  readonly notBefore: string | null;
  /** When it became ready. */
  readonly since: string;
};

/** A paused or ended run starts nothing, nor does one that a person has taken over, or whose files changed until a person has decided. */
export function startableAttempts(run: Run): readonly StartableAttempt[] {
  if (isEnded(run) || isHeld(run)) return [];
  return Object.entries(run.tracks).flatMap(([name, track]) => {
    if (track.at !== "ready") return [];
    const { stage, attempt, notBefore = null, since } = track;
    return [{ track: name, stage, attempt, notBefore, since }];
  });
}

type AttemptPlace = Pick<StartableAttempt, "track" | "stage" | "attempt">;

export function isStartable(run: Run, { track, stage, attempt }: AttemptPlace): boolean {
  const state = run.tracks[track];
  return !isHeld(run) && state?.at === "ready" && state.stage === stage && state.attempt === attempt;
}

function isHeld(run: Run): boolean {
  return run.paused || pendingInputs(run) !== undefined || takenOver(run) !== undefined;
}

export type RunningAttempt = { readonly track: string; readonly stage: string; readonly attempt: number };

/** The attempts that an engine carries out now, without those that people or programs outside carry out. */
export function runningAttempts(run: Run): readonly RunningAttempt[] {
  return Object.entries(run.tracks).flatMap(([track, at]) =>
    at.at === "running" && at.outside !== true ? [{ track, stage: at.stage, attempt: at.attempt }] : [],
  );
}

/** Whether the run still wants this attempt to work. */
export function isRunning(run: Run, { track, stage, attempt }: AttemptPlace): boolean {
  const state = run.tracks[track];
  return state?.at === "running" && state.stage === stage && state.attempt === attempt;
}
