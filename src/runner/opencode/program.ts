// opencode's name in sentences, and the failure in its last output when it exits without a result.

import { stripVTControlCharacters } from "node:util";
import { failureOf, type AcpProgram } from "../acp/failure.ts";
import type { Failure } from "../runner.ts";
import type { ProgramEnd } from "../process/stream.ts";

export const OPENCODE: AcpProgram = {
  title: "opencode",
  login: "run `opencode auth login`, or pass the variable with the key of the model provider",
};

export function leftOpencode(end: ProgramEnd): Failure {
  const words = stripVTControlCharacters(end.stderrTail.slice(-2_000)).trim();
  if (words.includes("Session not found")) {
    return { kind: "session_lost", message: "opencode could not resume the session: it no longer exists." };
  }
  const how = end.signal === null ? `exit code ${end.exitCode ?? "unknown"}` : end.signal;
  return failureOf(OPENCODE, { status: null, message: words === "" ? how : `${how}: ${words}` });
}
