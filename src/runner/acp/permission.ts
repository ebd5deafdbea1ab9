// Answers an agent's requests for permission over the protocol: allowed this one time, or refused and recorded. The attempt decides, and
// may ask a person meanwhile.

import type { Permission } from "../../core/flow/agent-options.ts";
import { fields, type Fields, list, text } from "../loose-json.ts";
import type { AttemptHooks, PermissionRequest } from "../runner.ts";

export type AcpAnswer =
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

/** `permit` decides; without it the rules alone do, and nobody is asked. */
export async function answerPermission(
  params: unknown,
  rules: Rules,
  permit: AttemptHooks["permit"],
): Promise<AcpAnswer> {
  const request = fields(params);
  const call = fields(request["toolCall"]);
  const allow = optionOf(request, ["allow_once", "allow_always"]);
  const allowed = allow !== null && (await mayRun(call, rules, permit));
  if (allowed) return { allowed, outcome: { outcome: "selected", optionId: allow } };
  const reject = optionOf(request, ["reject_once", "reject_always"]);
  return {
    allowed: false,
    outcome: reject === null ? { outcome: "cancelled" } : { outcome: "selected", optionId: reject },
    line: describe(call),
  };
}

async function mayRun(call: Fields, rules: Rules, permit: AttemptHooks["permit"]): Promise<boolean> {
  if (namesOf(call).some((name) => rules.denyTools.includes(name))) return false;
  if (rules.ownServers.some((server) => isToolOf(server, call))) return true;
  return permit === undefined ? isAllowed(call, rules) : (await permit(requestOf(call))).allowed;
}

const KINDS: Readonly<Record<string, PermissionRequest["kind"]>> = {
  execute: "command",
  edit: "write",
  delete: "write",
  move: "write",
  read: "look",
  search: "look",
  think: "look",
};

/** The exact command or path, where the program tells it apart from its own words. */
function requestOf(call: Fields): PermissionRequest {
  const said = text(call["kind"]) ?? "other";
  const kind = Object.hasOwn(KINDS, said) ? (KINDS[said] ?? "other") : "other";
  const input = fields(call["rawInput"]);
  const tool = text(call["name"]) ?? said;
  const title = text(call["title"]) ?? text(call["toolCallId"]) ?? "a tool";
  const located = list(call["locations"]).map((each) => text(fields(each)["path"]));
  const diffs = list(call["content"]).map((each) => text(fields(each)["path"]));
  const paths = [...new Set([...located, ...diffs].filter((path) => path !== null))];
  if (kind === "command") return { tool, kind, what: text(input["command"]) ?? title, paths };
  if (kind === "write" && paths.length > 0) return { tool, kind, what: paths.join("\n"), paths };
  const given = Object.keys(input).length === 0 ? title : `${title} ${JSON.stringify(input)}`;
  return { tool, kind, what: given, paths };
}

/** Changing and running: refused to an agent that may only read. */
const ACTS = new Set(["edit", "delete", "move", "execute"]);

function isAllowed(call: Fields, { permission }: Rules): boolean {
  switch (permission) {
    case "edit":
    case "full":
      return true;
    case "read":
      return !ACTS.has(text(call["kind"]) ?? "");
    case "ask":
      return false;
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
