// Builds the command line of Claude Code from an attempt's spec: arguments, variables and files. It starts nothing and reads nothing. Every
// value follows `=` in the argument of its option, so that none can be taken for another option.
//
// Measured with 2.1.325 in a repository that brings hooks, an MCP server, agents, skills and memory files:
// - `--setting-sources=user` switches its settings, hooks, agents and skills off, but also its memory files (CLAUDE.md, .claude/rules).
// - `--add-dir=CWD` with CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1 brings CLAUDE.md, .claude/CLAUDE.md and .claude/rules back, and
//   nothing else. AGENTS.md alone is not read that way; a CLAUDE.md of ours that imports it is (see memory.ts). CLAUDE.local.md is not.
// - `--append-system-prompt-file` becomes the end of the last system block, which Claude Code marks for the cache. Folders (`--add-dir`)
//   are told in the first message, after it.
// - `--strict-mcp-config` keeps .mcp.json and the user's own servers off; those that the user lets agents have are in our file.
// - `--setting-sources=user` keeps the user's skills, agents and hooks; the user may leave skills and hooks out.

import { join } from "node:path";
import type { AgentOptions, McpServer } from "../../core/flow/agent-options.ts";
import type { JsonObject } from "../../core/json.ts";
import { type AgentSpec, type AttemptSpec, systemText } from "../runner.ts";
import type { ScratchFile } from "../process/scratch-files.ts";

export type ClaudePlan = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly ScratchFile[];
};

export type ClaudeFacts = {
  /** For a new conversation. */
  readonly newSessionId: string;
  /** An AGENTS.md that Claude Code would not read without help. */
  readonly agentsFile: string | null;
  /** The user's own MCP servers, in Claude Code's words; empty unless the user lets agents have them. */
  readonly servers?: JsonObject;
};

export function planClaude(
  spec: Pick<AttemptSpec, "cwd" | "env">,
  agent: AgentSpec,
  { newSessionId, agentsFile, servers: theirs = {} }: ClaudeFacts,
): ClaudePlan {
  const { options, session, schema, scratch } = agent;
  const { model, effort, maxTurns, maxCostUsd } = options;
  const system = systemText(agent);
  const files: ScratchFile[] = [];
  const inScratch = (name: string, text: string): string => {
    files.push({ name, text });
    return join(scratch, name);
  };
  const option = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`--${name}=${value}`];

  const servers = mcpServers(agent, theirs);
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
    ...leftOut(agent),
    ...permissions(agent, Object.keys(theirs)),
    ...option("model", model),
    // Claude Code has no "minimal" and would ignore it.
    ...option("effort", effort === "minimal" ? "low" : effort),
    ...option("max-turns", maxTurns),
    // On a resumed session it counts only new spending.
    ...option("max-budget-usd", maxCostUsd),
    ...option("json-schema", schema === undefined ? undefined : JSON.stringify(schema)),
    // A file, because it can exceed the size of one argument. Ignored on a resumed session, which has it already.
    ...option("append-system-prompt-file", system === "" ? undefined : inScratch("system-prompt.md", system)),
  ];
  return { args, env: { ...environment(agent), ...spec.env }, files };
}

/** A separate folder: the agent can read an added directory, and tokens are next to it. */
const MEMORY = "memory";

const LOOK = ["Read", "Glob", "Grep"];
// The mode allows its edit tools, but only within the working directories.
const WORK = [...LOOK, "Bash", "WebFetch", "WebSearch"];
/** Who only looks may still be offered them, for the folder of its own report. */
const EDITS: ReadonlySet<string> = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);
/** Tools of a lead; an agent's list of tools seldom names them. */
const TEAM = ["Agent", "SendMessage", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskStop"];

/** What these do is decided at the desk, call by call: a rule for the whole tool would let it out of the workspace. */
const AT_DESK: ReadonlySet<string> = new Set([...EDITS, "Bash"]);
const PERMIT = "--permission-prompt-tool=mcp__passrail__permit";

/** A call that needs permission is asked about at the desk; without one Claude Code refuses and reports it. */
function permissions({ options, folders, tools }: AgentSpec, theirs: readonly string[]): string[] {
  const { permission, denyTools = [] } = options;
  const denied = denyTools.length === 0 ? [] : [`--disallowedTools=${denyTools.join(",")}`];
  const team = options.teams ? TEAM : [];
  const named = options.tools === undefined ? undefined : [...options.tools, ...team];
  const offered = named === undefined ? [] : [`--tools=${builtIn(named).join(",")}`];
  if (permission === "full") return ["--dangerously-skip-permissions", ...offered, ...denied];

  const asks = tools?.permits === true && permission !== "read";
  const servers = [...(tools === undefined ? [] : ["passrail"]), ...Object.keys(options.mcpServers), ...theirs];
  const usual = [...(permission === "read" ? LOOK : WORK), ...team];
  const allowed = [
    ...(named?.filter((name) => permission !== "read" || !EDITS.has(name)) ?? usual).filter(
      (name) => !asks || !AT_DESK.has(name),
    ),
    // The rule for Edit covers every tool that writes files; two slashes begin an absolute path.
    ...folders.map((folder) => `Edit(/${folder}/**)`),
    ...servers.map((name) => `mcp__${name}`),
  ];
  return [
    `--permission-mode=${modeOf(permission, named !== undefined, asks)}`,
    `--allowedTools=${allowed.join(",")}`,
    ...(asks ? [PERMIT] : []),
    ...offered,
    ...denied,
  ];
}

/** A list of tools allows nothing else, not even edits in the workspace: whatever is not on it is asked about, or refused. */
function modeOf(permission: AgentOptions["permission"], isListed: boolean, asks: boolean): string {
  if (permission === "read") return "dontAsk";
  if (isListed) return asks ? "manual" : "dontAsk";
  return "acceptEdits";
}

/** `Bash(git *)` is a rule for the tool `Bash`; tools of MCP servers are not built in. */
const builtIn = (tools: NonNullable<AgentOptions["tools"]>): string[] => [
  ...new Set(tools.filter((name) => !name.startsWith("mcp__")).map((name) => name.split("(", 1)[0] ?? name)),
];

/** Longer than any limit for an answer. */
const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;
/** Claude Code waits longer than this anyway. */
const SHORT_WAIT_MS = 2 * 60_000;

/** Of the user's own set-up; without a choice Claude Code uses the user's skills and hooks. */
function leftOut({ userFeatures }: AgentSpec): string[] {
  if (userFeatures === undefined) return [];
  return [
    ...(userFeatures.includes("skills") ? [] : ["--disable-slash-commands"]),
    ...(userFeatures.includes("hooks") ? [] : [`--settings=${JSON.stringify({ disableAllHooks: true })}`]),
  ];
}

function mcpServers({ options, tools }: AgentSpec, theirs: JsonObject): object | null {
  const own = tools && {
    type: "http",
    url: tools.url,
    headers: { Authorization: `Bearer ${tools.token}` },
    // Otherwise the model must search for its tools first.
    alwaysLoad: true,
    // A question may wait for a person; Claude Code gives up after five minutes of silence.
    ...patience(tools),
  };
  const further = Object.entries(options.mcpServers).map(([name, server]) => [name, inClaudesWords(server)] as const);
  const named = [...Object.entries(theirs), ...further];
  const all = own === undefined ? named : [...named, ["passrail", own] as const];
  return all.length === 0 ? null : { mcpServers: Object.fromEntries(all) };
}

function patience({ permits, waitMs = 0 }: NonNullable<AgentSpec["tools"]>): { readonly timeout?: number } {
  if (permits === true) return { timeout: LONGEST_WAIT_MS };
  return waitMs > SHORT_WAIT_MS ? { timeout: waitMs + SHORT_WAIT_MS } : {};
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
    // 3.5 seconds in all; by default Claude Code retries for minutes, and the engine has its own back-off.
    CLAUDE_CODE_MAX_RETRIES: "3",
    // Restarts a stream that is silent for this long; without the switch it hangs.
    CLAUDE_ENABLE_BYTE_WATCHDOG: "1",
    CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS: "120000",
    // Both stand before our prompt and change from attempt to attempt, so that no cache could reuse what follows. An attempt looks at
    // git itself, and what it should remember is in its handoff.
    CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: "1",
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
    // Reports a failed start in the output format, too.
    CLAUDE_CODE_STARTUP_FAILURE_RESULTS: "1",
    ...(repositorySettings ? {} : { CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1" }),
    ...(options.maxTokens === undefined ? {} : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(options.maxTokens) }),
    ...(options.teams ? { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1" } : {}),
  };
}
