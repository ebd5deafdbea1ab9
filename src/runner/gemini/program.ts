// Gemini CLI's name in sentences, and the meaning of its exit codes when it exits without a result.

import { failureOf, type AcpProgram } from "../acp/failure.ts";
import type { Failure } from "../runner.ts";
import type { ProgramEnd } from "../process/stream.ts";

export const GEMINI: AcpProgram = {
  title: "Gemini CLI",
  login: "run `gemini` once and choose how to log in, or set GEMINI_API_KEY",
};

/** Its own exit codes; from 128 on they are the remainder of an HTTP status. */
const CODES: Readonly<Record<number, Failure["kind"]>> = {
  41: "auth",
  42: "request_refused",
  53: "turn_limit",
};

export function leftGemini(end: ProgramEnd): Failure {
  const words = lastWords(end.stderrTail);
  if (words.includes("Error resuming session")) {
    return {
      kind: "session_lost",
      message: `${GEMINI.title} could not resume the session: it no longer exists.`,
    };
  }
  const kind = CODES[end.exitCode ?? 0];
  const how = end.signal === null ? `exit code ${end.exitCode ?? "unknown"}` : end.signal;
  const failure = failureOf(GEMINI, { status: null, message: words === "" ? how : `${how}: ${words}` });
  return kind === undefined ? failure : { kind, message: failure.message };
}

/** Its last output, without the warnings of every run. */
function lastWords(stderr: string): string {
  return stderr
    .slice(-8_000)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !USUAL.some((start) => line.startsWith(start)))
    .slice(-6)
    .join(" ")
    .slice(-1_500);
}

const USUAL = ["Warning: ", "YOLO mode", "Ripgrep is not", "[STARTUP]", "at ", "Loaded cached credentials"];
