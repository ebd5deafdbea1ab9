// Everything the server acts with. It gets functions instead of adapters: it knows the store's port and the engine, not who built them.

import type { Settings } from "../../settings/settings.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { FileProblem } from "../../core/check/problem.ts";
import type { ProjectInfo } from "../../git/project-info.ts";
import type { KnownRunners } from "../../runner/known.ts";
import type { Actor } from "../../core/run/event.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { Run, Subject } from "../../core/run/run.ts";
import type { PlannedTicket } from "../../core/ticket/plan.ts";
import type { WorkspaceMode } from "../../core/flow/workspace-mode.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";
import type { DeliveryLog } from "../../notify/delivery-log.ts";
import type { Audit } from "./audit.ts";
import type { EventHub } from "./events/hub.ts";
import type { Keys } from "./keys.ts";
import type { KnownTickets } from "./known-tickets.ts";

export type ServerParts = {
  readonly store: Store;
  readonly engine: Pick<Engine, "startRun" | "deliver">;
  readonly keys: Keys;
  /** Where live events are given out. */
  readonly events: EventHub;
  readonly flows: {
    readonly list: () => readonly FlowEntry[];
    /** The flow as it is now; problems with code `flow_not_found` where there is none. */
    readonly resolve: (name: string) => Result<ResolvedFlow>;
    /** Its file as it is now, and what is wrong with it; undefined where there is none. */
    readonly source: (name: string) => FlowSource | undefined;
  };
  readonly agents: () => readonly AgentEntry[];
  /** Asks the forge now what became of pull requests; absent where nobody performs. */
  readonly lookAtMerges?: () => void;
  /** The tickets' files; absent where nobody looks after them. */
  readonly tickets?: TicketDesk;
  /** What a run is started with besides its task: project, workspace, programs; checked as far as that can be done before. */
  readonly prepare: (request: RunWish) => Promise<Result<JsonObject>>;
  /** The processes that execute attempts; absent where none does. */
  readonly workers?: () => Promise<readonly WorkerInfo[]>;
  /** The programs that can play agents here, as far as it is known by now: it never makes anybody wait long. */
  readonly runners?: () => Promise<KnownRunners>;
  /** The folder that runs work on. */
  readonly project?: () => Promise<ProjectInfo>;
  /** Starts the runs of the demo; absent where nothing is performed. */
  readonly demo?: (actor: Actor) => Promise<Result<StartedDemo>>;
  /** Where it is recorded who did what; absent where nobody keeps a record. */
  readonly audit?: Audit;
  readonly config: Settings;
  /** Where attempts' files lie. */
  readonly home: string;
  readonly version: string;
  /** The operator, for the record. */
  readonly person: Actor;
  /** ISO 8601, UTC. */
  readonly now: () => string;
  readonly newId: () => string;
  readonly newRunId: () => string;
  /** The attempt that was given this token and still runs. */
  readonly attemptOf: (token: string) => AttemptIdentity | undefined;
  /** The commit that a run's branch is at; null where it has none. A decision is bound to it. */
  readonly commitOf: (run: Run) => Promise<string | null>;
  /** What a run has changed between two commits, as a unified diff; absent where no git is at hand. */
  readonly wholeDiff?: (run: Run, from: string, to: string) => Promise<string>;
  /** What was sent to people; absent where nothing is sent. */
  readonly deliveries?: DeliveryLog;
  /** Told of what is our fault, in one line, with the id that the caller was given. */
  readonly onProblem: (text: string, requestId: string) => void;
};

export type TicketDesk = {
  readonly known: KnownTickets;
  readonly project: string;
  /** The folder, relative to the project. */
  readonly path: string;
  /** What a ticket goes through that does not say otherwise. */
  readonly flow: string;
  /** How the project calls itself in a new ticket. */
  readonly repo: string;
  /** Starts the run of a ticket that may start, by the same rules as whoever picks tickets; absent where nothing is performed. */
  readonly start?: (ticket: PlannedTicket, actor: Actor) => Promise<Result<StartedTicket>>;
};

/** `started` is false where a run of it goes on already. */
export type StartedTicket = { readonly run: Pick<Run, "id">; readonly started: boolean };

export type WorkerInfo = {
  readonly name: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: string;
  readonly slots: number;
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
  /** Null where the file cannot be read. */
  readonly text: string | null;
  readonly problems: readonly FileProblem[];
};
export type FlowEntry = {
  readonly name: string;
  readonly title: string;
  readonly file: string;
  readonly origin: string;
};
export type AgentEntry = {
  readonly name: string;
  readonly description: string;
  readonly model: string | null;
  readonly file: string;
  readonly origin: string;
};
export type RunWish = {
  readonly resolved: ResolvedFlow;
  readonly subject: Subject;
  readonly input: JsonObject;
  readonly workspace?: WorkspaceMode;
  /** Stage, agent or `*` -> who plays it, over what the settings say. */
  readonly agents?: Readonly<Record<string, string>>;
};
export type AttemptIdentity = { readonly runId: string; readonly stage: string; readonly attempt: number };
