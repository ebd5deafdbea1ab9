// Who plays a stage, and how. Precedence, key by key: the operator's choice for the stage, its agent or all; the flow; the agent file; the
// operator's default. Runner and command come together from one source.

import type { ResolvedFlow } from "./agent.ts";
import { type AgentOptions, type RunnerName, RUNNERS, storedOptions, type WrittenOptions } from "./agent-options.ts";
import type { WorkStage } from "./flow.ts";
import type { Json, JsonObject } from "../json.ts";
import { optional } from "../optional.ts";

export type RunnerChoice = {
  readonly runner: RunnerName;
  /** Program and arguments if a source names them; else the runner's own program. */
  readonly command: readonly string[] | null;
  readonly transport: "acp" | "native" | null;
  readonly options: AgentOptions;
  /** Whether an attempt continues the session of the previous attempt: after an answer only, never, or in revisions too. */
  readonly session: "fresh" | "clean" | "resume";
  readonly questions: "ask" | "deny";
};

/** The default number of turns for a single agent and for a team. */
const TURNS = { alone: 50, team: 200 } as const;

/** Undefined if nothing is configured for this stage. `facts` are those of the run. */
export function runnerChoiceOf(resolved: ResolvedFlow, facts: JsonObject, stage: WorkStage): RunnerChoice | undefined {
  if (stage.kind === "builtin") return undefined;
  const agent = resolved.agents[stage.agent];
  const own = givenTo(facts, stage, (stage.options?.runner ?? agent?.options?.runner) === "outside");
  const sources: readonly WrittenOptions[] = [
    ...own,
    { ...stage.options, ...optional({ command: stage.command }) },
    { ...agent?.options, ...optional({ command: agent?.command }) },
    defaultOf(facts),
  ];
  const who = sources.find(({ runner, command }) => runner !== undefined || command !== undefined);
  if (who === undefined || (who.runner === undefined && who.command?.length === 0)) return undefined;
  const runner = who.runner ?? "command";
  if (runner === "acp" || runner === "command") {
    if (who.command === undefined || who.command.length === 0) return undefined;
  }
  const first = <T>(said: (options: WrittenOptions) => T | undefined): T | undefined =>
    sources.map(said).find((value) => value !== undefined);
  const teams = stage.teams || first((options) => options.teams) === true;
  const model = modelOf(runner, own, [stage.model, agent?.model, setting(facts, "model")]);
  const effort = first((options) => options.effort);
  const tools = toolsOf(runner, own, sources);
  const denyTools = first((options) => options.deny_tools);
  const maxCostUsd = first((options) => options.max_cost);
  const systemPrompt = first((options) => options.system_prompt);
  return {
    runner,
    command: who.command ?? null,
    transport: first((options) => options.transport) ?? null,
    options: {
      ...optional({ model, effort, tools: tools.names, denyTools }),
      permission: first((options) => options.permission) ?? tools.permission,
      maxTurns: first((options) => options.max_turns) ?? turnsOf(stage, teams),
      ...optional({ maxTokens: stage.maxTokens, maxCostUsd, systemPrompt }),
      mcpServers: first((options) => options.mcp) ?? {},
      teams,
    },
    session: first((options) => options.session) ?? "fresh",
    questions: first((options) => options.questions) ?? "ask",
  };
}

/** Whether the engine leaves this stage to an outside worker, who takes and reports it through the API. */
export function isPlayedOutside(resolved: ResolvedFlow, facts: JsonObject, stage: WorkStage): boolean {
  return runnerChoiceOf(resolved, facts, stage)?.runner === "outside";
}

/**
 * The options the run was started with, nearest first. A list is a command; an empty one deliberately means no program. A choice for all
 * agents skips stages that the flow leaves to the outside: no program can merge a pull request for a person.
 */
function givenTo(facts: JsonObject, stage: WorkStage, isOutside: boolean): readonly WrittenOptions[] {
  const given = facts["runners"];
  if (given === null || typeof given !== "object" || Array.isArray(given)) return [];
  const entries = given as Readonly<Record<string, unknown>>;
  const names = [...new Set([stage.id, stage.agent, stage.shownAgent, ...(isOutside ? [] : ["*"])])];
  return names.flatMap((name) => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (entry === undefined) return [];
    return [storedOptions(Array.isArray(entry) ? { command: entry } : entry)];
  });
}

function defaultOf(facts: JsonObject): WrittenOptions {
  const runner = setting(facts, "runner");
  return RUNNERS.some((name) => name === runner) ? { runner: runner as RunnerName } : {};
}

function setting(facts: JsonObject, key: string): Json | undefined {
  const config = facts["config"];
  return config === null || typeof config !== "object" || Array.isArray(config)
    ? undefined
    : (config as JsonObject)[key];
}

/** Takes the operator's model as given. A flow or an agent file may name Claude's models, which mean nothing to other runners. */
function modelOf(runner: RunnerName, own: readonly WrittenOptions[], others: readonly unknown[]): string | undefined {
  const chosen = own.map(({ model }) => model).find((model) => model !== undefined);
  if (chosen !== undefined) return chosen;
  const named = others.find((model) => typeof model === "string" && model !== "" && model !== "inherit") as
    | string
    | undefined;
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
