// Other runners for stages of a run that goes on: a person retries a stage with another agent. The options that the run was started with,
// such as permissions, stay; another program's model does not.

import type { WrittenOptions } from "../core/flow/agent-options.ts";
import { storedOptions } from "../core/flow/stored-options.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { JsonObject } from "../core/json.ts";
import { runnerChoiceOf } from "../core/flow/runner-choice.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { projectOf } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import type { AppProblem } from "./problem.ts";
import { nameIn, runnersOf, stagesNamed } from "./start-run/runners.ts";

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
  const named = new Set(agents.map((choice) => nameOf(choice).toLowerCase()));
  const before = Object.entries(startedWith(run));
  const kept = before.filter(([name]) => named.has(name.toLowerCase()));
  const read = runnersOf(resolved, agents, Object.fromEntries(kept), cwd);
  if (!read.ok) return refused(read.error);
  const chosen: Record<string, WrittenOptions> = { ...read.value };
  for (const typed of models) {
    const found = nameIn(resolved, nameOf(typed) || "*");
    if (!found.ok) return refused(found.error);
    const name = found.value;
    const model = typed.slice(typed.indexOf("=") + 1).trim();
    const own = before.find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1];
    chosen[name] = { ...own, ...chosen[name], model };
    const unused = notTaken(resolved, run, { ...startedWith(run), ...chosen }, name, model);
    if (unused !== undefined) return err({ code: "action_refused", message: unused });
  }
  return ok(chosen);
}

function nameOf(choice: string): string {
  return choice.slice(0, Math.max(0, choice.indexOf("="))).trim();
}

/** A model that its runner would never be asked for is a mistake, not a wish. */
function notTaken(
  resolved: ResolvedFlow,
  { facts }: Run,
  runners: Readonly<Record<string, WrittenOptions>>,
  name: string,
  model: string,
): string | undefined {
  if (model === "" || model.length > 200) return `--model ${name}=…: expected the name of a model`;
  const choices = stagesNamed(resolved, name).flatMap(
    (stage) => runnerChoiceOf(resolved, { ...facts, runners: { ...runners } }, stage) ?? [],
  );
  const playing = choices.filter(({ runner }) => runner !== "command" && runner !== "outside");
  if (playing.some(({ options }) => options.model === model)) return undefined;
  const [other] = playing;
  return other === undefined
    ? `no agent with a model plays ${name}`
    : `${other.runner} plays ${name} and does not take the model ${JSON.stringify(model)}; name its runner, too: --agent ${name}=RUNNER`;
}

function refused({ message, hint }: Problem): Result<never, AppProblem> {
  return err({ code: "action_refused", message: hint === undefined ? message : `${message} ${hint}` });
}

function startedWith({ facts }: Run): Readonly<Record<string, WrittenOptions>> {
  const runners = facts["runners"];
  if (runners === null || typeof runners !== "object" || Array.isArray(runners)) return {};
  return Object.fromEntries(Object.entries(runners).map(([name, options]) => [name, storedOptions(options)]));
}
