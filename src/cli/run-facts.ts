// What a run is started with besides its task: inputs for the flow's conditions, programs for its agents, and a check that
// every agent that can run has one, before anything is stored.

import { resolve } from "node:path";
import { didYouMean, nearest } from "../core/check/suggest.ts";
import { factPathsOf, holds } from "../core/condition.ts";
import type { ResolvedFlow } from "../core/agent.ts";
import { RUNNERS, type WrittenOptions } from "../core/agent-options.ts";
import type { Flow, Stage, WorkStage } from "../core/flow.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { playOf } from "../core/play.ts";
import { chooseByRules } from "../core/router-rules.ts";
import { type Inputs, readInputs } from "./commands/flow-facts.ts";
import { CliError, problemError, usageError } from "./errors.ts";
import { splitCommand } from "./split-command.ts";

/** How each stage, each agent or all (`*`) are played: a command, or options. */
type Players = Readonly<Record<string, WrittenOptions>>;

/** Facts from `--input`; what Passrail sets itself cannot be given. */
export function inputFacts(flow: Flow, pairs: readonly string[]): Inputs {
  const inputs = readInputs(flow, pairs);
  const own = [
    "project",
    "workspace",
    "verdict_repair",
    "runner",
    "model",
    "repository_settings",
    "repository_files",
  ].find((name) => lookUp(inputs.facts, ["config", name]) !== undefined);
  const space = ["runners", "last"].find((name) => inputs.facts[name] !== undefined);
  if (own === undefined && space === undefined) return inputs;
  throw usageError("input_reserved", `--input ${space ?? `config.${own ?? ""}`} is set by Passrail itself.`);
}

function allStages(flow: Flow): readonly Stage[] {
  return flow.stages.flatMap((stage): Stage[] => {
    if (stage.kind === "parallel") return [stage, ...Object.values(stage.tracks).flatMap(({ stages }) => stages)];
    return stage.kind === "dynamic" ? [stage, ...Object.values(stage.templates)] : [stage];
  });
}

/** Who plays what, by stage, agent or `*`: the flags over the settings. */
export function runnersOf(resolved: ResolvedFlow, flags: readonly string[], settings: Players, cwd: string): Players {
  const names = new Set([
    "*",
    ...allStages(resolved.flow).flatMap((stage) => namesOf(stage)),
    ...Object.keys(resolved.agents),
  ]);
  const known = new Map([...names].map((name) => [name.toLowerCase(), name]));
  const players: Record<string, WrittenOptions> = {};
  for (const [name, options] of Object.entries(settings)) {
    if (known.has(name.toLowerCase())) players[name] = options;
  }
  for (const flag of flags) {
    const at = flag.indexOf("=");
    if (at < 1) throw usageError("agent_invalid", `--agent ${flag}: expected STAGE=RUNNER or STAGE=COMMAND.`);
    const [name, text] = [flag.slice(0, at).trim(), flag.slice(at + 1)];
    if (!known.has(name.toLowerCase())) {
      throw new CliError(
        "unknown_agent",
        `Flow ${resolved.flow.name} has no stage or agent "${name}".`,
        didYouMean(name, names, "stages and agents"),
      );
    }
    // The flag says who plays; how is still the settings' word.
    const { runner: _runner, command: _command, ...options } = players[name] ?? {};
    players[name] = { ...options, ...playerOf(name, text, cwd) };
  }
  return players;
}

/** `claude` is the runner, `acp:goose acp` a program that speaks ACP, anything else a command. */
function playerOf(name: string, text: string, cwd: string): WrittenOptions {
  const runner = RUNNERS.find((known) => known === text.trim());
  if (runner !== undefined && runner !== "acp" && runner !== "command") return { runner };
  const isAcp = text.startsWith("acp:");
  const split = splitCommand(isAcp ? text.slice("acp:".length) : text);
  if (!split.ok) throw problemError({ ...split.error, message: `--agent ${name}: ${split.error.message}` }, 2);
  const [program = "", ...args] = split.value;
  // A path is meant from where the user stands, not from the workspace.
  const command = [program.includes("/") ? resolve(cwd, program) : program, ...args];
  return isAcp ? { runner: "acp", command } : { command };
}

function namesOf(stage: Stage): readonly string[] {
  return "shownAgent" in stage ? [stage.id, stage.agent, stage.shownAgent] : [];
}

/** Throws with all that is missing, so that it can be fixed in one go. */
export function requirePrograms(resolved: ResolvedFlow, facts: JsonObject, task: string): void {
  const { flow } = resolved;
  const missing = new Map<string, string>();
  for (const stage of candidates(resolved, facts, task)) {
    if (playOf(resolved, facts, stage) === undefined) missing.set(stage.id, stage.shownAgent);
  }
  if (missing.size === 0) return;
  const list = [...missing].map(([stage, agent]) => (stage === agent ? stage : `${stage} (${agent})`)).join(", ");
  const [first] = missing.keys();
  throw new CliError(
    "agent_not_configured",
    `Flow ${flow.name} needs a program for: ${list}.`,
    [
      `Fix:  --agent '*=claude'    (or codex, gemini, opencode; passrail agent list shows what is installed)`,
      `or one of your own:  --agent ${first ?? "STAGE"}="COMMAND"`,
      "or in passrail.yaml:  runner: claude    or    agents: { NAME: { command: [program, argument] } }",
    ].join("\n"),
  );
}

/** The stages in which an agent can work in this run, as far as is known before it starts. */
function candidates(resolved: ResolvedFlow, facts: JsonObject, task: string): readonly WorkStage[] {
  return allStages(resolved.flow).flatMap((stage): WorkStage[] => {
    if (stage.kind === "dynamic") return routed(resolved, stage, facts, task);
    if (stage.kind !== "agent" || isTemplate(resolved.flow, stage)) return [];
    return canHold(stage, facts) ? [stage] : [];
  });
}

function isTemplate(flow: Flow, stage: Stage): boolean {
  return flow.stages.some(
    (each) => each.kind === "dynamic" && Object.values(each.templates).includes(stage as WorkStage),
  );
}

/** An agent that was named, else those that the rules choose; a router with a model is trusted to choose among what has a program. */
function routed(
  resolved: ResolvedFlow,
  stage: Stage & { kind: "dynamic" },
  facts: JsonObject,
  task: string,
): WorkStage[] {
  const named = stage.from
    .map((name) => lookUp(facts, name.split(".")))
    .find((value) => typeof value === "string" && value !== "");
  if (typeof named === "string") requireKnown(resolved, stage, named);
  const names = typeof named === "string" ? [named] : chooseByRules(task).stages.map(({ agent }) => agent);
  return names.flatMap((name) => {
    const template = stage.templates[name.toLowerCase()] ?? stage.templates["*"];
    return template === undefined ? [] : [{ ...template, id: name, agent: name.toLowerCase(), shownAgent: name }];
  });
}

function requireKnown({ flow, agents }: ResolvedFlow, stage: Stage & { kind: "dynamic" }, name: string): void {
  const known = [
    ...new Set([...Object.keys(stage.templates).filter((each) => each !== "*"), ...Object.keys(agents)]),
  ].sort();
  if (known.includes(name.toLowerCase())) return;
  const near = nearest(name, known);
  const hint = `${near === undefined ? "" : `did you mean "${near}"?\n`}known agents: ${known.join(", ")}`;
  throw new CliError("unknown_agent", `Flow ${flow.name} has no agent "${name}".`, hint);
}

/** Facts do not change during a run; only what asks for how a stage ended is open. */
function canHold(stage: Stage, facts: JsonObject): boolean {
  if (stage.when === undefined || factPathsOf(stage.when).some(([space]) => space === "last")) return true;
  return holds(stage.when, (path) => lookUp(facts, path));
}

function lookUp(facts: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = facts;
  for (const key of path) {
    if (value === null || typeof value !== "object" || Array.isArray(value) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}
