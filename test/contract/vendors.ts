// How an operator points each agent CLI at the scripted models: files in its home, variables, the name of a model. Everything else is
// the runner's business.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { optional } from "../../src/core/optional.ts";
import { type Cli, cliPath } from "./installed.ts";

export type Vendor = {
  readonly cli: Cli;
  readonly model: string;
  /** From its start to its first act on a busy machine. */
  readonly readyMs: number;
  /** The id of a session that never was. */
  readonly lostSession: string;
  /** Writes what the CLI needs into its home; what it finds in its environment. */
  setUp(home: string, modelsUrl: string, apiKey: string): Readonly<Record<string, string>>;
};

/** A fifth of a start of Bun's programs goes into code that is compiled to run for hours, and a third into memory that is freed for them. */
const SHORT_LIVED = { BUN_JSC_useDFGJIT: "0", BUN_JSC_useGC: "0" };

export const claude: Vendor = {
  cli: "claude",
  model: "claude-sonnet-4-5",
  readyMs: 6_000,
  lostSession: "00000000-0000-4000-8000-000000000000",
  setUp: (_home, modelsUrl, apiKey) => ({
    ANTHROPIC_BASE_URL: modelsUrl,
    ANTHROPIC_API_KEY: apiKey,
    ...SHORT_LIVED,
  }),
};

export const codex: Vendor = {
  cli: "codex",
  model: "gpt-5.5-codex",
  readyMs: 6_000,
  lostSession: "00000000-0000-4000-8000-000000000000",
  setUp: (home, modelsUrl, apiKey) => {
    write(home, ".codex/config.toml", [
      'model_provider = "scripted"',
      "[model_providers.scripted]",
      'name = "scripted"',
      `base_url = "${modelsUrl}/v1"`,
      'wire_api = "responses"',
      'env_key = "SCRIPTED_API_KEY"',
      "request_max_retries = 1",
      "stream_max_retries = 1",
    ]);
    // Beside a bubblewrap of the system it wants a home that is not below the folder for temporary files.
    const temporary = join(home, "tmp");
    mkdirSync(temporary, { recursive: true });
    return { SCRIPTED_API_KEY: apiKey, TMPDIR: temporary };
  },
};

export const gemini: Vendor = {
  cli: "gemini",
  model: "gemini-2.5-pro",
  readyMs: 8_000,
  lostSession: "00000000-0000-4000-8000-000000000000",
  setUp: (home, modelsUrl, apiKey) => {
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, maxAttempts: 2 },
      model: { name: "gemini-2.5-pro" },
    };
    write(home, ".gemini/settings.json", [JSON.stringify(settings)]);
    // A sixth of its start goes into code that the start before has compiled already.
    const compiled = process.env["NODE_COMPILE_CACHE"];
    return {
      GEMINI_API_KEY: apiKey,
      GOOGLE_GEMINI_BASE_URL: modelsUrl,
      ...optional({ NODE_COMPILE_CACHE: compiled }),
    };
  },
};

/** Dollars for a million tokens, as its configuration says. */
export const OPENCODE_PRICES = { input: 3, output: 15, cache_read: 0.3 };

export const opencode: Vendor = {
  cli: "opencode",
  model: "scripted/scripted-model",
  readyMs: 10_000,
  lostSession: "ses_00000000000000000000000000",
  setUp: (home, modelsUrl, apiKey) => {
    const model = {
      name: "Scripted",
      tool_call: true,
      limit: { context: 200_000, output: 32_000 },
      cost: OPENCODE_PRICES,
    };
    const provider = {
      npm: "@ai-sdk/openai-compatible",
      name: "Scripted",
      options: { baseURL: `${modelsUrl}/v1`, apiKey: "{env:SCRIPTED_API_KEY}" },
      models: { "scripted-model": model },
    };
    const config = {
      autoupdate: false,
      share: "disabled",
      model: "scripted/scripted-model",
      small_model: "scripted/scripted-model",
      provider: { scripted: provider },
    };
    write(home, ".config/opencode/opencode.json", [JSON.stringify(config)]);
    // It installs a package for plugins beside each configuration that it reads; nobody answers it here.
    write(home, ".npmrc", ["registry=http://127.0.0.1:9/", "fetch-retries=0"]);
    // A third of its start goes into the list of all models of all vendors.
    write(home, "models.json", ["{}"]);
    // Each start writes 6 MB of libraries into the folder for temporary files and leaves them there.
    const temporary = join(home, "tmp");
    mkdirSync(temporary, { recursive: true });
    return {
      SCRIPTED_API_KEY: apiKey,
      TMPDIR: temporary,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_MODELS_PATH: join(home, "models.json"),
      ...SHORT_LIVED,
    };
  },
};

export const API_KEY = "sk-ant-api03-settings000000000000000000000000000000";

/** Its entry in `runners` of the settings, with a home of its own below `dir`. */
export function programOf(vendor: Vendor, dir: string, modelsUrl: string) {
  const home = join(dir, `home-of-${vendor.cli}`);
  mkdirSync(home, { recursive: true });
  const env: Readonly<Record<string, string>> = {
    HOME: home,
    PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    ...vendor.setUp(home, modelsUrl, API_KEY),
  };
  return { command: [cliPath(vendor.cli)], env };
}

/** A passrail.yaml that lets this CLI play every agent. */
export function settingsFor(vendor: Vendor, dir: string, modelsUrl: string): object {
  return {
    runner: vendor.cli,
    model: vendor.model,
    runners: { [vendor.cli]: programOf(vendor, dir, modelsUrl) },
  };
}

function write(home: string, path: string, lines: readonly string[]): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), `${lines.join("\n")}\n`);
}
