// Builds the command line of Codex from an attempt's spec: arguments, variables, files and the text for stdin. It starts nothing. The
// operator's own arguments (`-c model_provider=…`) come before `exec`, where Codex accepts them; ours come later and win.
//
// Measured with 0.166.0 in a repository that brings .codex/config.toml, .codex/hooks.json, an MCP server, skills and AGENTS.md:
// - By default `codex exec` starts the repository's MCP server, reads its settings, and notes in the user's config.toml that the
//   repository is trusted. Hooks run only with --dangerously-bypass-hook-trust.
// - trust_level="untrusted" by `-c` switches settings, MCP servers, hooks and rules off and notes nothing, but then Codex does not read
//   AGENTS.md either: Passrail puts it before the prompt (see repository.ts). Skills are still listed; they are only texts.
// - developer_instructions follow Codex' own instructions directly; sandbox, folders and date come after them, so a new attempt repeats
//   all that stands before its prompt. There is no file for them: a text that is too long for an argument goes before the prompt.
// - bearer_token_env_var works and keeps the token out of the arguments; `resume` takes anything but a UUID for a new conversation.
// - `exec` refuses whatever needs an approval. Where a person is to be asked, Passrail starts `app-server` (see app-server.ts), which has the
//   same settings and sessions; what `exec` takes as options is said over its protocol.

import { join } from "node:path";
import type { McpServer } from "../../core/flow/agent-options.ts";
import { type AgentSpec, type AttemptSpec, systemText } from "../runner.ts";
import type { ScratchFile } from "../process/scratch-files.ts";
import type { CodexRepository } from "./repository.ts";
import { type TomlValue, toToml } from "./toml.ts";
import { optional } from "../../core/optional.ts";

export type CodexPlan = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly ScratchFile[];
  readonly prompt: string;
  /** Requested options that Codex does not have, in sentences. */
  readonly warnings: readonly string[];
};

export type CodexFacts = CodexRepository & {
  readonly instructions: string | null;
  /** The user's own MCP servers that the agent shall not have. */
  readonly without?: readonly string[];
};

export function planCodex(spec: Pick<AttemptSpec, "env" | "prompt">, agent: AgentSpec, facts: CodexFacts): CodexPlan {
  const { options, session, schema, scratch, tools } = agent;
  const { model, effort } = options;
  const system = systemText(agent);
  const secrets: Record<string, string> = {};
  const files: ScratchFile[] = [];
  const set = (key: string, value: TomlValue): string[] => ["-c", `${key}=${toToml(value)}`];
  const hidden = (value: string): string => {
    const name = `${SECRET}_${Object.keys(secrets).length}`;
    secrets[name] = value;
    return name;
  };
  const inScratch = (name: string, text: string, executable?: true): string => {
    files.push({ name, text, ...optional({ executable }) });
    return join(scratch, name);
  };

  const servers: Record<string, TomlValue> = {};
  for (const [name, server] of Object.entries(options.mcpServers)) {
    servers[name] = { ...inCodexWords(name, server, hidden, inScratch), default_tools_approval_mode: "approve" };
  }
  if (tools !== undefined) {
    // Required: without it the agent could not submit its verdict.
    const own = { url: tools.url, bearer_token_env_var: hidden(tools.token), required: true };
    // A question may wait for a person; by default Codex gives a call up after a minute.
    const patience = tools.waitMs === undefined ? {} : { tool_timeout_sec: Math.ceil(tools.waitMs / 1000) + SPARE_S };
    servers["passrail"] = { ...own, ...patience, default_tools_approval_mode: "approve" };
  }

  const trust = agent.repositorySettings ? "trusted" : "untrusted";
  const tellInArgument = system !== "" && Buffer.byteLength(system) <= ARGUMENT_BYTES;
  const isAsking = asksPeople(agent);
  const settings = [
    ...["plugins", "apps", "unbounded_connection_retries"].map((feature) => `--disable=${feature}`),
    ...set("analytics.enabled", false),
    ...set("check_for_update_on_startup", false),
    ...set("projects", Object.fromEntries(facts.projects.map((path) => [path, { trust_level: trust }]))),
    ...sandbox(agent, facts, set),
    ...(model === undefined ? [] : isAsking ? set("model", model) : [`--model=${model}`]),
    // Only the newest models know "max"; all reasoning models know "xhigh".
    ...(effort === undefined ? [] : set("model_reasoning_effort", effort === "max" ? "xhigh" : effort)),
    ...(tellInArgument ? set("developer_instructions", system) : []),
    ...leftOut(agent, facts, set),
    ...Object.entries(servers).flatMap(([name, server]) => set(`mcp_servers.${name}`, server)),
  ];
  const shape = (): string | undefined => schema && inScratch("verdict-schema.json", JSON.stringify(schema));
  const args = isAsking ? ["app-server", ...settings] : ["exec", ...settings, ...execOptions(agent, shape())];
  // A resumed conversation already contains them.
  const before =
    session === undefined
      ? [tellInArgument || system === "" ? null : system, agent.repositorySettings ? null : facts.instructions]
      : [];
  const prompt = [...before.filter((part) => part !== null), spec.prompt].join("\n\n");
  return { args, env: { ...LOG, ...spec.env, ...secrets }, files, prompt, warnings: warnings(agent) };
}

/** Codex asks over the protocol of its app server, and nowhere else. */
export const asksPeople = ({ options }: Pick<AgentSpec, "options">): boolean => options.permission === "ask";

function execOptions({ session, images = [] }: AgentSpec, schemaFile: string | undefined): readonly string[] {
  return [
    "--json",
    "--skip-git-repo-check",
    ...(schemaFile === undefined ? [] : [`--output-schema=${schemaFile}`]),
    // A resumed conversation already has them.
    ...(session === undefined ? images.map((path) => `--image=${path}`) : []),
    // After `--` nothing is an option; the last `-` says that the prompt is on stdin.
    ...(session === undefined ? ["-"] : ["resume", "--", session.id, "-"]),
  ];
}

/** Only its log says how long Codex sleeps before it repeats a request; the operator's own value stays. */
const LOG = { RUST_LOG: "error,codex_core::responses_retry=warn" };

/** Codex' own filter, if on, hides variables with such a name from the agent's shell. */
const SECRET = "PASSRAIL_MCP_SECRET";
/** For the call itself, beyond the wait. */
const SPARE_S = 60;
/** Linux takes 128 KiB in one argument. */
const ARGUMENT_BYTES = 100_000;

/** Of the user's own set-up; without a choice Codex uses all of it. */
function leftOut(
  { userFeatures, options }: AgentSpec,
  { without = [] }: CodexFacts,
  set: (key: string, value: TomlValue) => string[],
): string[] {
  if (userFeatures === undefined) return [];
  return [
    ...(userFeatures.includes("skills") ? [] : set("skills.include_instructions", false)),
    ...(userFeatures.includes("hooks") ? [] : ["--disable=hooks"]),
    // One of the agent's own by the same name replaces it.
    ...without
      .filter((name) => !Object.hasOwn(options.mcpServers, name))
      .flatMap((name) => set(`mcp_servers.${name}.enabled`, false)),
  ];
}

function sandbox(
  { options, folders }: AgentSpec,
  { gitFolders }: CodexFacts,
  set: (key: string, value: TomlValue) => string[],
): string[] {
  const writableRoots = set("sandbox_workspace_write.writable_roots", [...gitFolders, ...folders]);
  switch (options.permission) {
    case "read":
      if (folders.length === 0) return ["--sandbox=read-only"];
      // The read-only sandbox has no exceptions; a profile does.
      return [
        ...set("default_permissions", "passrail"),
        ...set("permissions.passrail", {
          filesystem: { ":root": "read", ...Object.fromEntries(folders.map((folder) => [folder, "write"])) },
        }),
      ];
    case "edit":
      return ["--sandbox=workspace-write", ...writableRoots];
    case "ask":
      return [...set("sandbox_mode", "workspace-write"), ...writableRoots];
    case "full":
      return ["--dangerously-bypass-approvals-and-sandbox"];
  }
}

function inCodexWords(
  name: string,
  server: McpServer,
  hidden: (value: string) => string,
  inScratch: (name: string, text: string, executable: true) => string,
): { readonly [key: string]: TomlValue } {
  if ("url" in server) {
    const headers = Object.entries(server.headers ?? {}).map(([header, value]) => [header, hidden(value)]);
    return { url: server.url, env_http_headers: Object.fromEntries(headers) };
  }
  const [command = "", ...args] = server.command;
  const variables = Object.entries(server.env ?? {});
  if (variables.length === 0) return { command, args };
  // No shell can set such a name; report it instead of losing it.
  if (variables.some(([variable]) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)))
    return { command, args, env: server.env ?? {} };
  const exports = variables.map(([variable, value]) => `export ${variable}='${value.replaceAll("'", `'\\''`)}'`);
  const launcher = ["#!/bin/sh", ...exports, 'exec "$@"', ""].join("\n");
  return { command: inScratch(`mcp-${name}.sh`, launcher, true), args: server.command };
}

function warnings({ options }: AgentSpec): string[] {
  const asked = [
    options.tools === undefined ? null : "tools",
    options.denyTools === undefined || options.denyTools.length === 0 ? null : "deny_tools",
    options.maxTurns === undefined ? null : "max_turns",
    options.maxCostUsd === undefined ? null : "max_cost",
  ].filter((key) => key !== null);
  return asked.length === 0 ? [] : [`Codex has nothing for ${asked.join(", ")}; it works without.`];
}
