// The machines of an engine and how they call each other. Each owns its own facts; this file holds no state.

import { NEAR_PERCENT } from "../core/run/limit-use.ts";
import { optional } from "../core/optional.ts";
import { cleanSignal } from "../core/run/clean-signal.ts";
import type { RunEvent } from "../core/run/event.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { OutwardSight } from "../core/run/outward-act.ts";
import { type Activity, createActivity } from "./activity.ts";
import { type Attempts, createAttempts } from "./attempts.ts";
import { createCatchUp } from "./catch-up.ts";
import { changedInputs as inputChanges } from "./changed-inputs.ts";
import { noticeTexts } from "./notice-texts.ts";
import { createRunFlows, type RunFlows } from "./flows.ts";
import { createFollower, type EnginePhase, type Follower } from "./follow-run.ts";
import type { EngineOptions } from "./options.ts";
import { createOutbox } from "./outbox.ts";
import { type CommandPorts, performCommand } from "./perform-command.ts";
import { createWorkspacePreparation } from "./prepare-workspaces.ts";
import { createRightOfWay, type RightOfWay } from "./right-of-way.ts";
import { createRuns, type Runs } from "./runs.ts";
import { createBudgets } from "./schedule/budgets.ts";
import { createHolds, type Holds } from "./schedule/holds.ts";
import { createMetering } from "./schedule/metering.ts";
import { type ChangedInputs, createSchedule } from "./schedule/schedule.ts";
import type { SlotRules } from "./ready-attempt.ts";
import { createSlots, type Pace, type Slots } from "./slots.ts";
import { reconcile } from "./reconcile.ts";
import { releaseWaiting } from "./release-waiting.ts";
import { retryStore } from "./store-retry.ts";
import { createLiveBudgets } from "./schedule/live-budgets.ts";
import { createTakeovers } from "./takeovers.ts";
import { type AttemptWorkDeps, createAttemptWork } from "./work-attempt.ts";
import { createRunWorkspaces, type RunWorkspaces } from "./workspaces-of-run.ts";

const LINGER_MS = 30_000;

export function createMachines(options: EngineOptions, phase: () => EnginePhase) {
  const { store, clock, newId, agentLimits } = options;
  const performs = (): boolean => phase() === "performing" || phase() === "draining";
  const onChanged = async (run: Run) => follower.followElsewhere(await flows.of(run.flowHash), run);
  const insist: Insist = (runId, write) =>
    retryStore(write, { onFailure: (error) => options.onError(runId, error), isStopped: () => phase() === "closed" });
  const onFreed = (): void => follower.startReady();
  const pace = paceOf(() => holds);
  const slots = createSlots(options.slots, pace, options.places);
  const attempts = createAttempts({ slots, newId, lingerMs: options.lingerMs ?? LINGER_MS });
  const flows = createRunFlows(store);
  const budgets = createBudgets(store, options);
  const liveBudgets = createLiveBudgets(options, budgets, (runId) => runs.load(runId));
  const holds = holdsOf(options, () => ({ activity, runs, insist }));
  const metering = createMetering({ budgets, overruns: liveBudgets.overruns, holds, newId, now: () => clock.now() });
  const watched = { metering, changedInputs: inputsWatch(options), onDue: (): void => follower.startDue() };
  const slotRules: SlotRules = {
    agentLimits,
    runnersOf: (...of) => budgets.runnersOf(...of),
    ...optional({ labels: options.labels }),
  };
  const schedule = createSchedule({ clock, slots, slotRules, attempts, ...watched });
  const runWorkspaces = createRunWorkspaces(options);
  const activity = createActivity((runId) => {
    const isQuiet = attempts.isEmpty && activity.isQuiet && !runs.isBusy;
    return isQuiet && (!performs() || schedule.isEmpty(runId));
  });
  const runs = createRuns({
    store,
    clock,
    newId,
    flows,
    attempts,
    schedule,
    ...watched,
    starts: () => phase() === "performing",
    clean: (body) => cleanSignal(body, options.runners.redact),
    isKept: (command) => follower.isKept(command),
    onStored: (change) => follower.onStored(change),
    onTurnEnded: () => activity.check(),
    onUnsure(runId) {
      const reconciled = insist(runId, () => reconcile({ runs, attempts, performs, onChanged }, runId));
      activity.add(reconciled.catch((error: unknown) => options.onError(runId, error)));
    },
  });
  const persist: AttemptWorkDeps["persist"] = (runId, ...signal) => {
    const persisted = insist(runId, () => runs.deliver(runId, ...signal));
    activity.add(persisted);
    return persisted;
  };
  const preparation = createWorkspacePreparation({ options, activity, attempts, schedule, runs, flows });
  const rightOfWay = createRightOfWay();
  const sweepLater = sweepingOf(options, { rightOfWay, runWorkspaces, activity });
  const shared = { options, rightOfWay, sweepLater, preparation, liveBudgets, attempts };
  const given = { ...shared, slots, metering, holds, persist, onFreed };
  const work = createAttemptWork({
    ...given,
    flowOf: (hash) => flows.of(hash),
    workspaces: runWorkspaces,
    ...copiesOf(options, insist),
    isClosed: () => phase() === "closed",
    onGone: () => activity.check(),
    follow: (runId) => followStored({ runs, flows }, follower, runId),
  });
  const takeovers = createTakeovers({ options, slotRules, attempts, slots, activity, runs, persist, onFreed });
  const commandPorts = commandPortsOf(options, { ...shared, runs, flows, slots, runWorkspaces }, onFreed);
  const outbox = createOutbox({
    store,
    perform: (work) => performCommand(commandPorts, work),
    onRetry: () => follower.performCommands(),
    onError: options.onError,
  });
  const noted = bothOf(budgets, liveBudgets);
  const parts = { activity, attempts, schedule, takeovers, runs, work, outbox, preparation };
  const follower = createFollower({ options, phase, budgets: noted, ...parts });
  const catchUp = createCatchUp({ store, holds, reload: (runId) => runs.reload(runId), onChanged });
  return { ...parts, catchUp, flows, follower, holds, rightOfWay, runWorkspaces, slotRules };
}

/** Removes what closed workspaces of a run have left, when no agent is about to begin. */
function sweepingOf(
  { onError }: Pick<EngineOptions, "onError">,
  parts: { readonly rightOfWay: RightOfWay; readonly runWorkspaces: RunWorkspaces; readonly activity: Activity },
): AttemptWorkDeps["sweepLater"] {
  return (resolved, run) => {
    const swept = parts.rightOfWay.free().then(() => parts.runWorkspaces.sweep(resolved, run));
    parts.activity.add(swept.catch((error: unknown) => onError(run.id, error)));
  };
}

/** Repeats what failed for a reason that passes, until the engine is closed. */
type Insist = <T>(runId: string, write: () => Promise<T>) => Promise<T>;

function copiesOf({ copies }: EngineOptions, insist: Insist): Pick<AttemptWorkDeps, "bringCopies" | "keepCopies"> {
  return {
    bringCopies: async (resolved, run) => insist(run.id, async () => copies?.bring(resolved, run)),
    keepCopies: async (runId, ...at) => insist(runId, async () => copies?.keep(runId, ...at)),
  };
}

/** The holds are asked for when they are needed: they are made later. */
function paceOf(holds: () => Holds): Pace {
  return {
    runnerOf: (runners) => runners.find((runner) => holds().of(runner) === undefined) ?? runners[0],
    isSlow: (runner) => holds().isNear(runner),
  };
}

/** The machines are asked for when they are needed: they are made later. */
function holdsOf(
  { store, clock, accountOf = () => "", nearPercent = NEAR_PERCENT, onError }: EngineOptions,
  machines: () => {
    readonly activity: Activity;
    readonly runs: Runs;
    readonly insist: (runId: string, write: () => Promise<unknown>) => Promise<unknown>;
  },
): Holds {
  const tracked = (work: Promise<unknown>): Promise<unknown> => {
    const settled = work.catch((error: unknown) => onError(null, error));
    machines().activity.add(settled);
    return settled;
  };
  return createHolds({
    clock,
    store,
    accountOf,
    nearPercent,
    persist: (write) => tracked(machines().insist("holds", write)),
    onLifted: (runner) =>
      void tracked(releaseWaiting({ store, clock, runs: machines().runs }, runner, "it works again", "engine")),
  });
}

type Parts = {
  readonly runs: Runs;
  readonly flows: RunFlows;
  readonly attempts: Attempts;
  readonly slots: Slots;
  readonly runWorkspaces: RunWorkspaces;
  readonly sweepLater: AttemptWorkDeps["sweepLater"];
};

function commandPortsOf(options: EngineOptions, parts: Parts, onFreed: () => void): CommandPorts {
  const { runs, flows, attempts, slots, runWorkspaces, sweepLater } = parts;
  return {
    notifier: options.notifier,
    loadRun: (runId) => runs.load(runId),
    flowOf: (hash) => flows.of(hash),
    async release(resolved, run) {
      await runWorkspaces.release(resolved, run);
      sweepLater(resolved, run);
    },
    attemptsEnded: (runId) => attempts.allGone(runId),
    settleOutward: (run) => settleOutward(options, runs, run),
    ...noticeTexts(options.store, (hash) => flows.of(hash)),
    onReleased(runId) {
      slots.letGo(runId);
      onFreed();
    },
  };
}

async function followStored({ runs, flows }: Pick<Parts, "runs" | "flows">, follower: Follower, runId: string) {
  const run = await runs.load(runId);
  if (run !== undefined) follower.follow(await flows.of(run.flowHash), run);
}

type EventNotes = { note(events: readonly RunEvent[]): void };

function bothOf(one: EventNotes, other: EventNotes): EventNotes {
  return {
    note(events) {
      one.note(events);
      other.note(events);
    },
  };
}

/** Asked before each start of a run that has copies of its files. */
function inputsWatch({ home, newId, runners }: EngineOptions): ChangedInputs {
  return (resolved, run, { track, stage: id, attempt }, at) => {
    const stage = findWork(resolved.flow, run, track, id);
    const changed = stage === undefined ? undefined : inputChanges(home, resolved.flow, run, { stage, attempt });
    if (changed === undefined) return undefined;
    const questions = changed.questions.map((text) => runners.redact(text));
    return { ...changed, questions, id: newId(), at, actor: "engine" };
  };
}

/** Stores the outcome of each act, then lets the ticket's file say it. */
async function settleOutward(options: EngineOptions, runs: Runs, run: Run): Promise<boolean> {
  const see = async (key: string, sight: OutwardSight): Promise<void> => {
    await runs.deliver(run.id, { type: "outward.seen", key, sight }, "engine", `seen:${key}`);
  };
  const isKnown = (await options.settleOutward?.(run, see)) ?? true;
  const now = await runs.load(run.id);
  if (isKnown && now !== undefined) await options.afterOutward?.(now);
  return isKnown;
}
