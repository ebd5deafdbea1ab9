// opencode through a gateway: every provider that it has a key for, by variable or in the user's configuration. A provider that it is
// logged in to by itself goes its own way.

import { homedir } from "node:os";
import { join } from "node:path";
import { withoutComments } from "../commented-json.ts";
import { type Fields, fields, parseLine, text } from "../loose-json.ts";
import {
  type ModelRoute,
  type ModelRouting,
  NO_KEY,
  type Startable,
  TOKEN_VARIABLE,
  upstreamOf,
  type Variables,
  without,
} from "../model-routes.ts";
import { readUserFile } from "../user-file.ts";

type Vendor = { readonly variables: readonly string[]; readonly address: string; readonly header?: string };

/** Their addresses as opencode's list of models has them. Without a header: a bearer token. */
const VENDORS: Readonly<Record<string, Vendor>> = {
  anthropic: { variables: ["ANTHROPIC_API_KEY"], address: "https://api.anthropic.com/v1", header: "x-api-key" },
  openai: { variables: ["OPENAI_API_KEY"], address: "https://api.openai.com/v1" },
  google: {
    variables: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    address: "https://generativelanguage.googleapis.com/v1beta",
    header: "x-goog-api-key",
  },
  openrouter: { variables: ["OPENROUTER_API_KEY"], address: "https://openrouter.ai/api/v1" },
  groq: { variables: ["GROQ_API_KEY"], address: "https://api.groq.com/openai/v1" },
  mistral: { variables: ["MISTRAL_API_KEY"], address: "https://api.mistral.ai/v1" },
  deepseek: { variables: ["DEEPSEEK_API_KEY"], address: "https://api.deepseek.com" },
  xai: { variables: ["XAI_API_KEY"], address: "https://api.x.ai/v1" },
  moonshotai: { variables: ["MOONSHOT_API_KEY"], address: "https://api.moonshot.ai/v1" },
};
const HEADER_OF_PACKAGE: Readonly<Record<string, string>> = {
  "@ai-sdk/anthropic": "x-api-key",
  "@ai-sdk/google": "x-goog-api-key",
};
const CONTENT = "OPENCODE_CONFIG_CONTENT";
const SECRETS = [...Object.values(VENDORS).flatMap(({ variables }) => variables), "OPENCODE_AUTH_CONTENT"];

type Found = { readonly route: ModelRoute; readonly variables: readonly string[] };

/** `model`: as opencode writes it, with its provider. */
export function opencodeRouting({ argv, environment }: Startable, model: string | undefined): ModelRouting {
  const configured = providersOf(environment);
  const ids = [...new Set([...Object.keys(VENDORS), ...Object.keys(configured)])];
  const found = ids.flatMap((id) => routeOf(id, fields(configured[id]), environment) ?? []);
  const wanted = model?.split("/", 1)[0];
  if (found.length === 0 || (wanted !== undefined && !found.some(({ route }) => route.name === wanted)))
    return { type: "bypassed", why: NO_KEY };
  return {
    type: "routed",
    routes: found.map(({ route }) => route),
    point: ({ url, token }) => ({
      argv,
      environment: {
        ...without(environment, [...SECRETS, ...found.flatMap(({ variables }) => variables)]),
        [TOKEN_VARIABLE]: token,
        [CONTENT]: JSON.stringify(contentFor(environment, url, found)),
      },
    }),
  };
}

/** The user's own value of the variable stays, below ours. */
function contentFor(environment: Variables, url: string, found: readonly Found[]): Fields {
  const theirs = fields(parseLine(environment[CONTENT] ?? ""));
  const providers = fields(theirs["provider"]);
  const ours = found.map(({ route: { name } }) => {
    const before = fields(providers[name]);
    const options = { ...fields(before["options"]), baseURL: `${url}/${name}`, apiKey: `{env:${TOKEN_VARIABLE}}` };
    return [name, { ...before, options }] as const;
  });
  return { ...theirs, provider: { ...providers, ...Object.fromEntries(ours) } };
}

function routeOf(id: string, provider: Fields, environment: Variables): Found | undefined {
  if (!/^[A-Za-z0-9_.-]{1,100}$/u.test(id)) return undefined;
  const known = Object.hasOwn(VENDORS, id) ? VENDORS[id] : undefined;
  const options = fields(provider["options"]);
  const upstream = upstreamOf(text(options["baseURL"]) ?? known?.address ?? "");
  const written = text(options["apiKey"]);
  const named = written === null ? undefined : /^\{env:([A-Za-z_][A-Za-z0-9_]*)\}$/u.exec(written)?.[1];
  const variables = named === undefined ? (known?.variables ?? []) : [named];
  const inEnvironment = variables.map((name) => environment[name] ?? "").find((value) => value !== "");
  const key = written === null || named !== undefined ? inEnvironment : written;
  if (upstream === null || key === undefined) return undefined;
  const header = known?.header ?? HEADER_OF_PACKAGE[text(provider["npm"]) ?? ""];
  const headers = header === undefined ? { authorization: `Bearer ${key}` } : { [header]: key };
  return { route: { name: id, upstream, headers }, variables };
}

/** The providers of the user's files, and of the variable that wins over them. */
function providersOf(environment: Variables): Fields {
  const home = environment["XDG_CONFIG_HOME"] ?? join(environment["HOME"] ?? homedir(), ".config");
  const files = ["config.json", "opencode.json", "opencode.jsonc"].map((name) => join(home, "opencode", name));
  const texts = [...files, environment["OPENCODE_CONFIG"] ?? ""].map((path) =>
    path === "" ? "" : (readUserFile(path) ?? ""),
  );
  const providers = [...texts, environment[CONTENT] ?? ""].map((each) =>
    fields(fields(parseLine(withoutComments(each)))["provider"]),
  );
  return providers.reduce<Fields>(merged, {});
}

/** Two levels are enough: a provider, and its options. */
function merged(far: Fields, near: Fields): Fields {
  const entries = Object.entries(near).map(([id, value]) => {
    const [before, after] = [fields(far[id]), fields(value)];
    return [id, { ...before, ...after, options: { ...fields(before["options"]), ...fields(after["options"]) } }];
  });
  return { ...far, ...(Object.fromEntries(entries) as Fields) };
}
