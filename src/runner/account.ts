// The pool that pays for a runner, as far as its variables and its login file tell: an API key, a cloud account, or what the program itself
// is logged in with (a subscription). A limit of one is none of the other.

import { homedir } from "node:os";
import { join } from "node:path";
import { PROGRAMS } from "../core/flow/runner-names.ts";
import { readText } from "../file/read-text.ts";
import { fields, parseLine, text } from "./loose-json.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type AccountSettings = {
  readonly programs: Readonly<Partial<Record<(typeof PROGRAMS)[number], { readonly env?: Environment }>>>;
};

type Pools = {
  readonly keys: readonly string[];
  readonly clouds: readonly string[];
  /** Whether the program is logged in with a key instead of a person's plan. */
  readonly hasKeyFile?: (environment: Environment) => boolean;
};

const POOLS: Readonly<Record<string, Pools>> = {
  claude: {
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    clouds: ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"],
  },
  codex: { keys: ["CODEX_API_KEY", "OPENAI_API_KEY"], clouds: [], hasKeyFile: isCodexKey },
  gemini: { keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"], clouds: ["GOOGLE_GENAI_USE_VERTEXAI"] },
};

/** `API key`, `cloud`, `login`, or empty for a runner whose logins are not told apart. */
export function accountOf(environment: Environment, { programs }: AccountSettings, runner: string): string {
  const pools = Object.hasOwn(POOLS, runner) ? POOLS[runner] : undefined;
  if (pools === undefined) return "";
  const name = PROGRAMS.find((each) => each === runner);
  const own = { ...environment, ...(name === undefined ? {} : programs[name]?.env) };
  const isSet = (variable: string): boolean => (own[variable] ?? "") !== "";
  if (pools.clouds.some(isSet)) return "cloud";
  return pools.keys.some(isSet) || pools.hasKeyFile?.(own) === true ? "API key" : "login";
}

/** `codex login --with-api-key` keeps the key where the tokens of a ChatGPT plan would be. */
function isCodexKey(environment: Environment): boolean {
  const folder = environment["CODEX_HOME"] ?? join(environment["HOME"] ?? homedir(), ".codex");
  const file = readText(join(folder, "auth.json"), folder, "login");
  if (!file.ok) return false;
  const login = fields(parseLine(file.value));
  return (text(login["OPENAI_API_KEY"]) ?? "") !== "" && Object.keys(fields(login["tokens"])).length === 0;
}
