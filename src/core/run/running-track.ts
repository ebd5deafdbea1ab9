// The track on which an attempt runs.

import type { Run, Track } from "./run.ts";

export function runningTrack(
  run: Run,
  stage: string,
  attempt: number,
): { readonly name: string; readonly track: Track & { at: "running" } } | undefined {
  for (const [name, track] of Object.entries(run.tracks))
    if (track.at === "running" && track.stage === stage && track.attempt === attempt) return { name, track };
  return undefined;
}
