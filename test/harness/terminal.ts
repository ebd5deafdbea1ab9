// A pseudo-terminal for the real program, by util-linux's `script`: what a person sees, and what they type.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { until } from "./until.ts";

export const hasTerminal: boolean = process.platform === "linux" && existsSync("/usr/bin/script");

export type Terminal = {
  /** Everything that it showed, when the program has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly text: string }>;
  /** `times`: so often by now. */
  readonly sees: (words: string, times?: number) => Promise<unknown>;
  readonly types: (keys: string) => void;
};

export function openTerminal(
  argv: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Terminal {
  const quoted = argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const child = spawn("/usr/bin/script", ["-qec", quoted, "/dev/null"], { cwd, env: { ...env, TERM: "xterm" } });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return {
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, text }))),
    sees: (words, times = 1) => until(words, () => (text.split(words).length > times ? true : undefined), 60_000),
    types: (keys) => void child.stdin.write(keys),
  };
}
