// `mcp_config: FILE` in settings: a file of MCP servers in the format of Claude Code's `--mcp-config`. Its servers become the agent's, so
// every runner gets them; a missing or unreadable file is an error before anything starts.

import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import type { McpServer } from "../core/flow/agent-options.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { optional } from "../core/optional.ts";

const MAX_BYTES = 256 * 1024;
const server = z.union([
  z.object({
    type: z.literal("stdio").optional(),
    command: z.string().min(1),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
  }),
  z.object({
    type: z.enum(["http", "streamable-http"]).optional(),
    url: z.string().min(1),
    headers: z.record(z.string(), z.string()).optional(),
  }),
]);
const file = z.object({ mcpServers: z.record(z.string(), server) });

/** The file that is read, and the one that messages name. */
type McpConfigFile = { readonly read: string; readonly shown: string };

/** `settings` is the unchecked content of a settings file; anything unknown here is left for that check. `fileOf`: where to read a named file. */
export function withMcpConfigs(settings: unknown, fileOf: (named: string) => McpConfigFile): Result<unknown> {
  if (!isMap(settings) || !isMap(settings["agents"])) return ok(settings);
  const agents: Record<string, unknown> = {};
  for (const [name, agent] of Object.entries(settings["agents"])) {
    if (!isMap(agent) || typeof agent["mcp_config"] !== "string") {
      agents[name] = agent;
      continue;
    }
    const { mcp_config: path, ...rest } = agent;
    const read = readMcpConfig(fileOf(path));
    if (!read.ok) return err({ ...read.error, message: `agents.${name}.mcp_config: ${read.error.message}` });
    agents[name] = { ...rest, mcp: { ...read.value, ...(isMap(rest["mcp"]) ? rest["mcp"] : {}) } };
  }
  return ok({ ...settings, agents });
}

function readMcpConfig({ shown: path, read }: McpConfigFile): Result<Readonly<Record<string, McpServer>>> {
  let value: unknown;
  try {
    const stat = statSync(read);
    if (!stat.isFile() || stat.size > MAX_BYTES) return err(bad(`${path} is not a file of at most 256 KiB`));
    value = JSON.parse(readFileSync(read, "utf8"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return err(bad(code === undefined ? `${path} is not JSON` : `${path} cannot be read (${code})`));
  }
  const parsed = file.safeParse(value);
  if (!parsed.success) return err(bad(`${path}: ${z.prettifyError(parsed.error)}`));
  return ok(Object.fromEntries(Object.entries(parsed.data.mcpServers).map(([name, each]) => [name, inOurWords(each)])));
}

function inOurWords(each: z.infer<typeof server>): McpServer {
  if ("url" in each) return { url: each.url, ...optional({ headers: each.headers }) };
  return { command: [each.command, ...(each.args ?? [])], ...optional({ env: each.env }) };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function bad(message: string): Problem {
  return {
    code: "mcp_config_invalid",
    message,
    hint: 'A file with { "mcpServers": { NAME: { "command": …, "args": […] } } }',
  };
}
