// The use cases behind one object. Every door (commands, HTTP, webhooks, triggers, tickets, the demo) translates its input, calls one of
// them and shows the result. Nothing else starts runs, answers items or controls runs.

import type { Budgets } from "../core/budget/budget.ts";
import type { Actor } from "../core/run/event.ts";
import type { Result } from "../core/result.ts";
import type { PausedAll } from "../core/run/pause-all.ts";
import type { Run } from "../core/run/run.ts";
import type { Engine } from "../engine/engine.ts";
import type { Settings } from "../settings/settings.ts";
import type { Store } from "../store/store.ts";
import { type Answered, answerItem, type AnswerRequest, requestAnswer } from "./answer-item.ts";
import { type BudgetRequest, changeBudget, type ChangedBudget } from "./change-budget.ts";
import { type AllAction, controlAll, type ControlledAll, finishPause } from "./control-all.ts";
import { lookAtPause } from "./look-at-pause.ts";
import { type ControlAction, type Controlled, controlRun } from "./control-run.ts";
import type { Sent } from "./deliver.ts";
import { describeItem, describeRun, type ItemDescription, type RunDescription } from "./describe.ts";
import { type FoundItem, findItem } from "./find-item.ts";
import { findRun, type FoundRun } from "./find-run.ts";
import { type HeldRunner, liftHold, type LiftRequest, listHolds } from "./holds.ts";
import { itemVersion, type Looking } from "./item-version.ts";
import type { AppProblem } from "./problem.ts";
import type { Renewing } from "./retry-with.ts";
import { reportWork, type WorkReport } from "./report-work.ts";
import { previewRun, type StartPreview } from "./start-run/preview.ts";
import { type PlanRequest, type RunPlan, type StartedRun, startRun } from "./start-run/start-run.ts";
import { createTurns } from "./turns.ts";

export type UseCases = {
  /** Makes every check that is possible and stores nothing. */
  planRun(request: PlanRequest): Promise<Result<RunPlan>>;
  /** A preview of that start, and the exceptions that a person would have to allow. */
  previewRun(request: PlanRequest): Promise<Result<StartPreview>>;
  startRun(plan: RunPlan, actor: Actor): Promise<Result<StartedRun, AppProblem>>;
  answerItem(request: AnswerRequest, sent: Sent): Promise<Result<Answered, AppProblem>>;
  /** Records that a sender without the right to answer requested this answer. */
  requestAnswer(request: AnswerRequest, key: string): Promise<Result<Answered, AppProblem>>;
  controlRun(reference: string, action: ControlAction, sent: Sent): Promise<Result<Controlled, AppProblem>>;
  /** Sets what a run may cost. */
  changeBudget(reference: string, request: BudgetRequest, sent: Sent): Promise<Result<ChangedBudget, AppProblem>>;
  /** The budgets of the settings as they are now. */
  budgets(): Budgets;
  /** Pauses everything, also what is started later, or resumes it. */
  controlAll(action: AllAction, sent: Sent): Promise<ControlledAll>;
  /** For the process that begins to perform. */
  finishPause(): Promise<void>;
  /** The pause of everything; null without one. */
  lookAtPause(): Promise<PausedAll | null>;
  reportWork(run: Run, report: WorkReport, sent: Sent): Promise<Result<Run, AppProblem>>;
  findRun(reference: string): Promise<Result<FoundRun, AppProblem>>;
  findItem(reference: string): Promise<Result<FoundItem, AppProblem>>;
  describeRun(reference: string): Promise<Result<RunDescription, AppProblem>>;
  describeItem(reference: string): Promise<Result<ItemDescription, AppProblem>>;
  /** Runners that are over a limit now, with how many runs wait. */
  listHolds(): Promise<readonly HeldRunner[]>;
  /** A person says that a runner works again. */
  liftHold(request: LiftRequest, actor: Actor): Promise<Result<{ readonly released: number }, AppProblem>>;
  /** The version that a decision about the run's open items is bound to. */
  itemVersion(found: FoundRun): Promise<string>;
};

export type UseCaseOptions = Looking & {
  readonly engine: Pick<Engine, "startRun" | "deliver" | "liftHold">;
  readonly store: Store;
  readonly planRun: UseCases["planRun"];
  readonly renewing: Renewing;
  /** How the programs of runners are started, for people who open a session. */
  readonly programs: Settings["programs"];
  /** As the settings say now. */
  readonly budgets: () => Budgets;
  /** Why trust in the files of a run is withdrawn, or undefined. */
  readonly withdrawnTrust: (run: Run) => string | undefined;
};

export function createUseCases(options: UseCaseOptions): UseCases {
  const { store } = options;
  // Concurrent answers take turns: each reads the item after the previous one was decided.
  const turns = createTurns();

  const all = {
    store,
    now: options.now,
    controlRun: (reference: string, each: ControlAction, by: Sent) => controlRun(options, reference, each, by),
  };

  async function inTurn<T>(item: string, act: () => Promise<Result<T, AppProblem>>): Promise<Result<T, AppProblem>> {
    const found = await findRun(store, item.slice(0, item.lastIndexOf(".")));
    return found.ok ? turns(found.value.run.id, act) : found;
  }

  return {
    planRun: options.planRun,
    previewRun: (request) => previewRun(options, request),
    startRun: (plan, actor) => startRun(options, plan, actor),
    answerItem: (request, sent) => inTurn(request.item, () => answerItem(options, request, sent)),
    requestAnswer: (request, key) => inTurn(request.item, () => requestAnswer(options, request, key)),
    controlRun: (reference, action, sent) => controlRun(options, reference, action, sent),
    changeBudget: (reference, request, sent) => changeBudget(options, reference, request, sent),
    budgets: () => options.budgets(),
    controlAll: (action, sent) => controlAll(all, action, sent),
    finishPause: () => finishPause(all),
    lookAtPause: () => lookAtPause(store),
    reportWork: (run, report, sent) => reportWork(options, run, report, sent),
    findRun: (reference) => findRun(store, reference),
    findItem: (reference) => findItem(store, reference),
    describeRun: (reference) => describeRun(options, reference),
    describeItem: (reference) => describeItem(options, reference),
    listHolds: () => listHolds(store, options.now()),
    liftHold: (request, actor) => liftHold(options, request, actor),
    itemVersion: (found) => itemVersion(options, found),
  };
}
