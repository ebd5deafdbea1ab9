// Other runners for stages of a run that goes on: a person retries a stage with another agent. The options that the run was started with,
// such as permissions, stay; another program's model does not.

import type { WrittenOptions } from "../core/flow/agent-options.ts";
import { storedOptions } from "../core/flow/stored-options.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { JsonObject } from "../core/json.ts";
import { err, ok, type Result } from "../core/result.ts";
import { projectOf } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import type { AppProblem } from "./problem.ts";
import { runnersOf } from "./start-run/runners.ts";

/** `agents`: `STAGE=RUNNER` or `STAGE=COMMAND`, as at the start of a run; a program's path is relative to `cwd`. */
export type ChosenAgents = { readonly agents: readonly string[]; readonly cwd?: string };

export function chosenRunners(
  resolved: ResolvedFlow,
  run: Run,
  { agents, cwd = projectOf(run) }: ChosenAgents,
): Result<JsonObject, AppProblem> {
  const named = new Set(
    agents.map((choice) =>
      choice
        .slice(0, Math.max(0, choice.indexOf("=")))
        .trim()
        .toLowerCase(),
    ),
  );
  const kept = Object.entries(startedWith(run)).filter(([name]) => named.has(name.toLowerCase()));
  const read = runnersOf(resolved, agents, Object.fromEntries(kept), cwd);
  if (read.ok) return ok({ ...read.value });
  const { message, hint } = read.error;
  return err({ code: "action_refused", message: hint === undefined ? message : `${message} ${hint}` });
}

function startedWith({ facts }: Run): Readonly<Record<string, WrittenOptions>> {
  const runners = facts["runners"];
  if (runners === null || typeof runners !== "object" || Array.isArray(runners)) return {};
  return Object.fromEntries(Object.entries(runners).map(([name, options]) => [name, storedOptions(options)]));
}
