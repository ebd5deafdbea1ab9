// The environment of an agent: a short allow-list, its runner's login variables, the operator's list, and declared values. Nothing else is
// inherited, so the daemon's secrets never reach an agent by accident.

import type { ProgramName } from "../../core/flow/agent-options.ts";
import { looksSecret } from "../../core/check/secrets.ts";
import type { Secret } from "../../core/secrets/redaction.ts";

const ALWAYS_PASSED = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TERM",
  "TMPDIR",
  "USER",
  "LOGNAME",
  "SHELL",
  "TZ",
] as const;

/** `pass` names further variables of the parent; `declared` values win over inherited ones. */
export const childEnvironment = (
  parent: Readonly<Record<string, string | undefined>>,
  declared: Readonly<Record<string, string>>,
  pass: readonly string[],
): Record<string, string> => {
  const environment: Record<string, string> = {};
  for (const name of [...ALWAYS_PASSED, ...pass]) {
    const value = Object.hasOwn(parent, name) ? parent[name] : undefined;
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...declared };
};

/** Proxies and certificates, for programs that talk to a model themselves. */
const NETWORK = [
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
];

const AWS = [
  "AWS_REGION",
  "AWS_DEFAULT_REGION",
  "AWS_PROFILE",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_BEARER_TOKEN_BEDROCK",
  "AWS_CONFIG_FILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_ROLE_ARN",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
];

const GOOGLE_CLOUD = ["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"];

/** Variables for a program's login and endpoint; the names are those that the programs look for. */
const RUNNER_ENVIRONMENT: Readonly<Record<ProgramName, readonly string[]>> = {
  claude: [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
    "ANTHROPIC_BEDROCK_BASE_URL",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_SKIP_VERTEX_AUTH",
    "ANTHROPIC_VERTEX_BASE_URL",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "CLOUD_ML_REGION",
    "CLAUDE_CODE_USE_FOUNDRY",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "ANTHROPIC_FOUNDRY_BASE_URL",
    "ANTHROPIC_FOUNDRY_RESOURCE",
    ...AWS,
    ...GOOGLE_CLOUD,
    ...NETWORK,
  ],
  codex: [
    "OPENAI_API_KEY",
    "CODEX_API_KEY",
    "CODEX_ACCESS_TOKEN",
    "CODEX_HOME",
    "CODEX_SQLITE_HOME",
    "CODEX_CA_CERTIFICATE",
    ...NETWORK,
  ],
  gemini: [
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_VERTEX_BASE_URL",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_CLOUD_PROJECT_ID",
    "GEMINI_CLI_HOME",
    "CODE_ASSIST_ENDPOINT",
    ...GOOGLE_CLOUD,
    ...NETWORK,
  ],
  opencode: [
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_AUTH_CONTENT",
    "OPENCODE_API_KEY",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    // The best-known providers; the keys of others are passed by name.
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "MOONSHOT_API_KEY",
    ...AWS,
    ...GOOGLE_CLOUD,
    ...NETWORK,
  ],
  // Unknown programs: the operator lists their variables.
  acp: [],
  command: [],
};

export function runnerEnvironment(runner: ProgramName): readonly string[] {
  return RUNNER_ENVIRONMENT[runner];
}

const SECRET_NAME =
  /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD|CREDENTIALS?|CREDS|_AUTH|_PAT|COOKIE)(?:_?[0-9]+)?$/;
/** Words that mark a secret anywhere in a name; the rest may only say which one it is. */
const SECRET_INSIDE = /(?:^|_)(?:KEY|APIKEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)[0-9]*_/;
const ABOUT_SECRET =
  /_(?:FILE|PATH|DIR|HOME|TYPE|URL|URI|HOST|NAME|TTL|MS|SECONDS|EXPIRY|LIMIT|SOCK|HELPER|DESCRIPTOR|REGION)$/;
/** A file's name is no secret. */
const A_PATH = /^(?:~|\.{0,2})\/[^\s:@]*$/;
const LONGEST_VALUE = 128 * 1024;

/**
 * The secrets of an environment, by name or by shape. Passrail removes all of them from agents' output, even those that no agent gets: an
 * agent can find them elsewhere. A wrong guess only makes a word unreadable.
 */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): readonly Secret[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || value === "" || value.length > LONGEST_VALUE) return [];
    const isNamed = isSecretName(name) && !A_PATH.test(value);
    return isNamed || looksSecret(value) ? [{ name, value }, ...passwordIn(name, value)] : [];
  });
}

function isSecretName(name: string): boolean {
  const upper = name.slice(0, 200).toUpperCase();
  return !ABOUT_SECRET.test(upper) && (SECRET_NAME.test(upper) || SECRET_INSIDE.test(upper));
}

/** Programs print parts of an address, too. */
function passwordIn(name: string, value: string): readonly Secret[] {
  if (!value.includes("://") || !URL.canParse(value)) return [];
  const { password } = new URL(value);
  return password === "" ? [] : [{ name, value: decoded(password) }];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
