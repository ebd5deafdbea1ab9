// The allowed tools as rules for Gemini CLI's policy engine; the rule with the highest priority wins. Without lists of tools there are
// rules only for the attempt's MCP servers, because no person is there to confirm them.

import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DESK } from "../acp/mcp-servers.ts";
import type { AgentSpec } from "../runner.ts";

/** Writes the rules of an attempt into its own folder and returns the path. */
export async function writePolicy(agent: AgentSpec): Promise<string> {
  const path = join(agent.scratch, "gemini-policy.toml");
  await writeFile(path, policyOf(agent), { mode: 0o600 });
  // The mode above only applies to a new file.
  await chmod(path, 0o600);
  return path;
}

/** Tools that change or run something. */
const ACTS: ReadonlySet<string> = new Set(["write_file", "replace", "run_shell_command"]);

export function policyOf({ options, tools }: Pick<AgentSpec, "options" | "tools">): string {
  const { permission, denyTools = [] } = options;
  const listed = options.tools?.filter((name) => permission !== "read" || !ACTS.has(name));
  const servers = Object.keys(options.mcpServers);
  return [
    ...(tools === undefined ? [] : [rule({ toolName: "*", mcpName: DESK }, "allow", 999)]),
    ...denyTools.map((toolName) => rule({ toolName }, "deny", 990)),
    ...(listed ?? []).map((toolName) => rule({ toolName }, "allow", 980)),
    ...(listed === undefined
      ? servers.map((mcpName) => rule({ toolName: "*", mcpName }, "allow", 960))
      : [rule({ toolName: "*" }, "deny", 970)]),
  ].join("\n");
}

// JSON strings are valid TOML strings.
function rule(what: { mcpName?: string; toolName?: string }, decision: "allow" | "deny", priority: number): string {
  const lines = Object.entries(what).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return ["[[rule]]", ...lines, `decision = "${decision}"`, `priority = ${priority}`, ""].join("\n");
}
