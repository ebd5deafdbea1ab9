// Tells a person by running a program of the operator's, with the notice as JSON on its stdin. A program that fails or hangs is
// given up on after a while; a run never waits for it.

import { spawn } from "node:child_process";
import type { Notice, Notifier } from "./notify.ts";

const TIME_LIMIT_MS = 15_000;

export function createCommandNotifier(argv: readonly string[]): Notifier {
  const [program = "", ...args] = argv;
  return {
    notify: (notice: Notice) =>
      new Promise((resolve) => {
        const child = spawn(program, args, {
          stdio: ["pipe", "ignore", "ignore"],
          timeout: TIME_LIMIT_MS,
          killSignal: "SIGKILL",
        });
        child.on("error", () => resolve(false));
        child.on("exit", (code) => resolve(code === 0));
        child.stdin.on("error", () => undefined);
        child.stdin.end(`${JSON.stringify(notice)}\n`);
      }),
  };
}
