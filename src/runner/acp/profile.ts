// How to make one program speak the protocol: its extra arguments and variables, and readers for its quirks. Without a profile Passrail
// starts the operator's command unchanged.

import type { AgentOptions, RunnerName } from "../../core/flow/agent-options.ts";
import type { Result } from "../../core/result.ts";
import type { Usage } from "../../core/budget/usage.ts";
import type { AgentSpec, AttemptSpec, Failure } from "../runner.ts";
import type { ProgramEnd } from "../process/stream.ts";
import { failureOf, type AcpProgram } from "./failure.ts";
import type { Fields } from "../loose-json.ts";

export type AcpProfile = AcpProgram & {
  readonly name: RunnerName;
  /** The attempt as this program needs it, or the reason not to start it. Writes only into the attempt's own folder. */
  readonly prepare?: (spec: AttemptSpec, agent: AgentSpec) => Promise<Result<AttemptSpec, Failure>>;
  /** True when `prepare` passes the model to the program; otherwise the runner chooses it over the protocol, if offered. */
  readonly tellsModel?: boolean;
  /** The tokens of an answer, if the program does not use the protocol's fields or gives them another meaning. */
  readonly tokens?: (answer: Fields, toolCalls: number) => Usage;
  /** The failure of a program that exited without an answer, if its exit code or its last output says more. */
  readonly left?: (end: ProgramEnd) => Failure | null;
};

export const PLAIN: AcpProfile = {
  name: "acp",
  title: "The agent",
  login: "log in with its own program, or pass the variable with its key",
};

/** The defaults for an attempt without agent options. */
export const PLAIN_OPTIONS: AgentOptions = { permission: "edit", mcpServers: {}, teams: false };

/** The failure of a program without an answer, from its last output. */
export function leftWithout(profile: AcpProfile, end: ProgramEnd): Failure {
  const known = profile.left?.(end);
  if (known) return known;
  const how = end.signal === null ? `exit code ${end.exitCode ?? "unknown"}` : end.signal;
  const words = end.stderrTail.trim().slice(-2_000);
  return failureOf(profile, { status: null, message: `${how}${words === "" ? "" : `: ${words}`}` });
}
