// After each stored change the engine follows the run: it queues and starts attempts that are ready, ends attempts that the run no longer
// wants, and performs the commands of the change.

import { failpoint } from "../attempt/failpoint.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Command } from "../core/run/command.ts";
import type { Run } from "../core/run/run.ts";
import type { Activity } from "./activity.ts";
import type { Attempts } from "./attempts.ts";
import type { EngineOptions } from "./options.ts";
import type { Outbox } from "./outbox.ts";
import type { StoredChange, Runs } from "./runs.ts";
import { type EngineBudgets, nearedSignal } from "./schedule/budgets.ts";
import type { Schedule } from "./schedule/schedule.ts";
import type { WorkspacePreparation } from "./prepare-workspaces.ts";
import type { Takeovers } from "./takeovers.ts";
import type { AttemptWork } from "./work-attempt.ts";

/** Any engine delivers; only the one that performs starts attempts and sends notices. A draining engine starts nothing more. */
export type EnginePhase = "delivering" | "performing" | "draining" | "closed";

export type Follower = {
  onStored(change: StoredChange): void;
  follow(resolved: ResolvedFlow, run: Run): void;
  /** The run was stored by another process, or by this one without its knowledge. */
  followElsewhere(resolved: ResolvedFlow, run: Run): void;
  /** Starts the queued attempts for which there are slots, in fair order. */
  startReady(): void;
  /** Queues and starts the attempts whose time has come. */
  startDue(): void;
  performCommands(): void;
  /** Whether a command is stored. Notices without a receiver are not; a process that does not perform leaves that to the one that does. */
  isKept(command: Command): boolean;
};

export type FollowerDeps = {
  readonly options: Pick<EngineOptions, "notifier" | "onChange" | "onElsewhere" | "onError">;
  readonly phase: () => EnginePhase;
  readonly activity: Activity;
  readonly attempts: Attempts;
  readonly schedule: Schedule;
  readonly takeovers: Takeovers;
  readonly budgets: Pick<EngineBudgets, "note">;
  readonly runs: Pick<Runs, "deliver">;
  readonly work: AttemptWork;
  readonly outbox: Pick<Outbox, "perform">;
  readonly preparation: Pick<WorkspacePreparation, "look">;
};

export function createFollower(deps: FollowerDeps): Follower {
  const { options, activity, attempts, schedule } = deps;
  const performs = (): boolean => deps.phase() === "performing" || deps.phase() === "draining";
  return { onStored, follow, followElsewhere, startReady, startDue, performCommands, isKept };

  function onStored({ resolved, signal, step, starting, settled, near }: StoredChange): void {
    const { run, events, commands } = step;
    deps.budgets.note(events);
    options.onChange?.(run, events);
    if (settled !== undefined) attempts.settleElsewhere(settled);
    for (const ready of starting) deps.work.start(resolved, run, ready);
    if (signal.type === "attempt.finished") failpoint("finish-committed");
    if (signal.type === "item.answered") failpoint("answer-committed");
    for (const use of near) warn(run, use);
    if (commands.some(isKept)) performCommands();
    follow(resolved, run);
  }

  function follow(resolved: ResolvedFlow, run: Run): void {
    if (!performs()) return;
    attempts.endUnwanted(run);
    attempts.passOn(run);
    deps.takeovers.follow(resolved, run);
    schedule.follow(resolved, run);
    startReady();
  }

  function followElsewhere(resolved: ResolvedFlow, run: Run): void {
    options.onElsewhere?.(run);
    performCommands();
    follow(resolved, run);
  }

  function startReady(): void {
    if (deps.phase() === "performing")
      for (const ready of schedule.takeStartable()) activity.add(deps.work.startQueued(ready));
    deps.preparation.look();
    activity.check();
  }

  function startDue(): void {
    if (schedule.queueDue()) startReady();
  }

  function performCommands(): void {
    if (performs()) activity.add(deps.outbox.perform());
  }

  function isKept(command: Command): boolean {
    return !(command.type === "notify" && performs() && options.notifier === null);
  }

  /** Each limit is warned of once. */
  function warn(run: Run, use: StoredChange["near"][number]): void {
    const body = nearedSignal(run, use);
    if (body === undefined) return;
    const id = `warn:${use.scope}:${use.key}:${use.unit}:${use.limit}`;
    const warned = deps.runs.deliver(run.id, body, "engine", id);
    activity.add(warned.catch((error: unknown) => options.onError(run.id, error)));
  }
}
