// A person controls a run: cancel, pause, stop, resume, retry, rerun, skip, steer, take over, hand back, undo. If the run is already in the wanted state, nothing changes and the
// request succeeds.

import { optional } from "../core/optional.ts";
import { err, ok, type Result } from "../core/result.ts";
import { lateLanding } from "../core/run/outward.ts";
import { isEnded, type Run, takenOver } from "../core/run/run.ts";
import type { SignalBody } from "../core/run/signal.ts";
import type { ChosenAgents } from "./chosen-runners.ts";
import { type Delivering, deliver, type Sent, wasApplied } from "./deliver.ts";
import { findRun } from "./find-run.ts";
import type { AppProblem } from "./problem.ts";
import { type Renewing, retryWith, type RetryWith } from "./retry-with.ts";

export type ControlAction =
  | { readonly type: "cancel"; readonly reason: string }
  | { readonly type: "pause"; readonly reason: string }
  /** Ends the agents that work now, or the one of this stage; the run is paused. */
  | { readonly type: "stop"; readonly stage?: string; readonly reason: string }
  | { readonly type: "resume" }
  /** Default: the current stage. */
  | {
      readonly type: "retry";
      readonly stage?: string;
      readonly note: string;
      /** Other agents for the rest of the run. */
      readonly with?: ChosenAgents;
    }
  /** Back to an earlier stage. */
  | { readonly type: "rerun"; readonly from: string; readonly note: string }
  | { readonly type: "skip"; readonly stage?: string; readonly reason: string }
  /** Says something to the agent of the current stage. */
  | { readonly type: "steer"; readonly text: string; readonly stage?: string }
  /** Ends the agent of the current stage and makes its session and its workspace the person's. */
  | { readonly type: "takeover"; readonly stage?: string }
  /** The stage continues with what the person did, or without it. */
  | { readonly type: "handback"; readonly note: string; readonly discard: boolean }
  /** Takes back what landed although the run was canceled. */
  | { readonly type: "undo" };

/** `changed` is false if the run was already in that state, or if the same key did it earlier. */
export type Controlled = { readonly run: Run; readonly changed: boolean };

type Controlling = Delivering & {
  /** For a retry: the settings as they are now, and the environment of the process that performs. */
  readonly renewing: Renewing;
  /** Why no work of the run may leave now, or undefined. */
  readonly withdrawnTrust: (run: Run) => string | undefined;
};

export async function controlRun(
  deps: Controlling,
  reference: string,
  action: ControlAction,
  sent: Sent,
): Promise<Result<Controlled, AppProblem>> {
  const found = await findRun(deps.store, reference);
  if (!found.ok) return found;
  const { run, summary } = found.value;
  const checked = checkControl(run, summary.number, action);
  if (!checked.ok) return checked;
  const isTheirs = action.type === "takeover" && sent.actor === `human:${takenOver(run)?.track.by}`;
  if (checked.value === "so-already" || isTheirs) return ok({ run, changed: false });
  const untrusted = action.type === "undo" ? deps.withdrawnTrust(run) : undefined;
  if (untrusted !== undefined) return err({ code: "action_refused", message: `#${summary.number}: ${untrusted}.` });
  const again = await againWith(deps, run, action);
  if (!again.ok) return err({ ...again.error, message: `#${summary.number}: ${again.error.message}` });
  const delivered = await deliver(deps, run, signalOf(action, again.value), sent);
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
  return isEnded(run) && action.type !== "undo"
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
    case "undo":
      return (lateLanding(run)?.undoneBy ?? null) !== null;
    case "stop":
      return run.paused && !isEnded(run) && !Object.values(run.tracks).some(({ at }) => at === "running");
    case "retry":
    case "rerun":
    case "skip":
    case "steer":
    case "takeover":
    case "handback":
      return false;
  }
}

/** The inputs of a retry: today's settings, and the agents that the person chose. */
async function againWith(
  { store, renewing }: Controlling,
  run: Run,
  action: ControlAction,
): Promise<Result<RetryWith, AppProblem>> {
  if (action.type === "retry") return retryWith(store, renewing, run, { ...action, chosen: action.with });
  return action.type === "rerun" ? retryWith(store, renewing, run, { stage: action.from }) : ok({});
}

function signalOf(action: ControlAction, again: RetryWith): SignalBody {
  switch (action.type) {
    case "cancel":
      return { type: "cancel.requested", reason: action.reason || "canceled by a person" };
    case "pause":
      return { type: "pause.requested", reason: action.reason };
    case "stop":
      return { type: "stop.requested", reason: action.reason, ...optional({ stage: action.stage }) };
    case "resume":
      return { type: "resume.requested" };
    case "retry":
      return { type: "retry.requested", note: action.note, ...optional({ stage: action.stage }), ...again };
    case "rerun":
      return { type: "retry.requested", note: action.note, stage: action.from, ...again };
    case "skip":
      return { type: "skip.requested", reason: action.reason, ...optional({ stage: action.stage }) };
    case "steer":
      return { type: "steer.requested", text: action.text, ...optional({ stage: action.stage }) };
    case "takeover":
      return { type: "takeover.requested", ...optional({ stage: action.stage }) };
    case "handback":
      return { type: "handback.requested", note: action.note, discard: action.discard };
    case "undo":
      return { type: "undo.requested" };
  }
}
