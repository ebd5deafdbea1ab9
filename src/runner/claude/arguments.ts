// What Claude Code is started with: arguments, variables and files, made from an attempt's spec. It starts nothing and reads nothing.
// Every value stands behind `=` in the argument of its option, so that none can be taken for an option of its own.
//
// Measured with 2.1.325 in a repository that brings hooks, an MCP server, agents, skills and memory files:
// - `--setting-sources=user` switches its settings, hooks, agents and skills off, but its memory files (CLAUDE.md, .claude/rules) too.
// - `--add-dir=CWD` with CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1 brings CLAUDE.md, .claude/CLAUDE.md and .claude/rules back, and
//   nothing else. AGENTS.md alone is not read that way; a CLAUDE.md of ours that imports it is (see memory.ts). CLAUDE.local.md is not.
// - `--strict-mcp-config` keeps .mcp.json and the user's own servers off.

import { join } from "node:path";
import type { AgentOptions, McpServer } from "../../core/flow/agent-options.ts";
import type { AgentSpec, AttemptSpec } from "../runner.ts";
import type { ScratchFile } from "../process/scratch-files.ts";

export type ClaudePlan = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly ScratchFile[];
};

export type ClaudeFacts = {
  /** For a conversation that begins. */
  readonly newSessionId: string;
  /** An AGENTS.md that Claude Code would not read by itself. */
  readonly agentsFile: string | null;
};

export function planClaude(
  spec: Pick<AttemptSpec, "cwd" | "env">,
  agent: AgentSpec,
  { newSessionId, agentsFile }: ClaudeFacts,
): ClaudePlan {
  const { options, session, schema, scratch } = agent;
  const { model, effort, maxTurns, maxCostUsd, systemPrompt } = options;
  const files: ScratchFile[] = [];
  const inScratch = (name: string, text: string): string => {
    files.push({ name, text });
    return join(scratch, name);
  };
  const option = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`--${name}=${value}`];

  const servers = mcpServers(agent);
  const folders = [...agent.folders];
  if (!agent.repositorySettings) {
    folders.unshift(spec.cwd);
    if (agentsFile !== null) {
      inScratch(join(MEMORY, "CLAUDE.md"), `@${agentsFile.replaceAll(" ", "\\ ")}\n`);
      folders.push(join(scratch, MEMORY));
    }
  }

  const args = [
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--strict-mcp-config",
    ...option("mcp-config", servers === null ? undefined : inScratch("mcp.json", JSON.stringify(servers))),
    `--setting-sources=${agent.repositorySettings ? "user,project,local" : "user"}`,
    ...folders.map((folder) => `--add-dir=${folder}`),
    ...(session === undefined ? option("session-id", newSessionId) : option("resume", session.id)),
    ...permissions(agent),
    ...option("model", model),
    // It has no "minimal" and would ignore it.
    ...option("effort", effort === "minimal" ? "low" : effort),
    ...option("max-turns", maxTurns),
    // On a session that is gone on with, it counts only what is spent from now on.
    ...option("max-budget-usd", maxCostUsd),
    ...option("json-schema", schema === undefined ? undefined : JSON.stringify(schema)),
    // A file, because 50,000 characters can be more bytes than one argument may have. On a resumed session it is ignored.
    ...option(
      "append-system-prompt-file",
      systemPrompt === undefined ? undefined : inScratch("system-prompt.md", systemPrompt),
    ),
  ];
  return { args, env: { ...environment(agent), ...spec.env }, files };
}

/** A folder of its own: what is added as a directory can be read by the agent, and tokens lie beside it. */
const MEMORY = "memory";

const LOOK = ["Read", "Glob", "Grep"];
// Its edit tools are let through by the mode, within the working directories only.
const WORK = [...LOOK, "Bash", "WebFetch", "WebSearch"];
/** What a lead needs; an agent's own list of tools seldom names them. */
const TEAM = ["Agent", "SendMessage", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskStop"];

/** Nobody is there to be asked: what it would have to ask for, it refuses and reports. */
function permissions({ options, folders, tools }: AgentSpec): string[] {
  const { permission, denyTools = [] } = options;
  const denied = denyTools.length === 0 ? [] : [`--disallowedTools=${denyTools.join(",")}`];
  const team = options.teams ? TEAM : [];
  const named = options.tools === undefined ? undefined : [...options.tools, ...team];
  const offered = named === undefined ? [] : [`--tools=${builtIn(named).join(",")}`];
  if (permission === "full") return ["--dangerously-skip-permissions", ...offered, ...denied];

  const servers = [...(tools === undefined ? [] : ["passrail"]), ...Object.keys(options.mcpServers)];
  const allowed = [
    ...(named ?? [...(permission === "read" ? LOOK : WORK), ...team]),
    // The rule for files stands for every tool that writes them; two slashes begin an absolute path.
    ...folders.map((folder) => `Edit(/${folder}/**)`),
    ...servers.map((name) => `mcp__${name}`),
  ];
  // Where tools are named, nothing else is let through, not even edits in the workspace.
  const mode = permission === "read" || named !== undefined ? "dontAsk" : "acceptEdits";
  return [`--permission-mode=${mode}`, `--allowedTools=${allowed.join(",")}`, ...offered, ...denied];
}

/** `Bash(git *)` is a rule for the tool `Bash`; tools of MCP servers are none of its own. */
const builtIn = (tools: NonNullable<AgentOptions["tools"]>): string[] => [
  ...new Set(tools.filter((name) => !name.startsWith("mcp__")).map((name) => name.split("(", 1)[0] ?? name)),
];

function mcpServers({ options, tools }: AgentSpec): object | null {
  const own = tools && {
    type: "http",
    url: tools.url,
    headers: { Authorization: `Bearer ${tools.token}` },
    // Otherwise the model has to search for its tools first.
    alwaysLoad: true,
  };
  const further = Object.entries(options.mcpServers).map(([name, server]) => [name, inClaudesWords(server)] as const);
  const all = own === undefined ? further : [...further, ["passrail", own] as const];
  return all.length === 0 ? null : { mcpServers: Object.fromEntries(all) };
}

function inClaudesWords(server: McpServer): object {
  if ("url" in server) return { type: "http", url: server.url, headers: server.headers ?? {} };
  const [command, ...args] = server.command;
  return { type: "stdio", command, args, env: server.env ?? {} };
}

function environment({ options, repositorySettings }: AgentSpec): Record<string, string> {
  return {
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    // 3.5 seconds in all; by default it retries for minutes, and the engine has a back-off of its own.
    CLAUDE_CODE_MAX_RETRIES: "3",
    // A stream without bytes is begun anew after this; without the switch it hangs.
    CLAUDE_ENABLE_BYTE_WATCHDOG: "1",
    CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS: "120000",
    // A start that fails is told in the output format, too.
    CLAUDE_CODE_STARTUP_FAILURE_RESULTS: "1",
    ...(repositorySettings ? {} : { CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1" }),
    ...(options.maxTokens === undefined ? {} : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(options.maxTokens) }),
    ...(options.teams ? { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1" } : {}),
  };
}
