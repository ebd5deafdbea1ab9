// A person controls a run: cancel, pause, stop, resume, retry, rerun, skip, steer, take over, hand back, undo. A request that changes nothing succeeds, too.

import { setTimeout as sleep } from "node:timers/promises";
import type { AllAction } from "../../../app/control-all.ts";
import type { ControlAction } from "../../../app/control-run.ts";
import { takeoverSettled } from "../../../app/takeover.ts";
import { takenOver } from "../../../core/run/run.ts";
import { optional } from "../../../core/optional.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import type { RunSummary } from "../../../store/store.ts";
import type { Refusal } from "../../contract/problem.ts";
import { ROUTES } from "../../contract/routes.ts";
import { actorOf } from "../actor.ts";
import { findRun } from "../find-run.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import type { Principal } from "../principal.ts";
import { refusalOf } from "../refusal.ts";
import { signalKey } from "../signal-key.ts";

export function mountControl(mount: MountRoute, deps: ServerDeps): void {
  mount.json(ROUTES.cancelRun, (call) => control(deps, call, { type: "cancel", reason: call.body.reason }));
  mount.json(ROUTES.pauseRun, (call) => control(deps, call, { type: "pause", reason: call.body.reason }));
  mount.json(ROUTES.stopRun, (call) => {
    const { stage, reason } = call.body;
    return control(deps, call, { type: "stop", reason, ...optional({ stage }) });
  });
  mount.json(ROUTES.resumeRun, (call) => control(deps, call, { type: "resume" }));
  mount.json(ROUTES.undoLanding, (call) => control(deps, call, { type: "undo" }));
  const all = async (call: Pick<ControlCall, "principal" | "key">, action: AllAction) => {
    const sent = { actor: actorOf(call.principal), ...optional({ key: signalKey(call.key) }) };
    const { changed, refused } = await deps.app.controlAll(action, sent);
    return ok({ changed: [...changed], refused: refused.map((each) => ({ ...each })) });
  };
  mount.json(ROUTES.pauseAll, (call) => all(call, { type: "pause", reason: call.body.reason }));
  mount.json(ROUTES.resumeAll, (call) => all(call, { type: "resume" }));
  mount.json(ROUTES.changeBudget, async ({ params, body: { usd, tokens }, principal, key }) => {
    const sent = { actor: actorOf(principal), ...optional({ key: signalKey(key) }) };
    const changed = await deps.app.changeBudget(params.run, optional({ usd, tokens }), sent);
    if (!changed.ok) return err(refusalOf(changed.error));
    return ok({ limit: { ...changed.value.limit }, changed: changed.value.changed });
  });
  mount.json(ROUTES.retryStage, (call) => {
    const { stage, note, agents, models } = call.body;
    const others = othersOf(flagsOf(agents), flagsOf(models));
    return control(deps, call, { type: "retry", note, ...optional({ stage, with: others }) });
  });
  mount.json(ROUTES.rerunFrom, (call) => {
    const { stage, note } = call.body;
    return control(deps, call, { type: "rerun", from: stage, note });
  });
  mount.json(ROUTES.steerRun, (call) => {
    const { stage, text } = call.body;
    return control(deps, call, { type: "steer", text, ...optional({ stage }) });
  });
  mount.json(ROUTES.takeoverRun, (call) =>
    controlAndWait(deps, call, { type: "takeover", ...optional({ stage: call.body.stage }) }),
  );
  mount.json(ROUTES.handbackRun, (call) => controlAndWait(deps, call, { type: "handback", ...call.body }));
  mount.json(ROUTES.skipStage, (call) => {
    const { stage, reason } = call.body;
    return control(deps, call, { type: "skip", reason, ...optional({ stage }) });
  });
}

/** The agent gets some seconds to end; a client that still finds no folder looks at the run again. */
const SETTLE_MS = 15_000;
const LOOK_MS = 50;

/** Answers when the engine has acted: the folder is the person's, or it was taken back. */
async function controlAndWait(
  deps: ServerDeps,
  call: ControlCall,
  action: ControlAction,
): Promise<Result<{ run: RunSummary; changed: boolean }, Refusal>> {
  const controlled = await control(deps, call, action);
  if (!controlled.ok) return controlled;
  const { id, number } = controlled.value.run;
  const how = { waitMs: SETTLE_MS, pause: () => sleep(LOOK_MS) };
  const run = await takeoverSettled(deps.store, id, how);
  const track = run === undefined ? undefined : takenOver(run)?.track;
  if (action.type === "handback" && track?.refused !== undefined)
    return err(refusalOf({ code: "action_refused", message: `#${number} was not handed back: ${track.refused}` }));
  const after = await findRun(deps.store, id);
  return after.ok ? ok({ run: after.value.summary, changed: controlled.value.changed }) : after;
}

function flagsOf(chosen: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries(chosen).map(([name, value]) => `${name}=${value}`);
}

function othersOf(agents: readonly string[], models: readonly string[]) {
  return agents.length + models.length === 0 ? undefined : { agents, models };
}

type ControlCall = { readonly params: { readonly run: string }; readonly principal: Principal; readonly key?: string };

async function control(
  { app, store }: ServerDeps,
  { params, principal, key }: ControlCall,
  action: ControlAction,
): Promise<Result<{ run: RunSummary; changed: boolean }, Refusal>> {
  const sent = { actor: actorOf(principal), ...optional({ key: signalKey(key) }) };
  const controlled = await app.controlRun(params.run, action, sent);
  if (!controlled.ok) return err(refusalOf(controlled.error));
  const after = await findRun(store, controlled.value.run.id);
  return after.ok ? ok({ run: after.value.summary, changed: controlled.value.changed }) : after;
}
