// One attempt as data: the job from the engine, and the functions that the attempt calls back. The job survives JSON.stringify, so another
// process can carry it out. An attempt has no access to the store.

import type { ReportedUsage } from "../core/budget/budget.ts";
import type { AttemptRoom } from "../core/budget/room.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { WorkStage } from "../core/flow/flow.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { JsonObject } from "../core/json.ts";
import type { Result } from "../core/result.ts";
import type { Carry, PermissionAnswer, Run } from "../core/run/run.ts";
import type { TakenRung } from "../core/flow/ladder.ts";
import type { LiveAnswer } from "../core/run/live-question.ts";
import type { LiveQuestion, PermissionQuestion } from "../core/run/signal.ts";
import type { Playback } from "../gateway/playback.ts";
import type { AgentEvent } from "../runner/runner.ts";
import type { Runners } from "../runner/runners.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import type { AttemptFiles } from "./attempt-files.ts";
import type { Builtin } from "./builtins.ts";
import type { CheckCache } from "./check-cache.ts";
import type { Mailbox } from "./mailbox.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";
import type { OutwardLog } from "./outward-log.ts";

/** Plain JSON: no functions, no classes, no references into this process. */
export type AttemptJob = {
  readonly resolved: ResolvedFlow;
  readonly run: Run;
  readonly track: string;
  readonly stage: WorkStage;
  readonly attempt: number;
  readonly carry: Carry;
  readonly marker: string;
  readonly nonce: string;
  /** The attempt's program authenticates to the API with it. */
  readonly token: string;
  readonly files: AttemptFiles;
  /** Folder of the store. */
  readonly home: string;
  /** How the agent is played; null where no runner is configured for it. */
  readonly play: RunnerChoice | null;
  /** The rung of its ladder; null for a stage without one. */
  readonly rung: TakenRung | null;
  /** Whether the repository's own settings for agents' programs take effect. */
  readonly repositorySettings: boolean;
  readonly project: string;
  /** Workspaces stay after their last use, for people to look at. */
  readonly keepWorkspaces: boolean;
  /** Where agents reach the API; empty without a daemon. */
  readonly url: string;
  /** On a worker: where its work begins, as the node says. Absent: as the run's own branch says. */
  readonly start?: AttemptStart;
};

export type AttemptStart = {
  /** The name of the workspace. */
  readonly key: string;
  readonly branch: string;
  readonly commit: string;
};

/** What a conversation shows while it goes on, and that the program's session has ended. */
export type ObservedEvent =
  | AgentEvent
  | { readonly type: "session.ended"; readonly id: string | null; readonly reason: string };

/** Everything an attempt uses that is not data. */
export type AttemptPorts = {
  readonly runners: Runners;
  /** Stages that run without an agent, by name. */
  readonly builtins: Readonly<Record<string, Builtin>>;
  readonly workspaces: Workspaces;
  /** The attempts of this run so far, oldest first. */
  readonly earlierAttempts: () => Promise<readonly EarlierAttempt[]>;
  /** Stores facts about the attempt; awaited before the program may act. */
  readonly note: (facts: JsonObject) => Promise<void>;
  /** Whether the verdict came through the API; then the attempt asks its agent nothing more. */
  readonly isSettled: () => Promise<boolean>;
  readonly checkCache: CheckCache;
  /** Takes the function that checks the work of this attempt when its verdict comes through the API. */
  readonly offerCheck: (check: (report: Report) => Promise<Report>) => void;
  /** Asked before every act outside, and told what came of it. */
  readonly outward: OutwardLog;
  /**
   * A person's answer to a request for permission, however long that takes; undefined if nobody can be asked now. Repeating it with the
   * same name asks no second time.
   */
  readonly askPermission: (question: PermissionQuestion) => Promise<PermissionAnswer | undefined>;
  /** Nobody answered in time: closes the question. The answer counts that was stored first; undefined if nobody can store it now. */
  readonly expirePermission: (request: string) => Promise<PermissionAnswer | undefined>;
  /**
   * A person's answer to a question of the agent, however long that takes; `none` if it gets none in place, undefined if nobody can be
   * asked now. Repeating it with the same name asks no second time.
   */
  readonly askQuestion: (question: LiveQuestion) => Promise<LiveAnswer | undefined>;
  /** The agent waits no longer. The answer counts that was stored first; undefined if nobody can store it now. */
  readonly expireQuestion: (request: string) => Promise<LiveAnswer | undefined>;
  /** What budgets leave to this attempt now; empty without any limit. */
  readonly room: () => AttemptRoom;
  /** What people say to its agent while it works. */
  readonly messages: Mailbox;
  /** Usage so far; the last call counts, also when the attempt is cut off. */
  readonly spent: (reported: ReportedUsage) => void;
  /** Called with everything that the agent's program shows; nobody waits for it, and it decides nothing. */
  readonly observed?: (event: ObservedEvent) => void;
  /** In a replay: answers requests to models instead of their vendors. */
  readonly playback?: Playback;
  /** Safe YAML: no tags, no aliases, bounded. */
  readonly readYaml: (text: string) => Result<unknown>;
  /** ISO 8601, for records. */
  readonly now: () => string;
  /** Aborted when the attempt is no longer wanted. */
  readonly signal: AbortSignal;
};
