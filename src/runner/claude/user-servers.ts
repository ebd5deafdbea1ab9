// The user's own MCP servers of Claude Code, for agents that the user lets have them. Claude Code is always told to use the servers of our
// file alone, because without that the repository's would run, too; so the user's go into that file.

import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../core/json.ts";
import { isFields, parseLine } from "../loose-json.ts";

/** Claude Code keeps much else there. */
const MAX_BYTES = 32 * 1024 * 1024;

/** By name, in Claude Code's own words; those of the user, not of single projects. None where the file cannot be read. */
export function userServers(env: Readonly<Record<string, string | undefined>>): JsonObject {
  const path = join(env["CLAUDE_CONFIG_DIR"] ?? env["HOME"] ?? homedir(), ".claude.json");
  try {
    if (statSync(path).size > MAX_BYTES) return {};
    const whole = parseLine(readFileSync(path, "utf8"));
    const servers = isFields(whole) ? whole["mcpServers"] : undefined;
    if (!isFields(servers)) return {};
    const named = Object.entries(servers).filter(([name, server]) => NAME.test(name) && isFields(server));
    return Object.fromEntries(named) as JsonObject;
  } catch {
    return {};
  }
}

/** A name becomes a part of an argument: the rule that allows its tools. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/u;
