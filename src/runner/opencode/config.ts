// The configuration of one attempt with opencode: JSON in a variable that overrides the user's files. The operator's own value of that
// variable stays, below ours. The repository's files are switched off as a whole, and AGENTS.md is listed explicitly.

import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Json } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { UserFeature } from "../../core/flow/runner-names.ts";
import { type Fields, fields, isFields, list, parseLine } from "../loose-json.ts";
import { userServerNames } from "./user-servers.ts";
import { DESK } from "../acp/mcp-servers.ts";
import type { AgentSpec, AttemptSpec, Failure } from "../runner.ts";
import { optional } from "../../core/optional.ts";

type Variables = Readonly<Record<string, string>>;

const VARIABLE = "OPENCODE_CONFIG_CONTENT";

/** The attempt's environment. `withServers`: MCP servers are configured here; over the protocol they come with the session. */
export async function environmentOf(
  spec: AttemptSpec,
  agent: AgentSpec,
  withServers: boolean,
): Promise<Result<Variables, Failure>> {
  const theirs = readTheirs(spec.env[VARIABLE]);
  if (!theirs.ok) return theirs;
  const without = await serversToLeave(spec, agent);
  if (!without.ok) return without;
  const plugins = await withoutPlugins(spec, agent);
  if (!plugins.ok) return plugins;
  const instructions = agent.repositorySettings ? [] : await instructionsOf(spec.cwd);
  const config = {
    ...theirs.value,
    ...configOf(agent),
    ...(instructions.length === 0 ? {} : { instructions: [...list(theirs.value["instructions"]), ...instructions] }),
    ...serverSettings(agent, fields(theirs.value["mcp"]), without.value, withServers ? serversOf(agent) : {}),
  };
  return ok({
    ...spec.env,
    ...(agent.repositorySettings ? {} : { OPENCODE_DISABLE_PROJECT_CONFIG: "1" }),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    ...plugins.value,
    [VARIABLE]: JSON.stringify(config),
  });
}

function configOf(agent: AgentSpec): Fields {
  const { options, folders, reads = [] } = agent;
  const permission = permissionOf(options, [...folders, ...reads]);
  return {
    autoupdate: false,
    share: "disabled",
    permission: leaves(agent, "skills") ? { ...permission, skill: "deny" } : permission,
    ...optional({ model: options.model }),
  };
}

/** Whether the user has chosen, and not this one. */
function leaves({ userFeatures }: AgentSpec, feature: UserFeature): boolean {
  return userFeatures !== undefined && !userFeatures.includes(feature);
}

/** The user's own MCP servers where the user does not let agents have them. A sandbox with its own programs has none of them. */
async function serversToLeave(spec: AttemptSpec, agent: AgentSpec): Promise<Result<readonly string[], Failure>> {
  if (!leaves(agent, "mcp") || spec.ownPrograms === true) return ok([]);
  const names = await userServerNames(spec.env);
  if (names.ok) return names;
  const message = `opencode: its MCP servers could not be left out (user_features): ${names.error}. Correct it, or remove it.`;
  return err({ kind: "request_refused", message });
}

/**
 * Its hooks are plugins. Its switch holds off one of its two loaders (1.18.33); the other looks into OPENCODE_CONFIG_DIR, and into the
 * user's folder only where that variable is not set. The rest of the user's configuration is read from their folder in any case.
 */
async function withoutPlugins({ env }: AttemptSpec, agent: AgentSpec): Promise<Result<Variables, Failure>> {
  if (!leaves(agent, "hooks")) return ok({});
  if (env["OPENCODE_CONFIG_DIR"] !== undefined) {
    const message =
      "opencode: the plugins of OPENCODE_CONFIG_DIR cannot be left out (user_features has no hooks). Unset the variable for opencode, or add hooks.";
    return err({ kind: "request_refused", message });
  }
  const empty = join(agent.scratch, "opencode-config");
  await mkdir(empty, { recursive: true, mode: 0o700 });
  return ok({ OPENCODE_PURE: "1", OPENCODE_CONFIG_DIR: empty });
}

/** `theirs`: from the variable. */
function serverSettings(agent: AgentSpec, theirs: Fields, without: readonly string[], ours: Fields): Fields {
  const off = [...Object.keys(theirs), ...without].map((name) => [name, { enabled: false }] as const);
  const mcp = { ...(leaves(agent, "mcp") ? Object.fromEntries(off) : theirs), ...ours };
  return Object.keys(mcp).length === 0 ? {} : { mcp };
}

type Decision = "allow" | "ask" | "deny";

/** The last matching rule counts. The model learns of a refusal by rule; a refused question ends its turn. */
export function permissionOf(options: AgentSpec["options"], folders: readonly string[]): Record<string, Json> {
  const { permission, tools, denyTools = [] } = options;
  const outside = (decision: Decision): Record<string, Json> =>
    Object.fromEntries([["*", decision], ...folders.map((folder) => [`${folder}/*`, "allow"] as const)]);
  const base: Record<string, Json> = { "*": tools === undefined ? "allow" : "deny" };
  for (const tool of tools ?? []) base[RULE[tool] ?? tool] = "allow";
  switch (permission) {
    case "full":
      break;
    case "edit":
      base["external_directory"] = outside("deny");
      break;
    case "ask":
      base["external_directory"] = outside("ask");
      if (base["bash"] !== "allow") base["bash"] = "ask";
      break;
    case "read":
      Object.assign(base, { edit: "deny", bash: "deny", task: "deny", external_directory: outside("deny") });
      break;
  }
  for (const tool of denyTools) base[RULE[tool] ?? tool] = "deny";
  return { ...base, [`${DESK}_*`]: "allow" };
}

/** One rule covers all tools that change files. */
const RULE: Readonly<Record<string, string>> = { write: "edit", patch: "edit", apply_patch: "edit", multiedit: "edit" };

function serversOf({ options, tools }: AgentSpec): Fields {
  const further = Object.entries(options.mcpServers).map(([name, server]) => {
    if ("url" in server) return [name, { type: "remote", url: server.url, headers: server.headers ?? {} }] as const;
    return [name, { type: "local", command: server.command, environment: server.env ?? {} }] as const;
  });
  const desk =
    tools === undefined
      ? {}
      : {
          [DESK]: {
            type: "remote",
            url: tools.url,
            headers: { Authorization: `Bearer ${tools.token}` },
            // A question may wait for a person. The program takes at most five minutes.
            ...(tools.waitMs === undefined ? {} : { timeout: Math.min(300_000, tools.waitMs + 60_000) }),
          },
        };
  return { ...Object.fromEntries(further), ...desk };
}

/** The file that the program would read by default: the first of these. */
async function instructionsOf(cwd: string): Promise<string[]> {
  for (const name of ["AGENTS.md", "CLAUDE.md"]) {
    const path = join(cwd, name);
    const there = await access(path).then(
      () => true,
      () => false,
    );
    if (there) return [path];
  }
  return [];
}

function readTheirs(text: string | undefined): Result<Fields, Failure> {
  if (text === undefined || text.trim() === "") return ok({});
  const value = parseLine(text);
  if (isFields(value)) return ok(value);
  return err({ kind: "request_refused", message: `opencode: ${VARIABLE} must be a JSON object without comments.` });
}
