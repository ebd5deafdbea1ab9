// Answers an agent's requests for permission. No person sits at a terminal, so Passrail answers each request at once: allowed this one
// time, or refused and recorded.

import type { Permission } from "../../core/flow/agent-options.ts";
import { fields, type Fields, list, text } from "../loose-json.ts";

export type PermissionAnswer =
  | { readonly allowed: true; readonly outcome: Outcome }
  /** `line` names the refused call: `execute: rm -rf build`. */
  | { readonly allowed: false; readonly outcome: Outcome; readonly line: string };

type Outcome = { readonly outcome: "selected"; readonly optionId: string } | { readonly outcome: "cancelled" };

export type Rules = {
  readonly permission: Permission;
  readonly denyTools: readonly string[];
  /** Names of MCP servers that the attempt itself added. Their tools talk only to us. */
  readonly ownServers: readonly string[];
};

export function answerPermission(params: unknown, rules: Rules): PermissionAnswer {
  const request = fields(params);
  const call = fields(request["toolCall"]);
  const allow = optionOf(request, ["allow_once", "allow_always"]);
  const allowed = allow !== null && mayRun(call, rules);
  if (allowed) return { allowed, outcome: { outcome: "selected", optionId: allow } };
  const reject = optionOf(request, ["reject_once", "reject_always"]);
  return {
    allowed: false,
    outcome: reject === null ? { outcome: "cancelled" } : { outcome: "selected", optionId: reject },
    line: describe(call),
  };
}

/** Changing and running: refused to an agent that may only read. */
const ACTS = new Set(["edit", "delete", "move", "execute"]);

function mayRun(call: Fields, { permission, denyTools, ownServers }: Rules): boolean {
  const names = namesOf(call);
  if (names.some((name) => denyTools.includes(name))) return false;
  switch (permission) {
    case "edit":
    case "full":
      return true;
    case "read":
      return !ACTS.has(text(call["kind"]) ?? "");
    case "ask":
      return ownServers.some((server) => isToolOf(server, call));
  }
}

/** Programs name the tool of a server in various ways: `mcp__s__t`, `s_t`, `t (s MCP Server)`. A model's own text never has these forms. */
function isToolOf(server: string, call: Fields): boolean {
  if (text(fields(fields(fields(call["_meta"])["claudeCode"])["mcpServer"])["name"]) === server) return true;
  if ((text(call["kind"]) ?? "other") !== "other") return false;
  return namesOf(call).some(
    (name) =>
      name.startsWith(`mcp__${server}__`) ||
      name.startsWith(`mcp_${server}_`) ||
      name.startsWith(`${server}_`) ||
      name.endsWith(`(${server} MCP Server)`),
  );
}

function namesOf(call: Fields): string[] {
  return [text(call["name"]), text(call["title"])].filter((name) => name !== null);
}

function describe(call: Fields): string {
  const input = fields(call["rawInput"]);
  const what = text(input["command"]) ?? text(call["title"]) ?? text(call["toolCallId"]) ?? "a tool";
  const line = `${text(call["name"]) ?? text(call["kind"]) ?? "tool"}: ${what}`;
  return line
    .slice(0, 2_000)
    .split(/[\s\p{Cc}]+/u)
    .join(" ")
    .slice(0, 500);
}

function optionOf(request: Fields, kinds: readonly string[]): string | null {
  const options = list(request["options"]).map(fields);
  for (const kind of kinds) {
    const option = options.find((each) => each["kind"] === kind);
    const id = text(option?.["optionId"]);
    if (id !== null) return id;
  }
  return null;
}
