// The login that pays for a runner, as far as its variables tell: an API key, or what the program itself is logged in with (a
// subscription). A limit of one is none of the other.

import { PROGRAMS } from "../core/flow/runner-names.ts";

const KEYS: Readonly<Record<string, readonly string[]>> = {
  claude: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
  codex: ["CODEX_API_KEY", "OPENAI_API_KEY"],
  gemini: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
};

type Environment = Readonly<Record<string, string | undefined>>;

export type AccountSettings = {
  readonly programs: Readonly<Partial<Record<(typeof PROGRAMS)[number], { readonly env?: Environment }>>>;
};

/** `API key`, `login`, or empty for a runner whose logins are not told apart. */
export function accountOf(environment: Environment, { programs }: AccountSettings, runner: string): string {
  const keys = Object.hasOwn(KEYS, runner) ? (KEYS[runner] ?? []) : [];
  if (keys.length === 0) return "";
  const name = PROGRAMS.find((each) => each === runner);
  const own = name === undefined ? undefined : programs[name]?.env;
  return keys.some((key) => (own?.[key] ?? environment[key] ?? "") !== "") ? "API key" : "login";
}
