// A person's acts on the finished work of a run: merge, propose, discard, or mark as merged.

import { openLanding } from "../../../app/run-end.ts";
import { createTurns } from "../../../app/turns.ts";
import type { Problem, Result } from "../../../core/result.ts";
import { err, ok } from "../../../core/result.ts";
import { optional } from "../../../core/optional.ts";
import { discardable, type FinishedWork, landable } from "../../../ticket/land/finished.ts";
import { runsOfTicket } from "../../../ticket/land/find.ts";
import type { Refusal } from "../../contract/problem.ts";
import type { AnswerOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import { actorOf } from "../actor.ts";
import type { LandingActs, ServerDeps } from "../deps.ts";
import { findRun } from "../find-run.ts";
import type { Call, MountRoute } from "../mount.ts";
import { refusalOf, startRefusal } from "../refusal.ts";

export function mountLanding(mount: MountRoute, deps: ServerDeps): void {
  // Two persons who merge the same work at once get one run.
  const turns = createTurns();
  mount.json(ROUTES.mergeRun, async (call) => {
    const work = await finished(deps, call.params.run);
    return work.ok ? turns(work.value.run.id, () => merge(deps, work.value, call)) : work;
  });
  mount.json(ROUTES.discardRun, async (call) => {
    const work = await finished(deps, call.params.run);
    return work.ok ? turns(work.value.run.id, () => discard(deps, work.value, call)) : work;
  });
  mount.json(ROUTES.confirmMerge, (call) => confirm(deps, call));
}

type Merge = typeof ROUTES.mergeRun;

/** While a run lands the work, asking again names that run. */
async function merge(
  deps: ServerDeps,
  work: FinishedWork,
  { body, principal, key }: Call<Merge>,
): Promise<Result<AnswerOf<Merge>, Refusal>> {
  const kept = landable(work);
  if (!kept.ok) return err(refused(kept.error));
  const landing = await openLanding(deps.store, work.run);
  if (landing !== undefined) return answerWith(deps, landing.id, false);
  const plan = await deps.landing.plan(work, kept.value, { pr: body.pullRequest, ...optional({ key }) });
  if (!plan.ok) return err(startRefusal("land", plan.error));
  const started = await deps.app.startRun(plan.value, actorOf(principal));
  return started.ok ? answerWith(deps, started.value.run.id, started.value.started) : err(refusalOf(started.error));
}

async function answerWith(
  { store }: ServerDeps,
  id: string,
  started: boolean,
): Promise<Result<AnswerOf<Merge>, Refusal>> {
  const found = await findRun(store, id);
  return found.ok ? ok({ run: found.value.summary, started }) : found;
}

type Discard = typeof ROUTES.discardRun;

async function discard(
  deps: ServerDeps,
  work: FinishedWork,
  { principal }: Call<Discard>,
): Promise<Result<AnswerOf<Discard>, Refusal>> {
  const kept = discardable(work);
  if (!kept.ok) return err(refused(kept.error));
  const landing = await openLanding(deps.store, work.run);
  if (landing !== undefined)
    return err(refused({ code: "landing", message: `#${landing.number} lands this work; cancel that run first.` }));
  const { branch, tip: commit } = kept.value;
  const gone = await deps.landing.discard(work.run, commit, actorOf(principal));
  if (!gone.ok) return err(refused(gone.error));
  const restore = `passrail undo ${work.run.subject.id}`;
  return ok({ branch, commit, keptAs: gone.value.keptAs ?? "", restore });
}

async function confirm(deps: ServerDeps, { params, body, principal }: Call<typeof ROUTES.confirmMerge>) {
  const found = await findRun(deps.store, params.run);
  if (!found.ok) return found;
  const { run } = found.value;
  const waiting = (await runsOfTicket(deps.store, run.subject.id)).find((each) => each.run.id === run.id);
  if (waiting === undefined) return err(refused({ code: "gone", message: "The run is gone." }));
  const claim: Parameters<LandingActs["confirm"]>[1] = optional({ commit: body.commit, unproven: body.unproven });
  const seen = await deps.landing.confirm(waiting, claim, actorOf(principal));
  if (!seen.ok) return err(refused(seen.error));
  const after = await findRun(deps.store, run.id);
  return after.ok ? ok({ run: after.value.summary, summary: seen.value }) : after;
}

async function finished(deps: ServerDeps, reference: string): Promise<Result<FinishedWork, Refusal>> {
  const described = await deps.app.describeRun(reference);
  if (!described.ok) return err(refusalOf(described.error));
  const { run, summary, end } = described.value;
  return ok({ run, number: summary.number, end });
}

function refused({ message, hint }: Problem): Refusal {
  return { code: "action_refused", detail: message, ...optional({ hint }) };
}
