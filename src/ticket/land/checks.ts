// Runs the user's checks on the merged tree until one fails. Each has a time limit and is ended with its process group; its output is kept
// in a file, and the agent gets the end of it.

import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { delimiter, isAbsolute } from "node:path";
import { finished } from "node:stream/promises";
import { excerptOf } from "../../core/prompt/excerpt.ts";

export type CheckPlan = {
  readonly commands: readonly (readonly string[])[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly logFile: string;
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
};

export type CheckResult =
  | { readonly type: "passed"; readonly commands: readonly string[] }
  | { readonly type: "failed"; readonly command: string; readonly why: string; readonly excerpt: string };

const TAIL_BYTES = 64 * 1024;
/** For output that is still in the pipe when the program has ended. */
const LAST_WORDS_MS = 2000;

export async function runChecks(plan: CheckPlan): Promise<CheckResult> {
  const log = createWriteStream(plan.logFile, { mode: 0o600 });
  // A full disk must not end the run: the report uses memory.
  log.on("error", () => {});
  try {
    for (const command of plan.commands) {
      const shown = command.join(" ");
      log.write(`$ ${plan.redact(shown)}\n`);
      const { why, tail } = await runOne(command, plan);
      log.write(`${plan.redact(tail)}\n${why ?? "passed"}\n\n`);
      if (why !== null)
        return { type: "failed", command: plan.redact(shown), why, excerpt: excerptOf(plan.redact(tail)) };
    }
    return { type: "passed", commands: plan.commands.map((command) => plan.redact(command.join(" "))) };
  } finally {
    log.end();
    await finished(log).catch(() => undefined);
  }
}

function runOne(command: readonly string[], plan: CheckPlan): Promise<{ why: string | null; tail: string }> {
  const [program = "", ...args] = command;
  return new Promise((resolve) => {
    let tail = Buffer.alloc(0);
    let cut: string | null = null;
    const child = spawn(program, args, {
      cwd: plan.cwd,
      env: { ...plan.env, PATH: absolutePath(plan.env["PATH"] ?? "") },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const take = (chunk: Buffer): void => {
      tail = Buffer.concat([tail, chunk]);
      if (tail.length > 2 * TAIL_BYTES) tail = tail.subarray(-TAIL_BYTES);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    const end = (why: string): void => {
      cut ??= why;
      endGroup(child.pid);
    };
    const timer = setTimeout(
      () => end(`took longer than ${Math.round(plan.timeoutMs / 1000)} s and was ended`),
      plan.timeoutMs,
    );
    const onAbort = (): void => end("was ended because it is no longer needed");
    plan.signal.addEventListener("abort", onAbort, { once: true });
    if (plan.signal.aborted) onAbort();
    const done = (why: string | null): void => {
      clearTimeout(timer);
      plan.signal.removeEventListener("abort", onAbort);
      resolve({ why: cut ?? why, tail: tail.subarray(-TAIL_BYTES).toString("utf8") });
    };
    child.on("error", (error) => done(`could not be started: ${error.message}`));
    child.on("exit", (code, signal) => {
      const why = code === 0 ? null : `ended with ${code === null ? signal : `exit code ${code}`}`;
      // A process that it left must not work in a folder that is about to be deleted, nor hold its output open.
      endGroup(child.pid);
      const last = setTimeout(() => done(why), LAST_WORDS_MS);
      child.on("close", () => {
        clearTimeout(last);
        done(why);
      });
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined || pid <= 1) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Already gone.
  }
}

/** Relative entries would let a file of the work pose as a program. */
function absolutePath(path: string): string {
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .join(delimiter);
}
