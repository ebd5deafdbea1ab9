// Other runners for stages of an open run: a person retries a stage with another agent. The options that the run was started with,
// such as permissions, stay; another program's model does not.

import type { WrittenOptions } from "../core/flow/agent-options.ts";
import { storedOptions } from "../core/flow/stored-options.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { JsonObject } from "../core/json.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { projectOf } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import type { AppProblem } from "./problem.ts";
import { readModels, unusedModel, withModels } from "./start-run/models.ts";
import { runnersOf } from "./start-run/runners.ts";

/**
 * `agents`: `STAGE=RUNNER` or `STAGE=COMMAND`, as at the start of a run; a program's path is relative to `cwd`. `models`: `STAGE=MODEL`, or a
 * model for all.
 */
export type ChosenAgents = {
  readonly agents: readonly string[];
  readonly models?: readonly string[];
  readonly cwd?: string;
};

export function chosenRunners(
  resolved: ResolvedFlow,
  run: Run,
  { agents, models = [], cwd = projectOf(run) }: ChosenAgents,
): Result<JsonObject, AppProblem> {
  const named = readModels(resolved, models);
  if (!named.ok) return refused(named.error);
  const before = startedWith(run);
  const replaced = new Set(agents.map((choice) => nameOf(choice).toLowerCase()));
  const kept = Object.entries(before).filter(([name]) => replaced.has(name.toLowerCase()));
  const players = runnersOf(resolved, agents, Object.fromEntries(kept), cwd);
  if (!players.ok) return refused(players.error);
  const ownOf = (name: string) =>
    Object.entries(before).find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1] ?? {};
  const others = Object.fromEntries(named.value.map(({ name }) => [name, ownOf(name)]));
  const chosen = withModels({ ...others, ...players.value }, named.value);
  const unused = unusedModel(resolved, { ...run.facts, runners: { ...before, ...chosen } }, named.value);
  return unused === undefined ? ok({ ...chosen }) : refused(unused);
}

function nameOf(choice: string): string {
  return choice.slice(0, Math.max(0, choice.indexOf("="))).trim();
}

function refused({ message, hint }: Problem): Result<never, AppProblem> {
  return err({ code: "action_refused", message: hint === undefined ? message : `${message} ${hint}` });
}

function startedWith({ facts }: Run): Readonly<Record<string, WrittenOptions>> {
  const runners = facts["runners"];
  if (runners === null || typeof runners !== "object" || Array.isArray(runners)) return {};
  return Object.fromEntries(Object.entries(runners).map(([name, options]) => [name, storedOptions(options)]));
}
