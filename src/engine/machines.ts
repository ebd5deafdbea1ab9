// The machines of an engine and how they call each other. Each owns its own facts; this file holds no state.

import { createActivity } from "./activity.ts";
import { createAttempts } from "./attempts.ts";
import { createCatchUp } from "./catch-up.ts";
import { createRunFlows } from "./flows.ts";
import { createFollower, type EnginePhase } from "./follow-run.ts";
import type { EngineOptions } from "./options.ts";
import { createOutbox } from "./outbox.ts";
import { type CommandPorts, performCommand } from "./perform-command.ts";
import { createRuns } from "./runs.ts";
import { createBudgets } from "./schedule/budgets.ts";
import { createHolds } from "./schedule/holds.ts";
import { createMetering } from "./schedule/metering.ts";
import { createSchedule } from "./schedule/schedule.ts";
import { createSlots } from "./slots.ts";
import { retryStore } from "./store-retry.ts";
import { createAttemptWork } from "./work-attempt.ts";
import { createRunWorkspaces } from "./workspaces-of-run.ts";

const LINGER_MS = 30_000;

export function createMachines(options: EngineOptions, phase: () => EnginePhase) {
  const { store, clock, newId } = options;
  const slots = createSlots(options.slots);
  const attempts = createAttempts({ slots, newId, lingerMs: options.lingerMs ?? LINGER_MS });
  const flows = createRunFlows(store);
  const budgets = createBudgets(store, options);
  const metering = createMetering({ budgets, holds: createHolds(clock), newId });
  const onDue = (): void => follower.startDue();
  const schedule = createSchedule({ clock, slots, agentLimits: options.agentLimits, attempts, metering, onDue });
  const runWorkspaces = createRunWorkspaces(options);
  const activity = createActivity((runId) => {
    const isQuiet = attempts.isEmpty && activity.isQuiet && !runs.isBusy;
    const isStarting = phase() === "performing" || phase() === "draining";
    return isQuiet && (!isStarting || schedule.isEmpty(runId));
  });
  const runs = createRuns({
    store,
    clock,
    newId,
    flows,
    attempts,
    schedule,
    metering,
    starts: () => phase() === "performing",
    isKept: (command) => follower.isKept(command),
    onStored: (change) => follower.onStored(change),
    onTurnEnded: () => activity.check(),
  });
  const work = createAttemptWork({
    options,
    attempts,
    slots,
    metering,
    flowOf: (hash) => flows.of(hash),
    workspaces: runWorkspaces,
    isClosed: () => phase() === "closed",
    onFreed: () => follower.startReady(),
    onGone: () => activity.check(),
    async follow(runId) {
      const run = await runs.load(runId);
      if (run !== undefined) follower.follow(await flows.of(run.flowHash), run);
    },
    persist(runId, ...signal) {
      const onFailure = (error: unknown): void => options.onError(runId, error);
      const hooks = { onFailure, isStopped: () => phase() === "closed" };
      const persisted = retryStore(() => runs.deliver(runId, ...signal), hooks);
      activity.add(persisted);
      return persisted;
    },
  });
  const commandPorts: CommandPorts = {
    notifier: options.notifier,
    loadRun: (runId) => runs.load(runId),
    flowOf: (hash) => flows.of(hash),
    release: (resolved, run) => runWorkspaces.release(resolved, run),
    attemptsEnded: (runId) => attempts.allGone(runId),
    onReleased(runId) {
      slots.letGo(runId);
      follower.startReady();
    },
  };
  const outbox = createOutbox({
    store,
    perform: (runId, command) => performCommand(commandPorts, runId, command),
    onError: options.onError,
  });
  const follower = createFollower({ options, phase, activity, attempts, schedule, budgets, runs, work, outbox });
  const catchUp = createCatchUp({
    store,
    reload: (runId) => runs.reload(runId),
    async onChanged(run) {
      options.onElsewhere?.(run);
      follower.performCommands();
      follower.follow(await flows.of(run.flowHash), run);
    },
  });
  return { activity, attempts, catchUp, flows, follower, outbox, runs, runWorkspaces, schedule };
}
