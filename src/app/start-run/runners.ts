// Which runner plays each agent of a run. Checks before the start that every agent that can run has a runner.

import { resolve } from "node:path";
import { didYouMean, nearest } from "../../core/check/suggest.ts";
import { factPathsOf, holds } from "../../core/flow/condition.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { WrittenOptions } from "../../core/flow/agent-options.ts";
import { RUNNERS } from "../../core/flow/runner-names.ts";
import type { Flow, Stage, WorkStage } from "../../core/flow/flow.ts";
import { type JsonObject, lookUp } from "../../core/json.ts";
import { givenFor, ownCommand, replacedCommands } from "../../core/flow/own-command.ts";
import { firstRunner, readLadder } from "../../core/flow/ladder.ts";
import { meantFor, runnerChoiceOf } from "../../core/flow/runner-choice.ts";
import { chooseByRules } from "../../core/flow/router-rules.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { splitCommand } from "./split-command.ts";

/** How each stage, each agent or all (`*`) are played: a command, or options. */
type Runners = Readonly<Record<string, WrittenOptions>>;

function allStages(flow: Flow): readonly Stage[] {
  return flow.stages.flatMap((stage): Stage[] => {
    if (stage.kind === "parallel") return [stage, ...Object.values(stage.tracks).flatMap(({ stages }) => stages)];
    return stage.kind === "dynamic" ? [stage, ...Object.values(stage.templates)] : [stage];
  });
}

/** The name of a stage or an agent, or `*`, in the flow's own spelling, by which the run looks it up. */
export function nameIn(resolved: ResolvedFlow, typed: string): Result<string> {
  const names = knownNames(resolved);
  const name = [...names].findLast((known) => known.toLowerCase() === typed.toLowerCase());
  if (name !== undefined) return ok(name);
  const message = `Flow ${resolved.flow.name} has no stage or agent "${typed}".`;
  return err({ code: "unknown_agent", message, hint: didYouMean(typed, names, "stages and agents") });
}

function knownNames({ flow, agents }: ResolvedFlow): ReadonlySet<string> {
  return new Set(["*", ...allStages(flow).flatMap((stage) => namesOf(stage)), ...Object.keys(agents)]);
}

/** The stages that a name in the flow's spelling means. */
export function stagesNamed({ flow }: ResolvedFlow, name: string): readonly WorkStage[] {
  return allStages(flow).filter(
    (stage): stage is WorkStage => "shownAgent" in stage && (name === "*" || namesOf(stage).includes(name)),
  );
}

/** The runner choice per stage, agent or `*`; flags override the settings. */
export function runnersOf(
  resolved: ResolvedFlow,
  flags: readonly string[],
  settings: Runners,
  cwd: string,
): Result<Runners> {
  const known = new Set([...knownNames(resolved)].map((name) => name.toLowerCase()));
  const runners: Record<string, WrittenOptions> = {};
  for (const [name, options] of Object.entries(settings)) {
    if (known.has(name.toLowerCase())) runners[name] = options;
  }
  for (const flag of flags) {
    const at = flag.indexOf("=");
    const isForAll = at === -1 && isRunner(flag);
    if (at < 1 && !isForAll) return err(agentInvalid(flag));
    const [typed, text] = isForAll ? ["*", flag] : [flag.slice(0, at).trim(), flag.slice(at + 1)];
    const found = nameIn(resolved, typed);
    if (!found.ok) return err({ ...found.error, field: `agents/${typed}` });
    const name = found.value;
    const chosen = readRunnerFlag(name, text, cwd);
    if (!chosen.ok) return err({ ...chosen.error, field: `agents/${name}` });
    // The flag replaces the runner; the settings keep its options, except for another program's model.
    const kept = meantFor(firstRunner(chosen.value.runner) ?? "command", runners[name] ?? {});
    const { runner: _runner, command: _command, ...options } = kept;
    runners[name] = { ...options, ...chosen.value };
  }
  return ok(runners);
}

/** Which of the flow's own commands run although `*` names an agent, and which do not run. */
export function commandNotes(flow: Flow, facts: JsonObject): readonly string[] {
  const replaced = replacedCommands(flow, facts);
  const own = allStages(flow).flatMap((stage) =>
    "shownAgent" in stage && ownCommand(stage) !== null && !replaced.some(({ stage: id }) => id === stage.id)
      ? [stage.id]
      : [],
  );
  const isForAll = givenFor(facts, ["*"]).length > 0;
  return [
    ...(isForAll ? own.map((id) => `${id} runs the flow's own command; * does not replace it.`) : []),
    ...replaced.map(({ stage, command }) => `! ${stage} does not run the flow's own command: ${command}`),
  ];
}

/** `--agent claude` is `--agent '*=claude'`. */
function isRunner(text: string): boolean {
  if (readLadder(text) !== undefined) return true;
  return RUNNERS.some((known) => known === text.trim() && known !== "acp" && known !== "command");
}

function agentInvalid(flag: string): Problem {
  const near = nearest(flag, RUNNERS);
  return {
    code: "agent_invalid",
    message: `--agent ${flag}: expected a runner such as claude, STAGE=RUNNER or STAGE=COMMAND.`,
    hint: near === undefined ? `for all stages: --agent '*=${flag}'` : `did you mean "${near}"?`,
  };
}

/** `claude` is the runner, `claude,codex:gpt-5.5` a ladder of them, `acp:goose acp` a program that speaks ACP, anything else a command. */
function readRunnerFlag(name: string, text: string, cwd: string): Result<WrittenOptions> {
  const runner = RUNNERS.find((known) => known === text.trim());
  if (runner !== undefined && runner !== "acp" && runner !== "command") return ok({ runner });
  const ladder = readLadder(text);
  if (ladder !== undefined) return ok({ runner: ladder });
  const isAcp = text.startsWith("acp:");
  const split = splitCommand(isAcp ? text.slice("acp:".length) : text);
  if (!split.ok) return err({ ...split.error, message: `--agent ${name}: ${split.error.message}` });
  const [program = "", ...args] = split.value;
  // Relative to the user's directory, not to the workspace.
  const command = [program.includes("/") ? resolve(cwd, program) : program, ...args];
  return ok(isAcp ? { runner: "acp", command } : { command });
}

function namesOf(stage: Stage): readonly string[] {
  return "shownAgent" in stage ? [stage.id, stage.agent, stage.shownAgent] : [];
}

/** Lists everything that is missing, so that the user can fix it in one go. */
export function missingPrograms(resolved: ResolvedFlow, facts: JsonObject, task: string): Problem | undefined {
  const { flow } = resolved;
  const missing = new Map<string, string>();
  const working = candidates(resolved, facts, task);
  if (!working.ok) return working.error;
  for (const stage of working.value) {
    if (runnerChoiceOf(resolved, facts, stage) === undefined) missing.set(stage.id, stage.shownAgent);
  }
  if (missing.size === 0) return undefined;
  const list = [...missing].map(([stage, agent]) => (stage === agent ? stage : `${stage} (${agent})`)).join(", ");
  const [first] = missing.keys();
  return {
    code: "agent_not_configured",
    message: `Flow ${flow.name} needs a program for: ${list}.`,
    hint: [
      `Fix:  --agent '*=claude'    (or codex, gemini, opencode; passrail agent list shows what is installed)`,
      `or one of your own:  --agent ${first ?? "STAGE"}="COMMAND"`,
      "or in passrail.yaml:  runner: claude    or    agents: { NAME: { command: [program, argument] } }",
    ].join("\n"),
    field: "agents/*",
  };
}

/** The stages in which an agent can work in this run, as far as is known before it starts. */
export function candidates(resolved: ResolvedFlow, facts: JsonObject, task: string): Result<readonly WorkStage[]> {
  const found: WorkStage[] = [];
  for (const stage of allStages(resolved.flow)) {
    if (stage.kind === "dynamic") {
      const named = routed(resolved, stage, facts, task);
      if (!named.ok) return named;
      found.push(...named.value);
    } else if (stage.kind === "agent" && !isTemplate(resolved.flow, stage) && canHold(stage, facts)) found.push(stage);
  }
  return ok(found);
}

function isTemplate(flow: Flow, stage: Stage): boolean {
  return flow.stages.some(
    (each) => each.kind === "dynamic" && Object.values(each.templates).includes(stage as WorkStage),
  );
}

/** The named agent, otherwise the agents that the rules choose. A router with a model may choose any agent that has a runner. */
function routed(
  resolved: ResolvedFlow,
  stage: Stage & { kind: "dynamic" },
  facts: JsonObject,
  task: string,
): Result<readonly WorkStage[]> {
  const named = stage.from
    .map((name) => lookUp(facts, name.split(".")))
    .find((value) => typeof value === "string" && value !== "");
  const unknown = typeof named === "string" ? refuseUnknown(resolved, stage, named) : undefined;
  if (unknown !== undefined) return err(unknown);
  const names = typeof named === "string" ? [named] : chooseByRules(task).stages.map(({ agent }) => agent);
  return ok(
    names.flatMap((name) => {
      const template = stage.templates[name.toLowerCase()] ?? stage.templates["*"];
      return template === undefined ? [] : [{ ...template, id: name, agent: name.toLowerCase(), shownAgent: name }];
    }),
  );
}

function refuseUnknown(
  { flow, agents }: ResolvedFlow,
  stage: Stage & { kind: "dynamic" },
  name: string,
): Problem | undefined {
  const known = [
    ...new Set([...Object.keys(stage.templates).filter((each) => each !== "*"), ...Object.keys(agents)]),
  ].sort();
  if (known.includes(name.toLowerCase())) return undefined;
  const near = nearest(name, known);
  const hint = `${near === undefined ? "" : `did you mean "${near}"?\n`}known agents: ${known.join(", ")}`;
  return { code: "unknown_agent", message: `Flow ${flow.name} has no agent "${name}".`, hint };
}

/** Facts do not change during a run; only conditions on how a stage ended are open. */
function canHold(stage: Stage, facts: JsonObject): boolean {
  if (stage.when === undefined || factPathsOf(stage.when).some(([space]) => space === "last")) return true;
  return holds(stage.when, (path) => lookUp(facts, path));
}
