import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, type Bench, openBench } from "../../../test/fixtures/agents/try-agent.ts";
import type { AgentOptions } from "../../core/flow/agent-options.ts";
import type { AgentSpec } from "../runner.ts";
import { permissionOf } from "./config.ts";
import { createOpencodeRunner } from "./runner.ts";
import { uncontrolledSettings } from "./repository.ts";

let bench: Bench;
beforeEach(() => {
  bench = openBench();
  for (const folder of ["scratch", "workspace"]) mkdirSync(bench.path(folder));
});
afterEach(() => bench.close());

const plain: AgentOptions = { permission: "edit", mcpServers: {}, teams: false };
const HOSTILE = `--share "quoted" it's\n$(id) -x=`;

const start = async (
  transport: "acp" | "native",
  options: Partial<AgentOptions> = {},
  more: Partial<AgentSpec> = {},
  env: Readonly<Record<string, string>> = {},
) => {
  const run = async (program: string) => {
    const spec = bench.spec({
      argv: agent(program, "of the operator"),
      cwd: bench.path("workspace"),
      prompt: "the prompt",
      env: { PATH: dirname(process.execPath), ...env },
      agent: {
        options: { ...plain, ...options },
        scratch: bench.path("scratch"),
        folders: [],
        repositorySettings: false,
        ...more,
      },
    });
    const end = await createOpencodeRunner({ transport }).run(spec, { signal: new AbortController().signal });
    return { end, output: end.process === null ? "" : readFileSync(spec.outputPath, "utf8") };
  };
  const { end, output } = await run("dump-args");
  if (end.process === null) return { end, args: [], env: {}, config: {} };
  const environment = JSON.parse((await run("dump-env")).output) as Record<string, string>;
  const config = JSON.parse(environment["OPENCODE_CONFIG_CONTENT"] ?? "{}") as Record<string, unknown>;
  return { end, args: JSON.parse(output) as string[], env: environment, config };
};

describe("how opencode is started", () => {
  test("what the user does not let agents have of their own set-up is off; what cannot be left out is refused", async () => {
    mkdirSync(bench.path("config/opencode"), { recursive: true });
    const file = bench.path("config/opencode/opencode.jsonc");
    writeFileSync(file, '{ "mcp": { "mine": {}, }, } // mine');
    const mine = { HOME: bench.path("home"), XDG_CONFIG_HOME: bench.path("config") };
    const { env, config } = await start("native", {}, { userFeatures: [] }, mine);
    expect(config).toMatchObject({ permission: { skill: "deny" }, mcp: { mine: { enabled: false } } });
    expect(env).toMatchObject({ OPENCODE_PURE: "1", OPENCODE_CONFIG_DIR: bench.path("scratch/opencode-config") });
    const all = await start("native", {}, { userFeatures: ["skills", "hooks", "mcp"] }, mine);
    expect(all.config).not.toHaveProperty("mcp");
    expect(all.env["OPENCODE_PURE"]).toBeUndefined();
    const elsewhere = { ...mine, OPENCODE_CONFIG_DIR: bench.path("config") };
    expect((await start("native", {}, { userFeatures: ["mcp"] }, elsewhere)).end).toMatchObject({
      conversation: {
        failure: { message: expect.stringContaining("plugins of OPENCODE_CONFIG_DIR cannot be left out") },
      },
    });
    writeFileSync(file, "{ no");
    expect((await start("native", {}, { userFeatures: ["hooks"] }, mine)).end).toMatchObject({
      conversation: { failure: { message: expect.stringContaining("opencode.jsonc is no JSON object") } },
    });
  });

  test("S22: over the protocol there is one argument, and the rest is configuration", async () => {
    const { args, config } = await start("acp", { model: HOSTILE });
    expect(args).toEqual(["of the operator", "acp"]);
    expect(config).toEqual({
      autoupdate: false,
      share: "disabled",
      permission: { "*": "allow", external_directory: { "*": "deny" }, "passrail_*": "allow" },
      model: HOSTILE,
    });
  });

  test("S22: natively values of any shape stand behind their option", async () => {
    const session = { id: HOSTILE, totals: null };
    const { args } = await start("native", { effort: "high", permission: "read" }, { session });
    expect(args).toEqual([
      "of the operator",
      "run",
      "--format=json",
      "--print-logs",
      "--log-level=ERROR",
      "--variant=high",
      `--session=${HOSTILE}`,
    ]);
    expect((await start("native")).args).toContain("--auto");
    expect((await start("native", { permission: "ask" })).args).not.toContain("--auto");
  });

  test("R-X-13: the token is in no argument, and over the protocol in the environment neither", async () => {
    const tools = { url: "http://127.0.0.1:1/mcp", token: "t0k3n" };
    const acp = await start("acp", {}, { tools });
    expect(JSON.stringify(acp)).not.toContain("t0k3n");
    const native = await start("native", {}, { tools });
    expect(JSON.stringify(native.args)).not.toContain("t0k3n");
    expect(native.config["mcp"]).toEqual({
      passrail: { type: "remote", url: tools.url, headers: { Authorization: "Bearer t0k3n" } },
    });
  });

  test("what the operator has put into the variable stays, below ours", async () => {
    const theirs = { provider: { own: {} }, share: "auto", permission: "ask", mcp: { mine: {} } };
    const { config } = await start("native", {}, {}, { OPENCODE_CONFIG_CONTENT: JSON.stringify(theirs) });
    expect(config).toMatchObject({
      provider: { own: {} },
      share: "disabled",
      permission: { "*": "allow" },
      mcp: { mine: {} },
    });
  });

  test("a variable that is no JSON refuses the attempt", async () => {
    const { end } = await start("acp", {}, {}, { OPENCODE_CONFIG_CONTENT: "{ // no" });
    expect(end).toMatchObject({ process: null, conversation: { failure: { kind: "request_refused" } } });
  });

  test("S10: the repository's configuration is off, and its AGENTS.md is read all the same", async () => {
    writeFileSync(bench.path("workspace/AGENTS.md"), "");
    const closed = await start("acp");
    expect(closed.env["OPENCODE_DISABLE_PROJECT_CONFIG"]).toBe("1");
    expect(closed.config["instructions"]).toEqual([bench.path("workspace/AGENTS.md")]);
    const open = await start("acp", {}, { repositorySettings: true });
    expect(open.env["OPENCODE_DISABLE_PROJECT_CONFIG"]).toBeUndefined();
    expect(open.config["instructions"]).toBeUndefined();
  });
});

describe("what the repository brings", () => {
  const plant = (path: string, text = ""): void => {
    mkdirSync(dirname(bench.path(path)), { recursive: true });
    writeFileSync(bench.path(path), text);
  };

  test.each([
    ["opencode.json", '{"plugin":["./x.js"]}'],
    ["opencode.jsonc", '{"\\u0070lugins":["./x.js"]}'],
    [".opencode/opencode.json", "{ // unreadable for us"],
    [".opencode/plugin/x.js", ""],
    [".opencode/plugins/x.ts", ""],
  ])("S10: %s refuses the attempt in both ways, and is named", async (path, text) => {
    plant(`workspace/${path}`, text);
    for (const transport of ["acp", "native"] as const) {
      const { end } = await start(transport);
      expect(end).toMatchObject({ process: null, conversation: { failure: { kind: "request_refused" } } });
      expect(end.detail).toContain(path);
      expect(end.detail).toContain("repository_settings: on");
      expect((await start(transport, {}, { repositorySettings: true })).end.process).not.toBeNull();
    }
  });

  test("S10: it is looked for up to the root of the repository, and not above", async () => {
    plant("opencode.json", '{"plugin":[]}');
    plant("workspace/.git/HEAD");
    plant("workspace/.opencode/plugin/x.js");
    plant("workspace/part/a.txt");
    expect(await uncontrolledSettings(bench.path("workspace/part"))).toEqual(["../.opencode/plugin/x.js"]);
  });

  test("texts are none of it", async () => {
    plant("workspace/opencode.json", '{"$schema":"x","instructions":["A.md"]}');
    plant("workspace/.opencode/agent/a.md");
    plant("workspace/AGENTS.md");
    expect(await uncontrolledSettings(bench.path("workspace"))).toEqual([]);
  });
});

describe("what opencode may do", () => {
  test.each([
    ["full", { "*": "allow", "passrail_*": "allow" }],
    ["edit", { "*": "allow", external_directory: { "*": "deny", "/out/*": "allow" }, "passrail_*": "allow" }],
    [
      "ask",
      { "*": "allow", external_directory: { "*": "ask", "/out/*": "allow" }, bash: "ask", "passrail_*": "allow" },
    ],
    [
      "read",
      {
        "*": "allow",
        edit: "deny",
        bash: "deny",
        task: "deny",
        external_directory: { "*": "deny", "/out/*": "allow" },
        "passrail_*": "allow",
      },
    ],
  ] as const)("S05: permission %s", (permission, rules) => {
    expect(permissionOf({ ...plain, permission }, ["/out"])).toEqual(rules);
  });

  test("a list of tools closes all others; what is denied is denied last, but never our desk", () => {
    const rules = permissionOf({ ...plain, permission: "full", tools: ["read", "write"], denyTools: ["read"] }, []);
    expect(Object.entries(rules)).toEqual([
      ["*", "deny"],
      ["read", "deny"],
      ["edit", "allow"],
      ["passrail_*", "allow"],
    ]);
  });
});
