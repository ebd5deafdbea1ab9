// The stage in which a run waits for its pull request to be merged: carried out outside, by the agent `forge`. The watcher or a person
// reports the outcome here.

import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { Actor } from "../../core/run/event.ts";
import type { Report } from "../../core/flow/outcome.ts";
import type { Run } from "../../core/run/run.ts";
import { findWork } from "../../core/run/sequence.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Delivered } from "../../engine/runs.ts";
import type { PullRequestState } from "../../forge/forge.ts";
import { type Landed, landedPayload } from "../../core/ticket/landed.ts";

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

/** The report for a state of the request; undefined while it is open. */
export function reportOf(state: PullRequestState, landed: Landed): Report | undefined {
  switch (state.state) {
    case "open":
      return undefined;
    case "merged": {
      const { commit } = state;
      const summary = `${landed.target} holds ${commit}.`;
      return {
        structured: true,
        verdict: "pass",
        summary,
        payload: landedPayload({ ...landed, commit, how: "merged" }),
      };
    }
    case "closed":
      return { structured: true, verdict: "reject", reason: state.reason };
    case "revise":
      return { structured: true, verdict: "revise", summary: state.summary, issues: state.issues };
  }
}

/** Repeating a report for the same attempt changes nothing. */
export function report(
  engine: Pick<Engine, "deliver">,
  run: Run,
  { stage, attempt }: WaitingMerge,
  merged: { readonly report: Report; readonly key: string; readonly actor: Actor },
): Promise<Delivered> {
  const body = { type: "attempt.finished", stage, attempt, report: merged.report, outside: true } as const;
  return engine.deliver(run.id, body, merged.actor, `merge:${stage}:${attempt}:${merged.key}`);
}
