// Gemini CLI's name in sentences, and the meaning of its exit codes when it exits without a result.

import { failureOf, type AcpProgram, type AcpTrouble } from "../acp/failure.ts";
import { nextMidnight, resetTime } from "../reset-time.ts";
import type { Failure } from "../runner.ts";
import type { ProgramEnd } from "../process/stream.ts";

export const GEMINI: AcpProgram = {
  title: "Gemini CLI",
  login: "run `gemini` once and choose how to log in, or set GEMINI_API_KEY",
};

/** Google counts requests per day from midnight to midnight there. The program drops the time that the answer had. */
const GOOGLE_ZONE = "America/Los_Angeles";

export function withDailyReset(trouble: AcpTrouble, nowMs: number): AcpTrouble {
  const isDaily = /\b(?:daily quota|quota[^.]{0,80}per day|per ?day[^.]{0,80}quota)/i.test(
    trouble.message.slice(0, 2_000),
  );
  if (!isDaily || resetTime(trouble.message, nowMs) !== null) return trouble;
  return { ...trouble, resetsAt: nextMidnight(nowMs, GOOGLE_ZONE) };
}

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
  const trouble = { status: null, message: words === "" ? how : `${how}: ${words}` };
  const failure = failureOf(GEMINI, withDailyReset(trouble, Date.now()));
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
