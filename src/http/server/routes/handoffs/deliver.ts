// How a request about a story reaches the use cases. Requests about one story take turns: of several equal ones the first wins, and the
// others see its result.

import type { ControlAction } from "../../../../app/control-run.ts";
import type { AppProblem } from "../../../../app/problem.ts";
import type { WorkReport } from "../../../../app/report-work.ts";
import { optional } from "../../../../core/optional.ts";
import { err, ok, type Result } from "../../../../core/result.ts";
import type { Actor } from "../../../../core/run/event.ts";
import type { Run } from "../../../../core/run/run.ts";
import type { Refusal } from "../../../contract/problem.ts";
import { actorOf } from "../../actor.ts";
import type { ServerDeps } from "../../deps.ts";
import type { Principal } from "../../principal.ts";
import { refusalOf } from "../../refusal.ts";
import { signalKey } from "../../signal-key.ts";
import type { Stories, Story } from "./story.ts";

/** The caller and the request. */
export type Asking = {
  readonly deps: ServerDeps;
  readonly stories: Stories;
  readonly principal: Principal;
  /** Stays the same when the caller repeats the request. */
  readonly key?: string;
};

/** Reports on one run; `part` distinguishes the signals of one request. */
export async function deliver(
  { deps: { app }, key }: Asking,
  { run }: Pick<Story, "run">,
  report: WorkReport,
  actor: Actor,
  part = "",
): Promise<Result<Run, Refusal>> {
  const reported = await app.reportWork(run, report, { actor, ...optional({ key: signalKey(key, part) }) });
  return reported.ok ? reported : err(outOfTurn(reported.error));
}

/** An operator controls the run of a story. */
export async function control(
  { deps: { app }, principal, key }: Asking,
  story: Story,
  action: ControlAction,
  part = "",
): Promise<Result<Story, Refusal>> {
  const sent = { actor: actorOf(principal), ...optional({ key: signalKey(key, part) }) };
  const controlled = await app.controlRun(story.run.id, action, sent);
  return controlled.ok ? ok({ ...story, run: controlled.value.run }) : err(outOfTurn(controlled.error));
}

/** Whether the same request was carried out earlier, perhaps before a restart. */
export async function wasDone({ deps, key }: Asking, runId: string, part = ""): Promise<boolean> {
  const id = signalKey(key, part);
  return id !== undefined && (await deps.store.hasSignal(runId, id));
}

/** A run in the wrong state: clients of a source see it as not their turn. */
function outOfTurn(problem: AppProblem): Refusal {
  const refusal = refusalOf(problem);
  return refusal.code === "action_refused" ? { ...refusal, code: "out_of_turn" } : refusal;
}
