// Detects the runners of this machine: path, version, login, and the one line that fixes a gap. It reads names in the environment and files
// wherever possible; nothing here needs the network or costs anything.

import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunnerName } from "../core/flow/agent-options.ts";
import { createRedaction } from "../core/secrets/redaction.ts";
import { secretsOf } from "./process/environment.ts";
import { findProgram } from "./process/find-program.ts";
import { runProcess } from "./process/process.ts";
import { createStreamRedactor } from "./process/redactor.ts";
import type { AttemptEnd } from "./runner.ts";

/** `evidence`: how it is known, in words. */
export type LoginState = { readonly state: "yes" | "no" | "unknown"; readonly evidence: string };

export type Detected =
  | { readonly runner: RunnerName; readonly status: "missing"; readonly detail: string; readonly fix: string }
  | {
      readonly runner: RunnerName;
      readonly status: "found";
      readonly path: string;
      /** The program's own words, so any text; null if it does not answer. */
      readonly version: string | null;
      readonly login: LoginState;
      /** Empty if nothing needs fixing. */
      readonly fix: string;
    };

export type DetectOptions = {
  /** The operator's program and arguments, instead of the runner's own. */
  readonly command?: readonly string[];
  /** Base folder for a program with a slash in its name. */
  readonly cwd: string;
};

type Environment = Readonly<Record<string, string>>;

/** `environment` is the program's environment, not ours. */
export async function detectRunner(
  runner: RunnerName,
  environment: Environment,
  { command = [], cwd }: DetectOptions,
): Promise<Detected> {
  const vendor = VENDORS[runner];
  const [program = vendor?.program, ...args] = command;
  if (program === undefined)
    return {
      runner,
      status: "missing",
      detail: "It has no program of its own.",
      fix: `runners: { ${runner}: { command: [PROGRAM] } }`,
    };
  const found = findProgram({ argv: [program], cwd, env: environment });
  if (!found.ok) {
    const fix = command.length > 0 ? `see runners.${runner}.command in passrail.yaml` : (vendor?.install ?? "");
    return { runner, status: "missing", detail: found.error.detail, fix };
  }
  const path = found.value;
  // An unknown program could do anything when asked for its version.
  if (vendor === undefined) return { runner, status: "found", path, version: null, login: NOT_KNOWN, fix: "" };
  const env = { ...environment, ...vendor.quiet };
  const ask: Ask = (...words) => askProgram(path, [...args, ...words], env);
  const version = versionIn(await ask("--version"));
  if (version === null) {
    const fix = `it does not answer to --version; install it again: ${vendor.install}`;
    return { runner, status: "found", path, version, login: NOT_KNOWN, fix };
  }
  const login = await vendor.login(environment, ask);
  return { runner, status: "found", path, version, login, fix: login.state === "no" ? vendor.logIn(environment) : "" };
}

/** The line that helps where the runner's own program is missing or not logged in; undefined where nothing says so. Asks it only if no name or file tells. */
export async function loginLine(
  runner: RunnerName,
  environment: Environment,
  cwd: string,
): Promise<string | undefined> {
  const vendor = VENDORS[runner];
  if (vendor === undefined) return undefined;
  const found = findProgram({ argv: [vendor.program], cwd, env: environment });
  if (!found.ok) return `${runner} is not installed: ${vendor.install}`;
  const env = { ...environment, ...vendor.quiet };
  const login = await vendor.login(environment, (...words) => askProgram(found.value, words, env));
  return login.state === "no" ? `${runner} is not logged in: ${vendor.logIn(environment)}` : undefined;
}

/** The command that installs the runner's own program. */
export function installOf(runner: RunnerName): string | undefined {
  return VENDORS[runner]?.install;
}

const NOT_KNOWN: LoginState = { state: "unknown", evidence: "" };

type Ask = (...words: readonly string[]) => Promise<AttemptEnd>;

type Vendor = {
  readonly program: string;
  readonly install: string;
  readonly logIn: (environment: Environment) => string;
  /** Keeps a mere question from updating, fetching or relaunching the program. */
  readonly quiet: Environment;
  readonly login: (environment: Environment, ask: Ask) => Promise<LoginState>;
};

const VENDORS: Readonly<Partial<Record<RunnerName, Vendor>>> = {
  claude: {
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    logIn: () => "run claude once and log in, or set ANTHROPIC_API_KEY",
    quiet: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
    login: async (environment, ask) =>
      byName(environment, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN") ??
      byCloud(environment, "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY") ??
      byFile(join(homeOf(environment, "CLAUDE_CONFIG_DIR", ".claude"), ".credentials.json")) ??
      // Only the program can ask the keychain of a Mac.
      byAnswer(await ask("auth", "status"), "claude auth status"),
  },
  codex: {
    program: "codex",
    install: "npm install -g @openai/codex",
    logIn: ({ OPENAI_API_KEY: key }) =>
      key === undefined
        ? "codex login, or set CODEX_API_KEY"
        : "Codex does not look at OPENAI_API_KEY: set CODEX_API_KEY to the same value, or run codex login --with-api-key",
    quiet: {},
    login: async (environment, ask) =>
      byName(environment, "CODEX_API_KEY", "CODEX_ACCESS_TOKEN") ??
      byFile(join(homeOf(environment, "CODEX_HOME", ".codex"), "auth.json")) ??
      byAnswer(await ask("login", "status"), "codex login status"),
  },
  gemini: {
    program: "gemini",
    install: "npm install -g @google/gemini-cli",
    logIn: () => "run gemini once and log in, or set GEMINI_API_KEY",
    quiet: { GEMINI_CLI_NO_RELAUNCH: "true" },
    login: async (environment) => {
      const folder = join(environment["GEMINI_CLI_HOME"] ?? environment["HOME"] ?? "/", ".gemini");
      return (
        byName(environment, "GEMINI_API_KEY", "GOOGLE_API_KEY") ??
        byCloud(environment, "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA") ??
        byFile(join(folder, "oauth_creds.json")) ??
        (isFilled(join(folder, ".env"))
          ? { state: "unknown", evidence: `a key may be in ${join(folder, ".env")}` }
          : { state: "no", evidence: "no key, and no Google login" })
      );
    },
  },
  opencode: {
    program: "opencode",
    install: "npm install -g opencode-ai",
    logIn: () => "opencode auth login, or set a provider's key",
    quiet: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    login: async (environment) => {
      const data = environment["XDG_DATA_HOME"] ?? join(environment["HOME"] ?? "/", ".local", "share");
      const keys = Object.keys(environment).filter((name) => name.endsWith("_API_KEY"));
      return (
        byProviders(join(data, "opencode", "auth.json")) ??
        byName(environment, "OPENCODE_AUTH_CONTENT", ...keys) ?? {
          state: "unknown",
          evidence: "no provider's key; free and local models need none",
        }
      );
    },
  },
};

function byName(environment: Environment, ...names: readonly string[]): LoginState | undefined {
  const name = names.find((each) => (environment[each] ?? "") !== "");
  return name === undefined ? undefined : { state: "yes", evidence: `${name} is set` };
}

/** Only the cloud knows whether it accepts the credentials. */
function byCloud(environment: Environment, ...names: readonly string[]): LoginState | undefined {
  const name = byName(environment, ...names);
  return name === undefined ? undefined : { state: "unknown", evidence: name.evidence };
}

function byFile(path: string): LoginState | undefined {
  return isFilled(path) ? { state: "yes", evidence: path } : undefined;
}

/** opencode keeps one entry for each provider; their names are no secret. */
function byProviders(path: string): LoginState | undefined {
  if (!isFilled(path)) return undefined;
  try {
    const entries: unknown = JSON.parse(readFileSync(path, "utf8"));
    const names = typeof entries === "object" && entries !== null ? Object.keys(entries).slice(0, 10) : [];
    return names.length === 0 ? undefined : { state: "yes", evidence: names.join(", ") };
  } catch {
    return { state: "unknown", evidence: `${path} cannot be read` };
  }
}

function byAnswer({ reason, exitCode }: AttemptEnd, words: string): LoginState {
  if (reason !== "exited") return { state: "unknown", evidence: `${words} did not answer` };
  if (exitCode === 0) return { state: "yes", evidence: words };
  return exitCode === 1 ? { state: "no", evidence: words } : { state: "unknown", evidence: `${words} failed` };
}

function homeOf(environment: Environment, name: string, folder: string): string {
  const own = environment[name];
  return own === undefined || own === "" ? join(environment["HOME"] ?? "/", folder) : own;
}

const LARGEST_FILE = 1024 * 1024;

/** More than `{}`, and not too large for a login file. */
function isFilled(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.isFile() && stats.size > 2 && stats.size < LARGEST_FILE;
}

const LIMITS = { totalMs: 10_000, outputBytes: 64 * 1024, graceMs: 500 };

/** In an empty folder: some programs read settings of the current folder, even for this. */
async function askProgram(path: string, args: readonly string[], env: Environment): Promise<AttemptEnd> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "passrail-detect-")));
  const cwd = join(folder, "empty");
  mkdirSync(cwd);
  try {
    return await runProcess(
      path,
      {
        marker: `detect/${randomUUID()}`,
        argv: [path, ...args],
        cwd,
        prompt: "",
        env,
        limits: LIMITS,
        outputPath: join(folder, "output"),
        redactor: () => createStreamRedactor(createRedaction(secretsOf(env))),
      },
      { signal: new AbortController().signal },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `codex-cli 0.166.0`, `2.1.325 (Claude Code)`: the number if there is one, else the first line. */
function versionIn({ reason, exitCode, stdoutTail }: AttemptEnd): string | null {
  if (reason !== "exited" || exitCode !== 0) return null;
  const text = stdoutTail.slice(0, 1000);
  const line = text
    .split("\n")
    .find((each) => each.trim() !== "")
    ?.trim();
  return /[0-9]{1,9}\.[0-9]{1,9}[0-9A-Za-z.+-]{0,40}/.exec(text)?.[0] ?? line?.slice(0, 80) ?? null;
}
