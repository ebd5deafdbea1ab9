// Reports to the stage in which a run waits for its pull request to be merged: by the watcher or by a person.

import type { Actor } from "../../core/run/event.ts";
import type { Report } from "../../core/flow/outcome.ts";
import type { Run } from "../../core/run/run.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Delivered } from "../../engine/runs.ts";
import type { PullRequestState } from "../../forge/forge.ts";
import { type Landed, landedPayload } from "../../core/ticket/landed.ts";
import type { WaitingMerge } from "../../core/run/waiting-merge.ts";

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
