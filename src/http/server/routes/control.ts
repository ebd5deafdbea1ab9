// A person takes a run in hand: cancel, pause, resume, retry, go back, skip. What is so already is answered with success and changes nothing.

import type { Refusal } from "../../contract/problem.ts";
import { ROUTES } from "../../contract/routes.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { isEnded, type Run } from "../../../core/run/run.ts";
import type { SignalBody } from "../../../core/run/signal.ts";
import { transition } from "../../../core/run/transition.ts";
import type { RunSummary } from "../../../store/store.ts";
import { actorOf } from "../actor.ts";
import { findRun } from "../find-run.ts";
import { flowOf } from "../../../store/flow-of.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerParts } from "../parts.ts";
import type { Principal } from "../principal.ts";
import { optional } from "../../../core/optional.ts";

export function mountControl(mount: MountRoute, parts: ServerParts): void {
  mount.json(ROUTES.cancelRun, (call) =>
    control(parts, {
      ...asked(call),
      signal: { type: "cancel.requested", reason: call.body.reason || "canceled by a person" },
      isSo: (run) => run.status === "canceled",
    }),
  );
  mount.json(ROUTES.pauseRun, (call) =>
    control(parts, {
      ...asked(call),
      signal: { type: "pause.requested", reason: call.body.reason },
      isSo: (run) => run.paused && !isEnded(run),
    }),
  );
  mount.json(ROUTES.resumeRun, (call) =>
    control(parts, {
      ...asked(call),
      signal: { type: "resume.requested" },
      isSo: (run) => !run.paused && !isEnded(run),
    }),
  );
  mount.json(ROUTES.retryStage, (call) => {
    const { stage, note } = call.body;
    const at = stage === undefined ? {} : { stage };
    return control(parts, { ...asked(call), signal: { type: "retry.requested", note, ...at }, isSo: () => false });
  });
  mount.json(ROUTES.rerunFrom, (call) =>
    control(parts, { ...asked(call), signal: { type: "retry.requested", ...call.body }, isSo: () => false }),
  );
  mount.json(ROUTES.skipStage, async (call) => {
    const { stage, reason } = call.body;
    if (reason.trim() === "")
      return err({ code: "reason_required", detail: "Skipping a stage needs a reason.", pointer: "/reason" });
    const at = stage === undefined ? {} : { stage };
    return control(parts, { ...asked(call), signal: { type: "skip.requested", reason, ...at }, isSo: () => false });
  });
}

type Asked = {
  readonly reference: string;
  readonly principal: Principal;
  readonly wish?: string;
};

function asked(call: { params: { run: string }; principal: Principal; wish?: string }): Asked {
  return {
    reference: call.params.run,
    principal: call.principal,
    ...optional({ wish: call.wish }),
  };
}

type Control = Asked & { readonly signal: SignalBody; readonly isSo: (run: Run) => boolean };

async function control(
  { store, engine, now }: ServerParts,
  { reference, principal, wish, signal, isSo }: Control,
): Promise<Result<{ run: RunSummary; changed: boolean }, Refusal>> {
  const found = await findRun(store, reference);
  if (!found.ok) return found;
  const { run, summary } = found.value;
  if (isSo(run)) return ok({ run: summary, changed: false });
  if (isEnded(run))
    return err({
      code: "run_ended",
      detail: `#${summary.number} is ${run.status} (${run.word}); nothing more can be done with it.`,
    });
  const signalId = wish === undefined ? undefined : `wish:${wish}`;
  const actor = actorOf(principal);
  // Tried out first: what does not fit is refused without a trace, and its key stays good for later.
  const { flow } = await flowOf(store, run);
  const wouldBe = transition(flow, run, { ...signal, id: "", at: now(), actor }).ignored;
  const isRepeated = wouldBe !== undefined && signalId !== undefined && (await store.hasSignal(run.id, signalId));
  if (isRepeated) return ok({ run: summary, changed: false });
  const delivery = wouldBe === undefined ? await engine.deliver(run.id, signal, actor, signalId) : undefined;
  const ignored = wouldBe ?? delivery?.ignored;
  if (ignored !== undefined || delivery === undefined)
    return err({ code: "action_refused", detail: `#${summary.number}: ${ignored}.` });
  const after = await findRun(store, run.id);
  return after.ok ? ok({ run: after.value.summary, changed: !delivery.duplicate }) : after;
}
