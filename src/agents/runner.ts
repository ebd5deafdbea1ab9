// The port of every runner: how an attempt's program is started, watched and ended. A runner knows nothing of flows or verdicts:
// it gets an argv, a prompt and limits, and says afterwards what happened. Success and failure have the same fields.

export type AttemptLimits = {
  /** No output at all for this long after the start. */
  readonly startupMs?: number;
  /** No further output for this long. */
  readonly idleMs?: number;
  readonly totalMs: number;
  /** More output than this ends the attempt; what is kept on disk is capped at this too. */
  readonly outputBytes: number;
  /** Between TERM and KILL. */
  readonly graceMs: number;
};

export type AttemptSpec = {
  /** In the environment of every process of the attempt; finds those that left the process group. Unique per attempt. */
  readonly marker: string;
  /** Program and arguments; never a shell line. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** Goes to stdin, which is then closed. */
  readonly prompt: string;
  /** The whole environment of the child; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: AttemptLimits;
  /** Where raw output is kept (stdout and stderr interleaved as they came). Its folder exists. */
  readonly outputPath: string;
};

/** Names a process beyond reuse of its pid. */
export type ProcessIdentity = { readonly pid: number; readonly startTime: string; readonly marker: string };

export type AttemptEnd = {
  /** The first reason that ended it: the process itself, or a limit, or us. */
  readonly reason:
    | "exited"
    | "signaled"
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
  /** The end of stdout alone (at most 256 KiB), for the readers of verdicts. stderr is never a verdict. */
  readonly stdoutTail: string;
  /** True when `stdoutTail` is all of stdout. */
  readonly stdoutWhole: boolean;
  /** One sentence for people when it did not simply exit 0; empty otherwise. */
  readonly detail: string;
  readonly process: ProcessIdentity | null;
};

export type AttemptHooks = {
  /** Aborting ends the whole process tree. */
  readonly signal: AbortSignal;
  /** Called once, after the process exists and before its prompt is sent; the attempt waits for it. */
  readonly onStarted?: (process: ProcessIdentity) => void | Promise<void>;
};

export interface Runner {
  readonly name: string;
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
