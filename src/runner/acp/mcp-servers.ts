// The MCP servers of an attempt, our desk and the operator's, in the protocol's form. Secrets go over stdin with the session, never on a
// command line.

import type { AgentSpec } from "../runner.ts";

/** The name under which the model sees the desk. */
export const DESK = "passrail";

type Pair = { name: string; value: string };
export type AcpMcpServer =
  | { type: "http"; name: string; url: string; headers: Pair[] }
  | { name: string; command: string; args: string[]; env: Pair[] };

export function mcpServersOf(agent: AgentSpec): AcpMcpServer[] {
  const further = Object.entries(agent.options.mcpServers)
    .filter(([name]) => name !== DESK)
    .map(([name, server]): AcpMcpServer => {
      if ("url" in server) return { type: "http", name, url: server.url, headers: pairs(server.headers ?? {}) };
      const [command = "", ...args] = server.command;
      return { name, command, args, env: pairs(server.env ?? {}) };
    });
  const { tools } = agent;
  if (tools === undefined) return further;
  const headers = pairs({ Authorization: `Bearer ${tools.token}` });
  return [{ type: "http", name: DESK, url: tools.url, headers }, ...further];
}

function pairs(record: Readonly<Record<string, string>>): Pair[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }));
}
