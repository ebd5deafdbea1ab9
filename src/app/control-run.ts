// A person controls a run: cancel, pause, resume, retry, rerun, skip. If the run is already in the wanted state, nothing changes and the
// request succeeds.

import { optional } from "../core/optional.ts";
import { err, ok, type Result } from "../core/result.ts";
import { isEnded, type Run } from "../core/run/run.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { type Delivering, deliver, type Sent, wasApplied } from "./deliver.ts";
import { findRun } from "./find-run.ts";
import type { AppProblem } from "./problem.ts";

export type ControlAction =
  | { readonly type: "cancel"; readonly reason: string }
  | { readonly type: "pause"; readonly reason: string }
  | { readonly type: "resume" }
  /** Default: the current stage. */
  | { readonly type: "retry"; readonly stage?: string; readonly note: string }
  /** Back to an earlier stage. */
  | { readonly type: "rerun"; readonly from: string; readonly note: string }
  | { readonly type: "skip"; readonly stage?: string; readonly reason: string };

/** `changed` is false if the run was already in that state, or if the same key did it earlier. */
export type Controlled = { readonly run: Run; readonly changed: boolean };

export async function controlRun(
  deps: Delivering,
  reference: string,
  action: ControlAction,
  sent: Sent,
): Promise<Result<Controlled, AppProblem>> {
  const found = await findRun(deps.store, reference);
  if (!found.ok) return found;
  const { run, summary } = found.value;
  const checked = checkControl(run, summary.number, action);
  if (!checked.ok) return checked;
  if (checked.value === "so-already") return ok({ run, changed: false });
  const delivered = await deliver(deps, run, signalOf(action), sent);
  if (delivered.ok) return ok({ run: delivered.value.run, changed: !delivered.value.duplicate });
  if (await wasApplied(deps.store, run.id, sent.key)) return ok({ run, changed: false });
  return err({ code: "action_refused", message: `#${summary.number}: ${delivered.error}.` });
}

/** Every check that needs no flow. */
export function checkControl(
  run: Run,
  number: number,
  action: ControlAction,
): Result<"so-already" | "may-change", AppProblem> {
  if (action.type === "skip" && action.reason.trim() === "")
    return err({ code: "reason_required", message: "Skipping a stage needs a reason.", field: "reason" });
  if (isSoAlready(run, action)) return ok("so-already");
  return isEnded(run)
    ? err({
        code: "run_ended",
        message: `#${number} is ${run.status} (${run.word}); nothing more can be done with it.`,
      })
    : ok("may-change");
}

function isSoAlready(run: Run, { type }: ControlAction): boolean {
  switch (type) {
    case "cancel":
      return run.status === "canceled";
    case "pause":
      return run.paused && !isEnded(run);
    case "resume":
      return !run.paused && !isEnded(run);
    case "retry":
    case "rerun":
    case "skip":
      return false;
  }
}

function signalOf(action: ControlAction): SignalBody {
  switch (action.type) {
    case "cancel":
      return { type: "cancel.requested", reason: action.reason || "canceled by a person" };
    case "pause":
      return { type: "pause.requested", reason: action.reason };
    case "resume":
      return { type: "resume.requested" };
    case "retry":
      return { type: "retry.requested", note: action.note, ...optional({ stage: action.stage }) };
    case "rerun":
      return { type: "retry.requested", note: action.note, stage: action.from };
    case "skip":
      return { type: "skip.requested", reason: action.reason, ...optional({ stage: action.stage }) };
  }
}
