// Codex through a gateway: the provider that its config.toml chooses, or OpenAI itself, with a key from the environment or from
// `codex login --with-api-key`. Whatever chooses a provider otherwise (a profile, the command line) goes its own way.
//
// Measured with 0.166.0: `-c model_providers.x.base_url=…` changes that key alone of the provider in config.toml. The built-in provider
// tries WebSockets for seconds before it asks over HTTP, so OpenAI gets a provider of ours.

import { homedir } from "node:os";
import { join } from "node:path";
import { fields, parseLine, text } from "../loose-json.ts";
import {
  type ModelRouting,
  NO_KEY,
  ODD_ADDRESS,
  type Startable,
  TOKEN_VARIABLE,
  upstreamOf,
  type Variables,
  without,
} from "../model-routes.ts";
import { readUserFile } from "../user-file.ts";
import { readTomlKeys } from "./read-toml.ts";
import { toToml, type TomlValue } from "./toml.ts";

const VENDOR = "https://api.openai.com/v1";
const SECRETS = ["OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"] as const;
const ELSEWHERE = "its command line or its profile chooses the provider";

export function codexRouting(program: Startable): ModelRouting {
  const { argv, environment } = program;
  if (argv.some((word) => /model_provider|profile|openai_base_url|--oss/u.test(word)))
    return { type: "bypassed", why: ELSEWHERE };
  const folder = environment["CODEX_HOME"] ?? join(environment["HOME"] ?? homedir(), ".codex");
  const config = readTomlKeys(readUserFile(join(folder, "config.toml")) ?? "");
  if (config === null) return { type: "bypassed", why: "its config.toml has lines that Passrail cannot read" };
  if (config.has("profile")) return { type: "bypassed", why: ELSEWHERE };
  const id = config.get("model_provider") ?? "openai";
  return typeof id !== "string" || id === "openai"
    ? builtIn(program, config.get("openai_base_url"), folder)
    : chosen(program, id, (key) => config.get(`model_providers.${id}.${key}`));
}

/** OpenAI itself. */
function builtIn({ argv, environment }: Startable, address: unknown, folder: string): ModelRouting {
  const key = environment["CODEX_API_KEY"] ?? storedKey(folder) ?? "";
  if (key === "") return { type: "bypassed", why: NO_KEY };
  const upstream = upstreamOf(typeof address === "string" ? address : VENDOR);
  if (upstream === null) return { type: "bypassed", why: ODD_ADDRESS };
  return {
    type: "routed",
    routes: [{ name: "openai", upstream, headers: { authorization: `Bearer ${key}` } }],
    point: ({ url, token }) => {
      const provider = { name: "OpenAI by Passrail", base_url: `${url}/openai`, wire_api: "responses" };
      return {
        argv: [
          ...argv,
          ...set("model_provider", "passrail"),
          ...set("model_providers.passrail", { ...provider, env_key: TOKEN_VARIABLE }),
        ],
        environment: withToken(environment, [], token),
      };
    },
  };
}

/** A provider of the user's. */
function chosen(
  { argv, environment }: Startable,
  id: string,
  keyOf: (name: string) => string | boolean | undefined,
): ModelRouting {
  const variable = keyOf("env_key");
  const address = keyOf("base_url");
  const key = typeof variable === "string" ? (environment[variable] ?? "") : "";
  if (typeof variable !== "string" || key === "") return { type: "bypassed", why: NO_KEY };
  const upstream = typeof address === "string" && /^[A-Za-z0-9_-]+$/u.test(id) ? upstreamOf(address) : null;
  if (upstream === null) return { type: "bypassed", why: ODD_ADDRESS };
  return {
    type: "routed",
    routes: [{ name: "openai", upstream, headers: { authorization: `Bearer ${key}` } }],
    point: ({ url, token }) => ({
      argv: [
        ...argv,
        // As its config.toml says, which a container does not see.
        ...set("model_provider", id),
        ...["name", "wire_api"].flatMap((key) => {
          const value = keyOf(key);
          return typeof value === "string" ? set(`model_providers.${id}.${key}`, value) : [];
        }),
        ...set(`model_providers.${id}.base_url`, `${url}/openai`),
        ...set(`model_providers.${id}.env_key`, TOKEN_VARIABLE),
      ],
      environment: withToken(environment, [variable], token),
    }),
  };
}

function withToken(environment: Variables, used: readonly string[], token: string): Variables {
  return { ...without(environment, [...SECRETS, ...used]), [TOKEN_VARIABLE]: token };
}

function set(key: string, value: TomlValue): string[] {
  return ["-c", `${key}=${toToml(value)}`];
}

/** A key that `codex login --with-api-key` has stored; a plan's tokens are none. */
function storedKey(folder: string): string | null {
  const login = fields(parseLine(readUserFile(join(folder, "auth.json")) ?? ""));
  return Object.keys(fields(login["tokens"])).length > 0 ? null : text(login["OPENAI_API_KEY"]);
}
