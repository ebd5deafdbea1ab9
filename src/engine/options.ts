// Everything that an engine is built from. Tests and benchmarks give their own `runStage`; everything else is the production composition.

import type { Carriers } from "../attempt/carriers.ts";
import type { Builtin } from "../attempt/builtins.ts";
import type { AttemptJob, AttemptPorts, ObservedEvent } from "../attempt/job.ts";
import type { OutwardLog } from "../attempt/outward-log.ts";
import type { Usage } from "../core/budget/usage.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";
import type { Result } from "../core/result.ts";
import type { RunEvent } from "../core/run/event.ts";
import type { Run } from "../core/run/run.ts";
import type { Notifier } from "../notify/notify.ts";
import type { Processes } from "../runner/runner.ts";
import type { Runners } from "../runner/runners.ts";
import type { Store } from "../store/store.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import type { Clock } from "./clock.ts";
import type { Places } from "./places.ts";
import type { RunCopies } from "./run-copies.ts";
import type { BudgetOptions } from "./schedule/budgets.ts";

export type ObservedAttempt = {
  readonly run: Run;
  readonly stage: string;
  readonly attempt: number;
  readonly agent: string;
};

export type EngineOptions = BudgetOptions & {
  readonly store: Store;
  readonly clock: Clock;
  /** Maximum number of attempts at once. */
  readonly slots: number;
  /** Whether a question of an agent at work waits for an answer in place; otherwise its attempt ends with it at once. */
  readonly answersInPlace?: boolean;
  /** The login that pays for a runner: a limit of one does not hold another. Absent: each runner has one. */
  readonly accountOf?: (runner: string) => string;
  /** Percent of a vendor's limit from which on attempts of its runner start one at a time (default 90). */
  readonly nearPercent?: number;
  /** Maximum number of attempts at once per agent, where set. */
  readonly agentLimits: Readonly<Record<string, number>>;
  /** What a worker must have for attempts of an agent or a stage, where set. */
  readonly labels?: Readonly<Record<string, readonly string[]>>;
  /** The slots of workers; absent: all attempts are carried out here. */
  readonly places?: Places;
  /** Carries out one attempt; `runStage` of src/attempt outside of tests and benchmarks. */
  readonly runStage: (job: AttemptJob, ports: AttemptPorts) => Promise<Report>;
  /** Processes of their own for attempts; absent: every attempt ends with its engine. */
  readonly carriers?: Carriers;
  /** Copies for other nodes of the same database; absent where the state folder has everything. */
  readonly copies?: RunCopies;
  readonly runners: Runners;
  /** Stages that run without an agent, by the name that flows give in `do`. */
  readonly builtins: Readonly<Record<string, Builtin>>;
  /** Awaited before an attempt gets its workspace: changes that must be visible first, such as the status in a ticket's file. */
  readonly beforeWork?: (run: Run) => Promise<void>;
  /** Awaited before each act outside: a person's edits are acted on first. Returns why the act must wait, or undefined. */
  readonly beforeOutward?: (run: Run) => Promise<string | undefined>;
  /** Asked right before each act outside: why trust in the run's files is withdrawn, or undefined. */
  readonly withdrawnTrust?: (run: Run) => string | undefined;
  /** Finds out what became of the run's open acts, and performs the requested undo. `see` stores each outcome. False: not known yet. */
  readonly settleOutward?: (run: Run, see: OutwardLog["see"]) => Promise<boolean>;
  /** Called when the acts of an ended run are settled: its ticket's file says it. */
  readonly afterOutward?: (run: Run) => Promise<void>;
  readonly processes: Processes;
  readonly workspaces: (mode: WorkspaceMode) => Workspaces;
  /** Workspaces stay after success, failure and cancel, for people to look at. */
  readonly keepWorkspaces?: boolean;
  /** Null where the inbox is the only notice. */
  readonly notifier: Notifier | null;
  /** Folder of the store; attempts' files are below it. */
  readonly home: string;
  readonly storeId: string;
  /** Fresh randomness for ids and nonces. */
  readonly newId: () => string;
  /** Where agents reach the API; empty without a daemon. */
  readonly url: () => string;
  readonly readYaml: (text: string) => Result<unknown>;
  /** How long a program may run on after its verdict came through the API (default 30 s). */
  readonly lingerMs?: number;
  /** Called with every stored change, after it is durable. */
  readonly onChange?: (run: Run, events: readonly RunEvent[]) => void;
  /** Called with runs that other processes changed, when this one notices. */
  readonly onElsewhere?: (run: Run) => void;
  /** Called with everything that an agent's program shows while it works: tools, tasks of its teammates, the end of its session. */
  readonly onAgentEvent?: (attempt: ObservedAttempt, event: ObservedEvent) => void;
  /** Called while an attempt works, with what it has used so far: at most every few seconds per attempt. */
  readonly onUsage?: (attempt: ObservedAttempt, usage: Usage) => void;
  /** A bug in one run must not end the others; it is reported here. `runId` is null where no single run is concerned. */
  readonly onError: (runId: string | null, error: unknown) => void;
};
