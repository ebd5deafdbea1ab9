// Runs the programs of the setting `hooks` with one JSON line on standard input. Few at a time, each with a time limit, and the rest in a
// bounded line: a slow program delays no agent, and what no longer fits is counted and reported.

import { spawn } from "node:child_process";

export type HookCall = {
  readonly argv: readonly string[];
  /** The project's folder. */
  readonly cwd: string;
  readonly payload: Readonly<Record<string, unknown>>;
};

export type HookCommands = {
  /** Returns at once. */
  add(call: HookCall): void;
  /** Waits for the programs that run, and drops those that wait. */
  close(): Promise<void>;
};

export type HookCommandOptions = {
  readonly onProblem: (text: string) => void;
  readonly timeoutMs?: number;
  readonly atOnce?: number;
  readonly most?: number;
};

export function createHookCommands(options: HookCommandOptions): HookCommands {
  const { onProblem, timeoutMs = 30_000, atOnce = 2, most = 500 } = options;
  const waiting: HookCall[] = [];
  const running = new Set<Promise<void>>();
  let dropped = 0;

  const next = (): void => {
    while (running.size < atOnce) {
      const call = waiting.shift();
      if (call === undefined) return;
      const work = run(call, timeoutMs).then((problem) => {
        running.delete(work);
        if (problem !== undefined) onProblem(`hook ${call.argv[0] ?? ""}: ${problem}`);
        next();
      });
      running.add(work);
    }
    // Said once per jam, when there is room again.
    if (dropped > 0 && waiting.length === 0) {
      onProblem(`hooks: ${dropped} calls were dropped, because their programs are too slow`);
      dropped = 0;
    }
  };

  return {
    add(call) {
      if (waiting.length >= most) dropped += 1;
      else waiting.push(call);
      next();
    },
    async close() {
      waiting.length = 0;
      await Promise.all(running);
    },
  };
}

/** Why it failed, or undefined. */
function run({ argv, cwd, payload }: HookCall, timeoutMs: number): Promise<string | undefined> {
  const [program = "", ...args] = argv;
  const limit = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      stdio: ["pipe", "ignore", "ignore"],
      signal: limit,
      killSignal: "SIGKILL",
    });
    child.on("error", (error: NodeJS.ErrnoException) =>
      resolve(limit.aborted ? `no end after ${timeoutMs} ms` : (error.code ?? error.name)),
    );
    child.on("exit", (code, signal) =>
      resolve(code === 0 ? undefined : code === null ? `ended by ${signal ?? "a signal"}` : `exit code ${code}`),
    );
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${JSON.stringify(payload)}\n`);
  });
}
