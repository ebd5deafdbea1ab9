// How one program is made to speak the protocol: what is added to its command line and environment, and how its own habits are read.
// Without a profile the operator's command is started as it is.

import type { AgentOptions, RunnerName } from "../../core/flow/agent-options.ts";
import type { Result } from "../../core/result.ts";
import type { Usage } from "../../core/budget/usage.ts";
import type { AgentSpec, AttemptSpec, Failure } from "../runner.ts";
import type { ProgramEnd } from "../process/stream.ts";
import { failureOf, type AcpProgram } from "./failure.ts";
import type { Fields } from "../loose-json.ts";

export type AcpProfile = AcpProgram & {
  readonly name: RunnerName;
  /** The attempt as this program needs it, or why it must not be started. Writes into the attempt's own folder only. */
  readonly prepare?: (spec: AttemptSpec, agent: AgentSpec) => Promise<Result<AttemptSpec, Failure>>;
  /** True when `prepare` has told the program its model; otherwise it is chosen over the protocol, where that is offered. */
  readonly tellsModel?: boolean;
  /** The tokens of an answer, where the program does not use the fields of the protocol or means something else by them. */
  readonly tokens?: (answer: Fields, toolCalls: number) => Usage;
  /** The failure of a program that left without an answer, where its exit code or its last words tell more. */
  readonly left?: (end: ProgramEnd) => Failure | null;
};

export const PLAIN: AcpProfile = {
  name: "acp",
  title: "The agent",
  login: "log in with its own program, or pass the variable with its key",
};

/** What is asked for when an attempt says nothing of an agent. */
export const PLAIN_OPTIONS: AgentOptions = { permission: "edit", mcpServers: {}, teams: false };

/** What a program without an answer left us: its last words. */
export function leftWithout(profile: AcpProfile, end: ProgramEnd): Failure {
  const known = profile.left?.(end);
  if (known) return known;
  const how = end.signal === null ? `exit code ${end.exitCode ?? "unknown"}` : end.signal;
  const words = end.stderrTail.trim().slice(-2_000);
  return failureOf(profile, { status: null, message: `${how}${words === "" ? "" : `: ${words}`}` });
}
