// The server's dependencies: functions instead of adapters. The server knows the port of the store and the engine, not how they are
// made.

import type { Settings } from "../../settings/settings.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { FileProblem } from "../../core/check/problem.ts";
import type { ProjectInfo } from "../../git/project-info.ts";
import type { KnownRunners } from "../../runner/known.ts";
import type { Actor } from "../../core/run/event.ts";
import type { WorkerBoard } from "../../claim/board.ts";
import type { WorkerCarriers } from "../../claim/carriers.ts";
import type { WorkerState } from "../../claim/states.ts";
import type { LandingPlace } from "../../core/view/landing.ts";
import type { Result } from "../../core/result.ts";
import type { DiffShape } from "../../git/whole-diff.ts";
import type { Run } from "../../core/run/run.ts";
import type { LooseEnds } from "../../app/loose-ends.ts";
import type { EditableSettings, EditedSettings, EditRequest } from "../../app/set-up/edit-settings.ts";
import type { TrustState } from "../../app/trust/trust.ts";
import type { UseCases } from "../../app/use-cases.ts";
import type { Store } from "../../store/store.ts";
import type { DeliveryLog } from "../../notify/delivery-log.ts";
import type { RunPlan } from "../../app/start-run/start-run.ts";
import type { DoneSight } from "../../core/run/outward-act.ts";
import type { LandingRun } from "../../ticket/land/find.ts";
import type { FinishedWork, KeptBranch, LandingChoice } from "../../ticket/land/finished.ts";
import type { MergeClaim } from "../../ticket/land/mark-merged.ts";
import type { Audit } from "./audit.ts";
import type { EventHub } from "./events/hub.ts";
import type { FollowedAttempts } from "./events/followed-attempts.ts";
import type { Keys } from "./keys.ts";
import type { AttemptRef } from "./principal.ts";
import type { ProjectTickets } from "./project-tickets.ts";

export type ServerDeps = {
  readonly store: Store;
  /** The use cases: every route that changes a run goes through them. */
  readonly app: UseCases;
  /** Loose ends, which wait for a person without a question of a stage. */
  readonly looseEnds: LooseEnds;
  /** A person's acts on the finished work of a run. */
  readonly landing: LandingActs;
  readonly keys: Keys;
  /** Publishes live events. */
  readonly events: EventHub;
  /** The working attempts that a page follows. */
  readonly followed: FollowedAttempts;
  readonly flows: {
    readonly list: () => readonly ListedFlow[];
    /** The current flow; a problem with the code `flow_not_found` if there is none. */
    readonly resolve: (name: string) => Result<ResolvedFlow>;
    /** Its current file and the problems in it; undefined without a file. */
    readonly source: (name: string) => FlowSource | undefined;
  };
  readonly agents: () => readonly AgentEntry[];
  /** Asks the forge about pull requests now; absent if this process does not perform. */
  readonly lookAtMerges?: () => void;
  /** The ticket files; absent if no process keeps them. */
  readonly tickets?: ProjectTickets;
  /** The workers; absent if this process executes no attempts. */
  readonly workers?: () => Promise<readonly WorkerInfo[]>;
  /** For workers on other machines; absent if this process executes no attempts. */
  readonly node?: WorkerNode;
  /** The programs that can play agents here, as far as checked by now; never waits long. */
  readonly runners?: () => Promise<KnownRunners>;
  /** The folder that runs work on. */
  readonly project?: () => Promise<ProjectInfo>;
  /** The project's files that decide what runs; absent without a project. */
  readonly trust?: {
    readonly look: () => Result<TrustState>;
    /** Only the version with this hash. */
    readonly approve: (hash: string, by: Actor) => Result<TrustState>;
    /** Only the approval of the version with this hash; without one it changes nothing. */
    readonly revoke: (hash: string, by: Actor) => Result<TrustState>;
  };
  /** The settings files; absent without a project. */
  readonly settings?: {
    readonly look: () => EditableSettings;
    readonly edit: (request: EditRequest, by: Actor) => Promise<Result<EditedSettings>>;
  };
  /** Starts the runs of the demo; absent if this process does not perform. */
  readonly demo?: (actor: Actor) => Promise<Result<StartedDemo>>;
  /** The audit log; absent if none is kept. */
  readonly audit?: Audit;
  readonly config: Settings;
  /** The state folder with the files of attempts. */
  readonly home: string;
  readonly version: string;
  /** The operator, for the record. */
  readonly person: Actor;
  /** ISO 8601, UTC. */
  readonly now: () => string;
  readonly newId: () => string;
  /** The running attempt that owns this token. */
  readonly attemptOf: (token: string) => AttemptRef | undefined;
  /** The commit of a run's branch; null if it has none. A decision is bound to it. */
  readonly commitOf: (run: Run) => Promise<string | null>;
  /** Where finished work of a project goes, as far as this machine knows. */
  readonly landingPlace: (project: string) => Promise<LandingPlace>;
  /** The changes of a run between two commits, as a unified diff; absent without git. */
  readonly wholeDiff?: (run: Run, from: string, to: string, shape?: DiffShape) => Promise<string>;
  /** Removes the secrets that this process knows, and what is shaped like one. */
  readonly redact: (text: string) => string;
  /** The delivery log; absent if nothing is sent. */
  readonly deliveries?: DeliveryLog;
  /** Called with an internal error, in one line, with the id that the caller got. */
  readonly onProblem: (text: string, requestId: string) => void;
};

export type LandingActs = {
  /** The run that lands or proposes it; stores nothing. */
  readonly plan: (work: FinishedWork, kept: KeptBranch, choice: LandingChoice) => Promise<Result<RunPlan>>;
  /** Removes its branch. */
  readonly discard: (run: Run, commit: string, by: Actor) => Promise<Result<DoneSight>>;
  /** Looks for the merge that a run waits for, and reports it. Returns what was seen. */
  readonly confirm: (waiting: LandingRun, claim: MergeClaim, by: Actor) => Promise<Result<string>>;
};

export type WorkerNode = {
  readonly board: Pick<WorkerBoard, "poll" | "take" | "claimFor" | "steer" | "list">;
  readonly bundleFor: WorkerCarriers["bundleFor"];
};

export type WorkerInfo = {
  readonly name: string;
  readonly pid: number | null;
  readonly version: string;
  readonly startedAt: string;
  readonly slots: number;
  readonly labels: readonly string[];
  readonly state: WorkerState;
  readonly heardAt: string | null;
  readonly attempts: readonly {
    readonly runId: string;
    readonly stage: string;
    readonly attempt: number;
    readonly agent: string;
    readonly since: string;
  }[];
};

export type StartedDemo = { readonly project: string; readonly runIds: readonly string[] };

export type FlowSource = {
  readonly file: string;
  readonly origin: string;
  /** Null if the file cannot be read. */
  readonly text: string | null;
  readonly problems: readonly FileProblem[];
};
export type ListedFlow = {
  readonly name: string;
  readonly title: string;
  readonly file: string;
  readonly origin: string;
  readonly family: string | null;
  readonly inputs: readonly ListedInput[];
};
type ListedInput = {
  readonly name: string;
  readonly kind: "file" | "folder";
  readonly required: boolean;
  readonly about: string;
};
export type AgentEntry = {
  readonly name: string;
  readonly description: string;
  readonly model: string | null;
  readonly file: string;
  readonly origin: string;
};
