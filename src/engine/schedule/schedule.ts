// Decides which attempts may start, and when. The queue and the alarms follow from the runs; slots and locks limit how many attempts work
// at once. An attempt that finds a free slot starts within the commit that made it ready: one handoff, one commit.

import type { Reservation } from "../../core/budget/budget.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { Run } from "../../core/run/run.ts";
import { isStartable, startableAttempts } from "../../core/run/startable.ts";
import type { Signal } from "../../core/run/signal.ts";
import { type Step, transition } from "../../core/run/transition.ts";
import type { Attempts } from "../attempts.ts";
import type { Clock } from "../clock.ts";
import { type ReadyAttempt, readyAttempt, type SlotRules } from "../ready-attempt.ts";
import type { Slots } from "../slots.ts";
import { createAlarms } from "./alarms.ts";
import type { Metering, Meters, Refusals, StartSignal } from "./metering.ts";
import { createQueue } from "./queue.ts";

export type Schedule = {
  /** The attempts of this run that nothing but a slot keeps from starting. */
  startable(resolved: ResolvedFlow, run: Run): readonly ReadyAttempt[];
  /** Adds the starts of these attempts to a decision, as far as there are slots. */
  startWithin(starting: Starting): DecisionWithStarts;
  /** Queues the attempts that the run has ready, and drops the others of this run. */
  follow(resolved: ResolvedFlow, run: Run): void;
  /** Removes from the queue the attempts that got a slot. */
  takeStartable(): readonly ReadyAttempt[];
  /** The attempts that wait for a slot, in order. */
  waiting(): readonly ReadyAttempt[];
  /** Queues the attempts whose time has come. False when there are none. */
  queueDue(): boolean;
  /** Whether no attempt waits; with a run, alarms of other runs are left out. */
  isEmpty(runId?: string): boolean;
  stop(): void;
};

export type Starting = {
  readonly resolved: ResolvedFlow;
  readonly decided: Step;
  readonly ready: readonly ReadyAttempt[];
  readonly meters: Meters | undefined;
  readonly refused: Refusals;
  readonly at: string;
};

export type DecisionWithStarts = {
  readonly step: Step;
  /** They have their slots; their starts are among the events. */
  readonly starting: readonly ReadyAttempt[];
  readonly reservations: readonly Reservation[];
};

export type ChangedInputs = (
  resolved: ResolvedFlow,
  run: Run,
  attempt: Pick<ReadyAttempt, "track" | "stage" | "attempt">,
  at: string,
) => Signal | undefined;

export type ScheduleDeps = {
  readonly clock: Clock;
  readonly slots: Slots;
  readonly slotRules: SlotRules;
  readonly attempts: Pick<Attempts, "has" | "start" | "tryStart">;
  readonly metering: Pick<Metering, "meterStart">;
  /** The signal instead of a start, if files that the run was started with have changed. */
  readonly changedInputs: ChangedInputs;
  /** The time of an attempt has come. */
  readonly onDue: () => void;
};

export function createSchedule(deps: ScheduleDeps): Schedule {
  const { clock, slots, slotRules, attempts, metering, changedInputs, onDue } = deps;
  const queue = createQueue();
  const alarms = createAlarms(clock, onDue);

  return {
    startable: (resolved, run) =>
      startableAttempts(run).flatMap((at) => {
        if (at.notBefore !== null && at.notBefore > clock.now()) return [];
        const ready = readyAttempt(resolved, run, at, slotRules);
        return ready === undefined || attempts.has(ready) || queue.has(ready.key) ? [] : [ready];
      }),
    startWithin({ resolved, decided, ready, meters, refused, at }) {
      const starting: ReadyAttempt[] = [];
      const reservations: Reservation[] = [];
      let step = decided;
      for (const attempt of ready) {
        if (attempts.has(attempt) || queue.hasBefore(attempt) || slots.full || !isStartable(step.run, attempt))
          continue;
        const changed = changedInputs(resolved, step.run, attempt, at);
        if (changed !== undefined) {
          step = joined(step, transition(resolved.flow, step.run, changed));
          continue;
        }
        const start = metering.meterStart(
          startSignal(attempt, at),
          step.run,
          attempt.track,
          meters?.get(attempt.stage),
          refused,
        );
        const isStart = start.signal.type === "attempt.started";
        if (isStart && !attempts.tryStart(attempt)) continue;
        step = joined(step, transition(resolved.flow, step.run, start.signal));
        if (isStart) starting.push(attempt);
        if (start.reserved !== undefined) reservations.push(start.reserved);
      }
      return { step, starting, reservations };
    },
    follow(resolved, run) {
      queue.drop(run.id, (attempt) => !isStartable(run, attempt));
      alarms.drop(run.id, (attempt) => !isStartable(run, attempt));
      for (const at of startableAttempts(run)) {
        const ready = readyAttempt(resolved, run, at, slotRules);
        if (ready === undefined || attempts.has(ready) || queue.has(ready.key)) continue;
        if (at.notBefore === null || !alarms.set(ready, at.notBefore, at.since)) queue.add(ready);
      }
    },
    takeStartable() {
      const taken = queue.takeStartable(slots);
      for (const attempt of taken) attempts.start(attempt);
      return taken;
    },
    waiting: () => queue.all(),
    queueDue() {
      const due = alarms.takeDue().filter((attempt) => !attempts.has(attempt));
      for (const attempt of due) queue.add(attempt);
      return due.length > 0;
    },
    isEmpty: (runId) =>
      queue.every(({ slot }) => slots.isLeft(slot)) &&
      !(runId === undefined ? alarms.size > 0 : alarms.waitsFor(runId)),
    stop: () => alarms.stop(),
  };
}

function startSignal({ stage, attempt }: ReadyAttempt, at: string): StartSignal {
  return { type: "attempt.started", stage, attempt, id: startId({ stage, attempt }), at, actor: "engine" };
}

export function startId({ stage, attempt }: Pick<ReadyAttempt, "stage" | "attempt">): string {
  return `start:${stage}:${attempt}`;
}

function joined(step: Step, next: Step): Step {
  return {
    run: next.run,
    events: [...step.events, ...next.events],
    commands: [...step.commands, ...next.commands],
  };
}
