// The port of every runner: it starts, watches and ends an attempt's program. It gets an argv, a prompt and limits, not flows or verdicts.
// Success and failure have the same fields.

import type { UserFeature } from "../core/flow/runner-names.ts";
import type { AgentOptions, RunnerName } from "../core/flow/agent-options.ts";
import type { Enclosure, EnclosureChoice } from "../core/flow/enclosure.ts";
import type { StageLimits } from "../core/flow/flow.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Result } from "../core/result.ts";
import type { Usage } from "../core/budget/usage.ts";
import type { LimitUse } from "../core/run/limit-use.ts";

/** In the environment of every process of an attempt. */
export const MARKER_VARIABLE = "PASSRAIL_MARKER";

const PART = "#";

/** The marker of a program that Passrail runs beside the attempt's agent: neither ends with the other, both with the attempt. */
export const partMarker = (marker: string, part: string): string => `${marker}${PART}${part}`;

/** The attempt's own marker. */
export const wholeMarker = (marker: string): string => marker.split(PART, 1)[0] ?? marker;

export type AttemptLimits = StageLimits & {
  /** Between TERM and KILL. */
  readonly graceMs: number;
};

/** Removes secrets from a stream of bytes, piece by piece. It holds a possible beginning of one back until more comes. */
export type StreamRedactor = { push(chunk: Uint8Array): Uint8Array; flush(): Uint8Array };

export type AttemptSpec = {
  /** In the environment of every process of the attempt; finds those that left the process group. Unique per attempt. */
  readonly marker: string;
  /** Program and the operator's own arguments; never a shell line. A runner that knows its program adds its arguments after these. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** Goes to stdin, which is then closed. */
  readonly prompt: string;
  /** The whole environment of the child; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: AttemptLimits;
  /** Where raw output is kept (stdout and stderr interleaved as they came). Its folder exists. */
  readonly outputPath: string;
  /** Puts the program into its sandbox, right before the start; Passrail starts the returned launch instead. */
  readonly confine?: (launch: ConfinedLaunch & { readonly program: string }) => Promise<Result<ConfinedLaunch>>;
  /** The sandbox has its own programs: argv[0] is not looked up on this machine. */
  readonly ownPrograms?: boolean;
  /** What shall hold its processes together where it has no sandbox; default: markers. */
  readonly enclosure?: EnclosureChoice;
  /** Applied to every byte of output before anything else sees it. */
  readonly redactor?: () => StreamRedactor;
  /** For runners with a model; the command runner ignores it. */
  readonly agent?: AgentSpec;
};

/** How a program is started, its absolute path first. */
export type ConfinedLaunch = {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /**
   * A file that is there from the moment at which the agent's own program begins, and is gone again if its sandbox fails: time before it
   * counts for no limit, and an end without it is the sandbox's fault.
   */
  readonly begun?: string;
  /** All folders that it may write and nobody else does, for a limit of the disk. */
  readonly filled?: readonly string[];
};

/** The request to a coding agent beyond its prompt. */
export type AgentSpec = {
  readonly options: AgentOptions;
  /**
   * The part of the prompt that every attempt of the stage repeats. It comes before the rest: as a system prompt where the program takes
   * one besides its own. A resumed conversation holds it already.
   */
  readonly standing?: string;
  /** Resumes this conversation instead of starting one. */
  readonly session?: Session;
  /** MCP over Streamable HTTP, for this attempt alone: submit_verdict and ask_human. The server's name for the model is `passrail`. */
  readonly tools?: {
    readonly url: string;
    readonly token: string;
    /** It also has the tool `permit`, which a program calls where its own rules do not simply allow a call. */
    readonly permits?: true;
    /** How long a call of `ask_human` may wait for a person; the program must not give it up before. */
    readonly waitMs?: number;
  };
  /** The shape of a verdict, for runners with native structured output. */
  readonly schema?: JsonObject;
  /** A private folder of the attempt for files that the program needs (configuration, schema). It exists, outside of the workspace. */
  readonly scratch: string;
  /** Folders besides the workspace that the agent may write: where its verdict and its handoff go. */
  readonly folders: readonly string[];
  /** Folders besides the workspace that it reads: the handoffs of others. They are copies. */
  readonly reads?: readonly string[];
  /** Image files that the prompt is about, for programs that take them as arguments. They are in `reads`, too. */
  readonly images?: readonly string[];
  /** What the user lets the agent have of their own set-up of the program; absent without a choice. */
  readonly userFeatures?: readonly UserFeature[];
  /** False (default): the repository's hooks, MCP servers and settings for the agent's program stay off. */
  readonly repositorySettings: boolean;
};

/** What the program's own system prompt is followed by: the operator's text, then the standing part of the prompt. Empty for none. */
export function systemText({ options, standing }: Pick<AgentSpec, "options" | "standing">): string {
  return [options.systemPrompt, standing].filter((text) => text !== undefined && text !== "").join("\n\n");
}

/** A conversation that can be resumed, and its usage when it last ended. */
export type Session = { readonly id: string; readonly totals: Usage | null };

/** Identifies a process even after its pid is reused. */
export type ProcessIdentity = {
  readonly pid: number;
  readonly startTime: string;
  readonly marker: string;
  /** The folder of the cgroup that holds all that it started. */
  readonly cgroup?: string;
  /** What holds its processes together; absent in a sandbox. */
  readonly enclosure?: Enclosure;
};

export const FAILURES = [
  "auth",
  "rate_limit",
  "quota",
  "billing",
  "server_error",
  "unreachable",
  "turn_limit",
  "tool_loop",
  "budget",
  "denied",
  "session_lost",
  "request_refused",
  "agent_crashed",
] as const;

/**
 * Why an agent's work failed, as its program reported it; our own limits are reasons of the end itself. Limits of a vendor are of three
 * kinds: `rate_limit` is over shortly, `quota` when a period of the account ends, `billing` when a person has paid or changed something.
 */
export type Failure = {
  readonly kind: (typeof FAILURES)[number];
  readonly message: string;
  /** When a limit ends, ISO 8601, if the vendor reports it. */
  readonly resetsAt?: string;
};

/** Metadata that an agent's program reported, besides text. */
export type Conversation = {
  /** Null if the program never reported one. */
  readonly session: Session | null;
  readonly model: string | null;
  readonly version: string | null;
  /** Of this attempt alone, even if the vendor counts over the whole session; null without any report. */
  readonly usage: Usage | null;
  /** The time that the program says its work took; absent without a report. Passrail measures its own. */
  readonly reportedMs?: number;
  readonly turns: number | null;
  readonly toolCalls: number;
  /** Native structured output, unchecked. */
  readonly structured: Json | null;
  /** The calls that the program refused to the agent, one line each: `Bash: rm -rf build`. */
  readonly denials: readonly string[];
  /** Null if the program reported success last. */
  readonly failure: Failure | null;
};

/** One event of a conversation, in Passrail's own format. */
export type AgentEvent =
  | { readonly type: "session"; readonly id: string; readonly model: string | null }
  | { readonly type: "message"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "tool.called"; readonly id: string; readonly name: string; readonly input: string }
  | { readonly type: "tool.returned"; readonly id: string; readonly ok: boolean; readonly output: string }
  /** A sub-agent or teammate gets a task, ends one, and has nothing to do; `name` is its role. */
  | { readonly type: "task.started"; readonly id: string; readonly name: string; readonly text: string }
  | {
      readonly type: "task.completed";
      readonly id: string;
      readonly name: string;
      readonly status: string;
      readonly text: string;
    }
  | { readonly type: "teammate.idle"; readonly id: string; readonly name: string }
  | { readonly type: "usage"; readonly usage: Usage }
  /** How far the account has used its vendor's limits. */
  | { readonly type: "limits"; readonly uses: readonly LimitUse[] }
  /** A retry, a limit, a refusal, a request for permission or a question and its answer, a warning; `resetsAt`: when a limit ends. */
  | {
      readonly type: "notice";
      readonly kind: "retry" | "limit" | "denied" | "permission" | "question" | "warning";
      readonly text: string;
      readonly resetsAt?: string;
    }
  /** An event that this version does not know; the raw line is in the output. */
  | { readonly type: "unknown"; readonly name: string };

export type AttemptEnd = {
  /** The first reason that ended it: the process, a limit, or Passrail. */
  readonly reason:
    | "exited"
    | "signaled"
    /** The conversation was over, and Passrail ended the program because it stayed. */
    | "finished"
    | "startup_timeout"
    | "idle_timeout"
    | "timeout"
    | "output_limit"
    | "memory_limit"
    | "disk_limit"
    | "sandbox_failed"
    | "canceled"
    | "agent_not_found"
    | "spawn_failed";
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  readonly outputBytes: number;
  /** True when the file holds head and tail with a marker between them. */
  readonly truncated: boolean;
  /**
   * The end of stdout alone (at most 8 MiB), for the readers of verdicts. stderr is never a verdict. With a conversation: the agent's
   * messages after its last tool call.
   */
  readonly stdoutTail: string;
  /** True when `stdoutTail` is all of stdout. */
  readonly stdoutWhole: boolean;
  /** At most 16 KiB, for people and for runners whose program reports its errors there. */
  readonly stderrTail: string;
  /** One sentence for people when it did not simply exit 0; empty otherwise. */
  readonly detail: string;
  readonly process: ProcessIdentity | null;
  /** Absent for programs that only print. */
  readonly conversation?: Conversation;
};

/** A person's message to the agent at work, in the words that the agent gets. */
export type LiveMessage = { readonly number: number; readonly text: string };

/** What people say while a program works. A runner that cannot say it in between leaves it: it becomes the next turn. */
export type LiveMessages = {
  /** The oldest one that waits. Whoever takes it says it, or gives it back. */
  take(): LiveMessage | undefined;
  giveBack(message: LiveMessage): void;
  /** The agent has it: in the middle of its turn, or as its next one. */
  heard(message: LiveMessage, way: "now" | "turn"): void;
  /** Calls back when a new one waits; the result ends that. */
  listen(onNew: () => void): () => void;
};

export type AttemptHooks = {
  /** Aborting ends the whole process tree. */
  readonly signal: AbortSignal;
  /** Called once, after the process exists and before its prompt is sent; the attempt waits for it. */
  readonly onStarted?: (process: ProcessIdentity) => void | Promise<void>;
  /** Called for every event of a conversation, as it happens. Must not throw. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Decides what the program does not decide itself; a person may be asked, so it can take long. Without it such a call is refused. */
  readonly permit?: (request: PermissionRequest) => Promise<PermissionDecision>;
  /** The time that the attempt has spent waiting for people so far; its limits do not count it. */
  readonly heldMs?: () => number;
  readonly messages?: LiveMessages;
};

/** A call of a tool that needs permission, as the program described it. All of it is the agent's text. */
export type PermissionRequest = {
  readonly tool: string;
  /** `command`: it runs `what`. `write`: it changes the files in `paths`. `look`: it changes nothing. */
  readonly kind: "command" | "write" | "look" | "other";
  /** The exact command, path or arguments: what a permission is about. */
  readonly what: string;
  readonly paths: readonly string[];
};

/** `why`: for the agent. */
export type PermissionDecision = { readonly allowed: boolean; readonly why: string };

export interface Runner {
  readonly name: RunnerName;
  /** Resolves when the whole tree is gone, also for failures; rejects only on bugs. */
  run(spec: AttemptSpec, hooks: AttemptHooks): Promise<AttemptEnd>;
}

/** Finds and ends the processes that a dead engine left running. Never acts on a bare pid. */
export interface Processes {
  /** Ends the recorded process, its group and every process with the marker; returns how many were ended. */
  killLeftovers(target: ProcessIdentity | { readonly marker: string }): Promise<number>;
  /** Processes whose marker begins with this text. */
  findMarked(prefix: string): readonly { readonly pid: number; readonly marker: string }[];
  /** Called when an attempt begins; the result finds processes that were left in its folder since then. */
  watchStrays?(): (folder: string) => readonly Stray[];
  /** Removes what held processes that are gone. */
  sweep?(): void;
}

/** A process that works in an attempt's folder and can no longer be told to be its own. */
export type Stray = { readonly pid: number; readonly startTime: string; readonly name: string };
