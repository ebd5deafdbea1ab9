import { lstatSync, mkdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, type Bench, openBench } from "../../../test/fixtures/agents/try-agent.ts";
import type { AgentOptions } from "../../core/flow/agent-options.ts";
import type { AgentEvent, AgentSpec } from "../runner.ts";
import { createGeminiRunner } from "./runner.ts";
import { settingsOf } from "./home.ts";
import { policyOf } from "./policy.ts";
import { uncontrolledSettings } from "./repository.ts";

let bench: Bench;
beforeEach(() => {
  bench = openBench();
  for (const folder of ["scratch", "workspace", "user"]) mkdirSync(bench.path(folder));
});
afterEach(() => bench.close());

const plain: AgentOptions = { permission: "edit", mcpServers: {}, teams: false };

const start = async (
  transport: "acp" | "native",
  options: Partial<AgentOptions> = {},
  more: Partial<AgentSpec> = {},
  program = "dump-args",
) => {
  const events: AgentEvent[] = [];
  const spec = bench.spec({
    argv: agent(program, "of the operator"),
    cwd: bench.path("workspace"),
    prompt: "the prompt",
    env: { PATH: dirname(process.execPath), HOME: bench.path("user") },
    agent: {
      options: { ...plain, ...options },
      scratch: bench.path("scratch"),
      folders: [],
      repositorySettings: false,
      ...more,
    },
  });
  const end = await createGeminiRunner({ transport }).run(spec, {
    signal: new AbortController().signal,
    onEvent: (event) => events.push(event),
  });
  return { end, events, output: end.process === null ? "" : readFileSync(spec.outputPath, "utf8") };
};

const plant = (path: string, text = ""): void => {
  mkdirSync(dirname(bench.path(path)), { recursive: true });
  writeFileSync(bench.path(path), text);
};

const HOSTILE = `--yolo "quoted" it's\n$(id) -x=`;

describe("how gemini is started", () => {
  test("S22: values of any shape reach the program unchanged, each behind its option", async () => {
    const { output } = await start("acp", { model: HOSTILE }, { folders: ["/hand off"] });
    expect(JSON.parse(output)).toEqual([
      "of the operator",
      "--acp",
      `--model=${HOSTILE}`,
      "--approval-mode=default",
      `--policy=${bench.path("scratch/gemini-policy.toml")}`,
      "--include-directories=/hand off",
      "--skip-trust",
    ]);
  });

  test("S22: also the id of a session, which goes the native way", async () => {
    const { output } = await start("acp", {}, { session: { id: HOSTILE, totals: null } });
    expect(JSON.parse(output)).toEqual([
      "of the operator",
      "--output-format=stream-json",
      `--resume=${HOSTILE}`,
      "--prompt=Follow the instructions above.",
      "--approval-mode=yolo",
      expect.stringMatching(/^--policy=/),
      "--skip-trust",
    ]);
  });

  test.each([
    ["acp", "read", "default"],
    ["acp", "ask", "auto_edit"],
    ["acp", "full", "yolo"],
    ["native", "read", "default"],
    ["native", "ask", "auto_edit"],
    ["native", "full", "yolo"],
  ] as const)("S05: %s with permission %s runs in the mode %s", async (transport, permission, mode) => {
    const { output } = await start(transport, { permission });
    expect(JSON.parse(output)).toContain(`--approval-mode=${mode}`);
  });

  test("R-X-13: the token is in no argument, and in the environment neither", async () => {
    const tools = { url: "http://127.0.0.1:1/mcp", token: "t0k3n" };
    for (const transport of ["acp", "native"] as const) {
      for (const program of ["dump-args", "dump-env"]) {
        expect((await start(transport, {}, { tools }, program)).output).not.toContain("t0k3n");
      }
    }
    const settings = bench.path("scratch/gemini-home/.gemini/settings.json");
    expect(readFileSync(settings, "utf8")).toContain("Bearer t0k3n");
    expect(statSync(settings).mode & 0o077).toBe(0);
  });

  test("S10: the folder is not trusted until the flag says so; with the repository's settings it is from the start", async () => {
    const closed = await start("native", {}, {}, "dump-env");
    expect(JSON.parse(closed.output)).toMatchObject({ GEMINI_CLI_TRUST_WORKSPACE: "false" });
    const open = await start("acp", {}, { repositorySettings: true }, "dump-env");
    expect(JSON.parse(open.output)).toMatchObject({
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_CLI_NO_RELAUNCH: "true",
    });
  });
});

describe("what the repository brings", () => {
  test.each([".gemini/settings.json", ".gemini/.env", ".env"])(
    "S10: %s takes effect over the protocol",
    async (path) => {
      expect(await uncontrolledSettings(bench.path("workspace"))).toEqual([]);
      plant(`workspace/${path}`);
      plant("workspace/GEMINI.md");
      plant("workspace/.gemini/extensions/x/gemini-extension.json");
      expect(await uncontrolledSettings(bench.path("workspace"))).toEqual([path]);
    },
  );

  test("S10: then the attempt goes the native way, and says so; with repository_settings it does not", async () => {
    plant("workspace/.gemini/settings.json", "{}");
    const { output, events } = await start("acp");
    expect(JSON.parse(output)).not.toContain("--acp");
    expect(events).toContainEqual({
      type: "notice",
      kind: "warning",
      text: expect.stringContaining(".gemini/settings.json"),
    });
    expect(JSON.parse((await start("acp", {}, { repositorySettings: true })).output)).toContain("--acp");
  });
});

describe("the home of a native attempt", () => {
  test("the user's files are links, and the settings are theirs with ours on top", async () => {
    plant("user/.gemini/oauth_creds.json", "login");
    plant(
      "user/.gemini/settings.json",
      '{ // mine\n "ui": {"theme": "a//b"}, "general": {"maxAttempts": 5} /* ok */ }',
    );
    await start("native", { maxTurns: 7 });
    const home = bench.path("scratch/gemini-home/.gemini");
    expect(readFileSync(join(home, "oauth_creds.json"), "utf8")).toBe("login");
    expect(lstatSync(join(home, "oauth_creds.json")).isSymbolicLink()).toBe(true);
    expect(readlinkSync(join(home, "tmp"))).toBe(bench.path("user/.gemini/tmp"));
    expect(JSON.parse(readFileSync(join(home, "settings.json"), "utf8"))).toMatchObject({
      ui: { theme: "a//b" },
      general: { maxAttempts: 5, enableAutoUpdate: false },
      advanced: { ignoreLocalEnv: true },
      model: { maxSessionTurns: 7 },
    });
  });

  test("settings that cannot be read refuse the attempt instead of dropping them", async () => {
    plant("user/.gemini/settings.json", "{");
    const { end } = await start("native");
    expect(end).toMatchObject({ process: null, conversation: { failure: { kind: "request_refused" } } });
    expect(end.detail).toContain("settings.json");
  });

  test("servers are written as the program knows them", () => {
    const mcpServers = { near: { command: ["tool", "-x"], env: { A: "b" } }, far: { url: "https://x.example/mcp" } };
    expect(settingsOf({ mcpServers: { mine: {} } }, { options: { ...plain, mcpServers } })).toMatchObject({
      general: { maxAttempts: 3 },
      mcpServers: {
        mine: {},
        near: { command: "tool", args: ["-x"], env: { A: "b" }, trust: true },
        far: { httpUrl: "https://x.example/mcp", headers: {}, trust: true },
      },
    });
  });

  test("what the user does not let agents have of their own set-up is off, and the servers of the attempt stay", () => {
    const mcpServers = { near: { command: ["tool"] } };
    const theirs = { mcpServers: { mine: {} }, skills: { disabled: ["x"] }, mcp: { excluded: ["y"] } };
    const nothing = settingsOf(theirs, { options: { ...plain, mcpServers }, userFeatures: [] });
    expect(nothing).toMatchObject({
      hooksConfig: { enabled: false },
      skills: { enabled: false, disabled: ["x"] },
      mcp: { excluded: ["y"], allowed: ["passrail", "near"] },
    });
    expect(Object.keys(nothing["mcpServers"] as object)).toEqual(["near"]);
    const all = settingsOf(theirs, { options: plain, userFeatures: ["skills", "hooks", "mcp"] });
    expect(all).toMatchObject(theirs);
    expect(all).not.toHaveProperty("hooksConfig");
  });
});

describe("which tools it may use", () => {
  test("our desk and the operator's servers need no confirmation", () => {
    const rules = policyOf({
      options: { ...plain, mcpServers: { far: { url: "https://x.example/mcp" } } },
      tools: { url: "u", token: "t" },
    });
    expect(rules).toContain('mcpName = "passrail"\ndecision = "allow"\npriority = 999');
    expect(rules).toContain('mcpName = "far"\ndecision = "allow"');
    expect(rules).not.toContain("deny");
  });

  test("a list of tools closes all others, and reading stays reading", () => {
    const options = { ...plain, permission: "read", tools: ["read_file", "write_file"], denyTools: ['x"\ny'] } as const;
    const rules = policyOf({ options });
    expect(rules).toContain('toolName = "read_file"\ndecision = "allow"');
    expect(rules).not.toContain("write_file");
    expect(rules).toContain('toolName = "*"\ndecision = "deny"');
    expect(rules).toContain('toolName = "x\\"\\ny"\ndecision = "deny"');
  });
});
