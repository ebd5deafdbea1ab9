// The port of every runner: how an attempt's program is started, watched and ended. A runner knows nothing of flows or verdicts:
// it gets an argv, a prompt and limits, and says afterwards what happened. Success and failure have the same fields.

import type { AgentOptions, RunnerName } from "../core/flow/agent-options.ts";
import type { StageLimits } from "../core/flow/flow.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Result } from "../core/result.ts";
import type { Usage } from "../core/budget/usage.ts";

/** In the environment of every process of an attempt. */
export const MARKER_VARIABLE = "PASSRAIL_MARKER";

export type AttemptLimits = StageLimits & {
  /** Between TERM and KILL. */
  readonly graceMs: number;
};

/** Takes secrets out of a stream of bytes, piece by piece. What could be the beginning of one is held back until more comes. */
export type StreamRedactor = { push(chunk: Uint8Array): Uint8Array; flush(): Uint8Array };

export type AttemptSpec = {
  /** In the environment of every process of the attempt; finds those that left the process group. Unique per attempt. */
  readonly marker: string;
  /** Program and the operator's own arguments; never a shell line. A runner that knows its program puts its arguments after these. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** Goes to stdin, which is then closed. */
  readonly prompt: string;
  /** The whole environment of the child; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: AttemptLimits;
  /** Where raw output is kept (stdout and stderr interleaved as they came). Its folder exists. */
  readonly outputPath: string;
  /** Puts the program into its sandbox, at the last moment before it is started; what it answers with is started instead. */
  readonly confine?: (launch: ConfinedLaunch & { readonly program: string }) => Promise<Result<ConfinedLaunch>>;
  /** The sandbox has programs of its own: argv[0] is not looked for on this machine. */
  readonly ownPrograms?: boolean;
  /** Applied to every byte of output before anything else sees it. */
  readonly redactor?: () => StreamRedactor;
  /** What runners with a model behind them need besides; the command runner has no use for it. */
  readonly agent?: AgentSpec;
};

/** How a program is started, its absolute path first. */
export type ConfinedLaunch = {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** What a coding agent is asked for beyond its prompt. */
export type AgentSpec = {
  readonly options: AgentOptions;
  /** Goes on in this conversation instead of beginning one. */
  readonly session?: Session;
  /** MCP over Streamable HTTP, for this attempt alone: submit_verdict and ask_human. The server's name for the model is `passrail`. */
  readonly tools?: { readonly url: string; readonly token: string };
  /** The shape of a verdict, for runners with structured output of their own. */
  readonly schema?: JsonObject;
  /** A private folder of the attempt for files that the program needs (configuration, schema). It exists, outside of the workspace. */
  readonly scratch: string;
  /** Folders besides the workspace that the agent may write: where its verdict and its handoff go. */
  readonly folders: readonly string[];
  /** False (default): hooks, MCP servers and settings that the repository brings for the agent's program stay off. */
  readonly repositorySettings: boolean;
};

/** A conversation that can be gone on with, and what had been counted for it when it was last left. */
export type Session = { readonly id: string; readonly totals: Usage | null };

/** Names a process beyond reuse of its pid. */
export type ProcessIdentity = { readonly pid: number; readonly startTime: string; readonly marker: string };

export const FAILURES = [
  "auth",
  "rate_limit",
  "quota",
  "server_error",
  "unreachable",
  "turn_limit",
  "budget",
  "denied",
  "session_lost",
  "request_refused",
  "agent_crashed",
] as const;

/** Why an agent's work came to nothing, as its program told it; limits of ours are reasons of the end itself. */
export type Failure = {
  readonly kind: (typeof FAILURES)[number];
  readonly message: string;
  /** When a limit ends, ISO 8601, where the vendor says so. */
  readonly resetsAt?: string;
};

/** What an agent's program told of its work besides text. */
export type Conversation = {
  /** Null when it never said. */
  readonly session: Session | null;
  readonly model: string | null;
  readonly version: string | null;
  /** Of this attempt alone, also where the vendor counts over the whole session; null when nothing was told. */
  readonly usage: Usage | null;
  readonly turns: number | null;
  readonly toolCalls: number;
  /** Native structured output, unchecked. */
  readonly structured: Json | null;
  /** What the program refused to the agent, one line each: `Bash: rm -rf build`. */
  readonly denials: readonly string[];
  /** Null when the last thing the program said was that it succeeded. */
  readonly failure: Failure | null;
};

/** One thing that happened in a conversation, in our own words. */
export type AgentEvent =
  | { readonly type: "session"; readonly id: string; readonly model: string | null }
  | { readonly type: "message"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "tool.called"; readonly id: string; readonly name: string; readonly input: string }
  | { readonly type: "tool.returned"; readonly id: string; readonly ok: boolean; readonly output: string }
  | { readonly type: "usage"; readonly usage: Usage }
  /** A retry, a limit, a refusal, a warning; `resetsAt` where a limit ends. */
  | {
      readonly type: "notice";
      readonly kind: "retry" | "limit" | "denied" | "warning";
      readonly text: string;
      readonly resetsAt?: string;
    }
  /** Something that this version does not know; the raw line is in the output. */
  | { readonly type: "unknown"; readonly name: string };

export type AttemptEnd = {
  /** The first reason that ended it: the process itself, or a limit, or us. */
  readonly reason:
    | "exited"
    | "signaled"
    /** The conversation was over, and the program was ended because it stayed. */
    | "finished"
    | "startup_timeout"
    | "idle_timeout"
    | "timeout"
    | "output_limit"
    | "canceled"
    | "agent_not_found"
    | "spawn_failed";
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  readonly outputBytes: number;
  /** True when the file holds head and tail with a marker between them. */
  readonly truncated: boolean;
  /** The end of stdout alone (at most 256 KiB), for the readers of verdicts. stderr is never a verdict.
   *  With a conversation: what the agent said after its last tool call. */
  readonly stdoutTail: string;
  /** True when `stdoutTail` is all of stdout. */
  readonly stdoutWhole: boolean;
  /** At most 16 KiB, for people and for runners whose program explains itself there. */
  readonly stderrTail: string;
  /** One sentence for people when it did not simply exit 0; empty otherwise. */
  readonly detail: string;
  readonly process: ProcessIdentity | null;
  /** Absent for programs that only print. */
  readonly conversation?: Conversation;
};

export type AttemptHooks = {
  /** Aborting ends the whole process tree. */
  readonly signal: AbortSignal;
  /** Called once, after the process exists and before its prompt is sent; the attempt waits for it. */
  readonly onStarted?: (process: ProcessIdentity) => void | Promise<void>;
  /** Called for everything that happens in a conversation, as it happens. Must not throw. */
  readonly onEvent?: (event: AgentEvent) => void;
};

export interface Runner {
  readonly name: RunnerName;
  /** Resolves when the whole tree is gone, also for failures; rejects only on bugs. */
  run(spec: AttemptSpec, hooks: AttemptHooks): Promise<AttemptEnd>;
}

/** What recovery needs of the machine: to find and end what a dead engine left running. Never acts on a bare pid. */
export interface Processes {
  /** Ends the recorded process, its group and everything that carries the marker; says how many were ended. */
  killLeftovers(target: ProcessIdentity | { readonly marker: string }): Promise<number>;
  /** Processes whose marker begins with this text. */
  findMarked(prefix: string): readonly { readonly pid: number; readonly marker: string }[];
}
