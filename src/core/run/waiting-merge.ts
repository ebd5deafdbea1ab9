// The stage in which a run waits for its pull request to be merged: carried out outside, by the agent `forge`.

import type { ResolvedFlow } from "../flow/agent.ts";
import type { Run } from "./run.ts";
import { findWork } from "./sequence.ts";

const FORGE = "forge";

export type WaitingMerge = { readonly stage: string; readonly attempt: number; readonly since: string };

/** Undefined if the run does not wait for a merge. */
export function waitingMerge({ flow }: Pick<ResolvedFlow, "flow">, run: Run): WaitingMerge | undefined {
  for (const [name, track] of Object.entries(run.tracks)) {
    if (track.at !== "ready" && !(track.at === "running" && track.outside === true)) continue;
    if (findWork(flow, run, name, track.stage)?.agent !== FORGE) continue;
    return { stage: track.stage, attempt: track.attempt, since: track.since };
  }
  return undefined;
}
