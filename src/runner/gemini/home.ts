// Settings for one attempt without touching the user's: a home in the attempt's folder that links to the user's files, except
// settings.json, which is theirs with ours on top. Login and sessions stay where they are. Gemini CLI reads settings from no other place
// that an ordinary user may write.

import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import type { UserFeature } from "../../core/flow/runner-names.ts";
import { type Fields, fields, isFields, parseLine } from "../loose-json.ts";
import { withoutComments } from "../commented-json.ts";
import { DESK } from "../acp/mcp-servers.ts";
import type { AgentSpec, AttemptSpec, Failure } from "../runner.ts";

/** Returns the folder for GEMINI_CLI_HOME. */
export async function layOutHome(spec: AttemptSpec, agent: AgentSpec): Promise<Result<string, Failure>> {
  const theirs = join(spec.env["GEMINI_CLI_HOME"] ?? spec.env["HOME"] ?? homedir(), ".gemini");
  const home = join(agent.scratch, "gemini-home");
  const ours = join(home, ".gemini");
  await mkdir(ours, { recursive: true, mode: 0o700 });
  // Sessions are stored there: a later attempt must find them even if this is the program's first run.
  for (const folder of ["tmp", "history"]) await mkdir(join(theirs, folder), { recursive: true, mode: 0o700 });
  const settings = await readSettings(join(theirs, SETTINGS));
  if (!settings.ok) return settings;
  for (const name of await readdir(theirs)) {
    if (name !== SETTINGS) await link(join(theirs, name), join(ours, name));
  }
  await link(join(theirs, PROJECTS), join(ours, PROJECTS));
  const text = JSON.stringify(withKeyLogin(settingsOf(settings.value, agent), spec.env));
  await writeFile(join(ours, SETTINGS), text, { mode: 0o600 });
  return ok(home);
}

const SETTINGS = "settings.json";
/** Which folder of sessions belongs to which workspace. */
const PROJECTS = "projects.json";
/** Tries before the program gives up on a failing server; its default takes minutes. */
const ATTEMPTS = 3;

/** The user's settings with those of the attempt on top. */
export function settingsOf(
  all: Fields,
  { options, tools, userFeatures }: Pick<AgentSpec, "options" | "tools" | "userFeatures">,
): Fields {
  const theirs =
    userFeatures === undefined ? all : chosenOf(all, userFeatures, [DESK, ...Object.keys(options.mcpServers)]);
  const desk =
    tools === undefined
      ? {}
      : {
          [DESK]: {
            httpUrl: tools.url,
            headers: { Authorization: `Bearer ${tools.token}` },
            trust: true,
            // A question may wait for a person; ten minutes are the program's default.
            timeout: Math.max(600_000, (tools.waitMs ?? 0) + 60_000),
          },
        };
  const further = Object.entries(options.mcpServers).map(([name, server]) => {
    if ("url" in server) return [name, { httpUrl: server.url, headers: server.headers ?? {}, trust: true }] as const;
    const [command, ...args] = server.command;
    return [name, { command, args, env: server.env ?? {}, trust: true }] as const;
  });
  const general = fields(theirs["general"]);
  return {
    ...theirs,
    general: { maxAttempts: ATTEMPTS, ...general, enableAutoUpdate: false },
    advanced: { ...fields(theirs["advanced"]), ignoreLocalEnv: true },
    ...(options.maxTurns === undefined
      ? {}
      : { model: { ...fields(theirs["model"]), maxSessionTurns: options.maxTurns } }),
    mcpServers: { ...fields(theirs["mcpServers"]), ...Object.fromEntries(further), ...desk },
  };
}

/** At another address than Google's it takes a key only if its settings say so; a choice of the user's stays. */
function withKeyLogin(settings: Fields, env: AttemptSpec["env"]): Fields {
  const security = fields(settings["security"]);
  const auth = fields(security["auth"]);
  const isKeyElsewhere = (env["GOOGLE_GEMINI_BASE_URL"] ?? "") !== "" && (env["GEMINI_API_KEY"] ?? "") !== "";
  if (!isKeyElsewhere || auth["selectedType"] !== undefined) return settings;
  return { ...settings, security: { ...security, auth: { ...auth, selectedType: KEY_LOGIN } } };
}

/** What its settings call an API key. */
export const KEY_LOGIN = "gemini-api-key";

/** The user's settings without what the user does not let agents have; `servers`: those of the attempt. Extensions bring all three. */
function chosenOf(theirs: Fields, features: readonly UserFeature[], servers: readonly string[]): Fields {
  const off = { enabled: false };
  const { mcpServers: _mine, ...others } = theirs;
  return {
    ...(features.includes("mcp") ? theirs : { ...others, mcp: { ...fields(theirs["mcp"]), allowed: servers } }),
    ...(features.includes("hooks") ? {} : { hooksConfig: { ...fields(theirs["hooksConfig"]), ...off } }),
    ...(features.includes("skills") ? {} : { skills: { ...fields(theirs["skills"]), ...off } }),
  };
}

async function readSettings(path: string): Promise<Result<Fields, Failure>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    return ok({});
  }
  const value = parseLine(withoutComments(text));
  if (isFields(value)) return ok(value);
  return err({ kind: "request_refused", message: `Gemini CLI: ${path} is no JSON object. Correct it, or remove it.` });
}

async function link(target: string, path: string): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}
