// One try to notify a person through the operator's program, with the notice as JSON on stdin. A program that hangs is killed after a
// timeout; only its exit code counts.

import { spawn } from "node:child_process";
import type { Notice } from "./notify.ts";
import type { SendOutcome } from "./send.ts";

export type CommandOptions = { readonly timeoutMs: number; readonly signal: AbortSignal };

export function runCommand(
  argv: readonly string[],
  notice: Notice & { readonly link: string | null },
  { timeoutMs, signal }: CommandOptions,
): Promise<SendOutcome> {
  const [program = "", ...args] = argv;
  const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]);
  return new Promise((resolve) => {
    const failed = (reason: string) => resolve({ type: "unreachable", reason });
    const child = spawn(program, args, { stdio: ["pipe", "ignore", "ignore"], signal: limit, killSignal: "SIGKILL" });
    child.on("error", (error: NodeJS.ErrnoException) =>
      failed(limit.aborted ? "no end in time" : (error.code ?? error.name)),
    );
    child.on("exit", (code, ended) =>
      code === 0 ? resolve({ type: "done" }) : failed(code === null ? `ended by ${ended}` : `exit code ${code}`),
    );
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${JSON.stringify(notice)}\n`);
  });
}
