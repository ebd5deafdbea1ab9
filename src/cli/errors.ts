// Errors of the command line in one shape: a message, a hint that helps, a stable code and an exit code for scripts.

import type { Problem } from "../core/result.ts";
import type { Io } from "./terminal/io.ts";
import { plainText } from "./terminal/plain-text.ts";

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  waiting: 3,
  credentials: 4,
  unsuccessful: 5,
  limit: 6,
  stillRunning: 8,
  interrupted: 130,
} as const;

export class CliError extends Error {
  /** Stable; scripts may rely on it. */
  readonly code: string;
  /** The next steps; several lines are fine. Empty if there are none. */
  readonly hint: string;
  readonly exit: number;

  constructor(code: string, message: string, hint: string = "", exit: number = EXIT.error) {
    super(message);
    this.name = "CliError";
    this.code = code;
    this.hint = hint;
    this.exit = exit;
  }
}

export function usageError(code: string, message: string, hint: string = ""): CliError {
  return new CliError(code, message, hint, EXIT.usage);
}

export function problemError(problem: Problem, exit: number = EXIT.error): CliError {
  return new CliError(problem.code, problem.message, problem.hint ?? "", exit);
}

const HOME_HINT = "Another state folder: PASSRAIL_HOME or --home. passrail doctor looks at this one.";

/** The system's refusal, in words; the code of the system stays the code of the error. */
const SYSTEM: Readonly<Record<string, { readonly message: string; readonly hint: string }>> = {
  EACCES: { message: "you have no permission to use it", hint: HOME_HINT },
  EPERM: { message: "you have no permission to use it", hint: HOME_HINT },
  EROFS: { message: "the file system is read-only", hint: HOME_HINT },
  ENOSPC: { message: "no space is left on its disk", hint: "Free some space, then repeat the command." },
  EDQUOT: { message: "your quota of disk space is used up", hint: "Free some space, then repeat the command." },
  ENOTDIR: { message: "a file is where a folder is expected", hint: HOME_HINT },
};

/** Prints any error in the one shape and gives the exit code for it. */
export function reportError(io: Pick<Io, "err" | "json" | "color">, error: unknown): number {
  const { code, message, hint, exit } = toCliError(error);
  if (io.json) {
    io.err(JSON.stringify({ error: { code, message, hint, docs: `docs/errors.md#${code}` } }));
    return exit;
  }
  const mark = io.color ? "\u001b[31m✖\u001b[39m" : "✖";
  io.err(`${mark} ${plainText(message)}`);
  for (const line of hint === "" ? [] : hint.split("\n")) io.err(`  ${plainText(line)}`);
  io.err(`  (exit ${exit}, code ${code})`);
  return exit;
}

/** Errors of the store carry code and hint too; anything else is a bug of ours or a broken machine. */
function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (!(error instanceof Error)) return new CliError("unexpected", String(error));
  const { code, hint, path } = error as Error & { code?: unknown; hint?: unknown; path?: unknown };
  if (typeof code === "string" && typeof hint === "string") return new CliError(code, error.message, hint);
  const known = typeof code === "string" && Object.hasOwn(SYSTEM, code) ? SYSTEM[code] : undefined;
  if (known !== undefined && typeof path === "string")
    return new CliError(String(code).toLowerCase(), `${path}: ${known.message}`, known.hint);
  const named = typeof code === "string" ? code.toLowerCase() : "unexpected";
  return new CliError(named, error.message, "PASSRAIL_DEBUG=1 prints where it happened");
}
