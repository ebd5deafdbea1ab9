// Who plays a stage, and how. Precedence, key by key: the operator's choice for the stage, its agent or all; the flow; the agent file; the
// operator's default. Runner and command come together from one source.

import type { ResolvedFlow } from "./agent.ts";
import type { AgentOptions, RunnerName, WrittenOptions } from "./agent-options.ts";
import type { WorkStage } from "./flow.ts";
import type { Json, JsonObject } from "../json.ts";
import { optional } from "../optional.ts";
import { firstRunner, type Rung, rungsIn } from "./ladder.ts";
import { givenFor, ownCommand } from "./own-command.ts";
import { TEAM_RUNNERS } from "./runner-names.ts";
import { storedOptions } from "./stored-options.ts";

export type RunnerChoice = {
  readonly runner: RunnerName;
  /** Program and arguments if a source names them; else the runner's own program. */
  readonly command: readonly string[] | null;
  readonly transport: "acp" | "native" | null;
  readonly options: AgentOptions;
  /** Whether an attempt continues the session of the previous attempt: after an answer or an interruption only, never, or in revisions too. */
  readonly session: "fresh" | "clean" | "resume";
  readonly questions: "ask" | "deny";
};

/** The default number of turns for a single agent and for a team. */
const TURNS = { alone: 50, team: 200 } as const;

/** Undefined if nothing is configured for this stage. `facts` are those of the run; `rung` counts from 0. */
export function runnerChoiceOf(
  resolved: Pick<ResolvedFlow, "agents">,
  facts: JsonObject,
  stage: WorkStage,
  rung = 0,
): RunnerChoice | undefined {
  return runnerLadder(resolved, facts, stage)[rung];
}

/** The choices for this stage, the preferred one first: several only where its runner is a ladder, none if nothing is configured. */
export function runnerLadder(
  resolved: Pick<ResolvedFlow, "agents">,
  facts: JsonObject,
  stage: WorkStage,
): readonly RunnerChoice[] {
  if (stage.kind === "builtin") return [];
  const agent = resolved.agents[stage.agent];
  const given = givenTo(facts, stage, (stage.options?.runner ?? agent?.options?.runner) === "outside");
  const others: readonly WrittenOptions[] = [
    { ...stage.options, ...optional({ command: stage.command, model: stage.model }) },
    { ...agent?.options, ...optional({ command: agent?.command, model: agent?.model }) },
    defaultOf(facts),
  ];
  const who = [...given, ...others].find((source) => runnerIn(source) !== undefined);
  if (who === undefined || (who.runner === undefined && who.command?.length === 0)) return [];
  const rungs: readonly Rung[] = who.runner === undefined ? [{ runner: "command" }] : rungsIn(who.runner);
  const [first] = rungs;
  if (first?.runner === "acp" || first?.runner === "command") {
    if (who.command === undefined || who.command.length === 0) return [];
  }
  const climb = (rung: Rung) => (source: WrittenOptions) => (source === who ? onRung(source, rung) : source);
  return rungs.map((rung) => choiceOf(stage, rung.runner, given.map(climb(rung)), others.map(climb(rung))));
}

function choiceOf(
  stage: WorkStage,
  runner: RunnerName,
  given: readonly WrittenOptions[],
  others: readonly WrittenOptions[],
): RunnerChoice {
  const who = [...given, ...others].find((source) => runnerIn(source) !== undefined);
  const own = given.map((source) => meantFor(runner, source));
  const rest = others.map((source) => meantFor(runner, source));
  const sources = [...own, ...rest];
  const first = <T>(said: (options: WrittenOptions) => T | undefined): T | undefined =>
    sources.map(said).find((value) => value !== undefined);
  // A runner without teams works alone, with the turns of one agent; the attempt says so.
  const teams = asksForTeam(stage, sources) && TEAM_RUNNERS.includes(runner);
  const model = modelOf(runner, own, rest);
  const effort = first((options) => options.effort);
  const tools = toolsOf(runner, own, sources);
  const denyTools = first((options) => options.deny_tools);
  const maxCostUsd = first((options) => options.max_cost);
  const systemPrompt = first((options) => options.system_prompt);
  return {
    runner,
    command: who?.command ?? null,
    transport: first((options) => options.transport) ?? null,
    options: {
      ...optional({ model, effort, tools: tools.names, denyTools }),
      // The flow's contract: no choice of the operator gives a judge the right to edit what it judges.
      permission: stage.mayChange?.length === 0 ? "read" : (first((options) => options.permission) ?? tools.permission),
      maxTurns: first((options) => options.max_turns) ?? turnsOf(stage, teams),
      ...optional({ maxTokens: stage.maxTokens, maxCostUsd, systemPrompt }),
      mcpServers: first((options) => options.mcp) ?? {},
      teams,
    },
    session: first((options) => options.session) ?? "fresh",
    questions: first((options) => options.questions) ?? "ask",
  };
}

function asksForTeam(stage: WorkStage, sources: readonly WrittenOptions[]): boolean {
  return stage.teams || sources.map(({ teams }) => teams).find((value) => value !== undefined) === true;
}

const WRITING: ReadonlySet<string> = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit", "Bash"]);

/** Whether the agent can write its report's file itself; for one that only looks the engine writes it. */
export function writesFiles({ runner, options: { permission, tools } }: RunnerChoice): boolean {
  if (runner === "command") return true;
  return (
    permission !== "read" && (tools === undefined || tools.some((tool) => WRITING.has(tool.split("(", 1)[0] ?? "")))
  );
}

/**
 * The options of a source for this runner. Options belong to the program that they were written for: another one gets neither its model nor its
 * names of tools. A list of tools that only look stays a limit, as the permission to read.
 */
export function meantFor(runner: RunnerName, source: WrittenOptions): WrittenOptions {
  const named = runnerIn(source);
  if (named === runner) return source;
  const own = rungsIn(source.runner).find((rung) => rung.runner === runner);
  if (own !== undefined) return onRung(source, own);
  if (named === undefined) {
    const { model, ...rest } = source;
    const vendor = model === undefined ? undefined : vendorOf(model);
    return vendor === undefined || vendor === runner || !VENDORS.has(runner) ? source : rest;
  }
  const { model: _model, transport: _transport, tools, deny_tools: denied, ...common } = source;
  const isLooking = tools?.every((tool) => LOOKING.has(tool)) === true;
  // A denial in another program's words still shows that something was to be kept from the agent: the runner says that it cannot.
  const kept = { ...common, ...optional({ deny_tools: denied }) };
  return isLooking && kept.permission === undefined ? { ...kept, permission: "read" } : kept;
}

/** The options of a source with a ladder for one rung: options beside the ladder are for its first rung. */
function onRung(source: WrittenOptions, rung: Rung): WrittenOptions {
  const first = firstRunner(source.runner);
  if (typeof source.runner === "string" || first === undefined) return source;
  const { command: _command, ...beside } = meantFor(rung.runner, { ...source, runner: first });
  return { ...beside, ...rung };
}

/** Runners whose program serves the models of its vendor. */
const VENDORS: ReadonlySet<RunnerName> = new Set(["claude", "codex", "gemini"]);

/** The runner that a model's full name belongs to; undefined for aliases and for unknown names. */
function vendorOf(model: string): RunnerName | undefined {
  if (model.startsWith("claude-")) return "claude";
  if (/^(?:gpt-|o[134](?:-|$)|codex-)/u.test(model)) return "codex";
  return model.startsWith("gemini-") ? "gemini" : undefined;
}

function runnerIn({ runner, command }: WrittenOptions): RunnerName | undefined {
  return firstRunner(runner) ?? (command === undefined ? undefined : "command");
}

/** Whether the engine leaves this stage to an outside worker, who takes and reports it through the API. */
export function isPlayedOutside(resolved: ResolvedFlow, facts: JsonObject, stage: WorkStage): boolean {
  return runnerChoiceOf(resolved, facts, stage)?.runner === "outside";
}

/**
 * The options the run was started with, nearest first. A list is a command; an empty one deliberately means no program. A choice for all
 * agents skips stages that the flow leaves to the outside (no program can merge a pull request for a person) and the flow's own commands
 * (no agent's word replaces an exit code).
 */
function givenTo(facts: JsonObject, stage: WorkStage, isOutside: boolean): readonly WrittenOptions[] {
  const isAgent = !isOutside && ownCommand(stage) === null;
  return givenFor(facts, [stage.id, stage.agent, stage.shownAgent, ...(isAgent ? ["*"] : [])]);
}

function defaultOf(facts: JsonObject): WrittenOptions {
  const { runner } = storedOptions({ runner: setting(facts, "runner") });
  const model = setting(facts, "model");
  return optional({ runner, model: typeof model === "string" ? model : undefined });
}

function setting(facts: JsonObject, key: string): Json | undefined {
  const config = facts["config"];
  return config === null || typeof config !== "object" || Array.isArray(config)
    ? undefined
    : (config as JsonObject)[key];
}

/** Takes the operator's model as given. A flow or an agent file may name Claude's models, which mean nothing to other runners. */
function modelOf(
  runner: RunnerName,
  own: readonly WrittenOptions[],
  others: readonly WrittenOptions[],
): string | undefined {
  const chosen = own.map(({ model }) => model).find((model) => model !== undefined);
  if (chosen !== undefined) return chosen;
  const named = others
    .map(({ model }) => model)
    .find((model) => model !== undefined && model !== "" && model !== "inherit");
  return named !== undefined && runner !== "claude" && isClaudeModel(named) ? undefined : named;
}

function isClaudeModel(model: string): boolean {
  return ["opus", "sonnet", "haiku", "best", "default", "opusplan"].includes(model) || model.startsWith("claude-");
}

/** Tools that change nothing, by Claude Code's names. */
const LOOKING: ReadonlySet<string> = new Set(["Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "TodoWrite"]);

/**
 * The operator names tools as the program does. Flows and agent files use Claude Code's names; for other runners these only choose between
 * read and edit permission.
 */
function toolsOf(
  runner: RunnerName,
  own: readonly WrittenOptions[],
  sources: readonly WrittenOptions[],
): { readonly names?: readonly string[]; readonly permission: "read" | "edit" } {
  const chosen = own.map(({ tools }) => tools).find((tools) => tools !== undefined);
  const named = chosen ?? sources.map(({ tools }) => tools).find((tools) => tools !== undefined);
  if (named === undefined) return { permission: "edit" };
  if (chosen !== undefined || runner === "claude") return { names: named, permission: "edit" };
  return { permission: named.every((tool) => LOOKING.has(tool)) ? "read" : "edit" };
}

function turnsOf(stage: WorkStage, teams: boolean): number {
  const { turns } = stage;
  if (typeof turns === "number") return turns;
  const { alone, team } = turns ?? TURNS;
  return teams ? team : alone;
}
