// The plugin of this repository in the real Claude Code: it is valid, its commands, its skill and its MCP server are there, and a command
// reaches the model as it is written.

import { execFile, execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { ROOT } from "../harness/build-once.ts";
import { PROGRAM } from "../harness/program.ts";
import { transcript } from "./bench.ts";
import { type Cli, cliPath, contractTests } from "./installed.ts";
import { claude } from "./vendors.ts";

describe.skipIf(contractTests() === "left out")("the Claude Code plugin", { timeout: 120_000 }, () => {
  let dir: string;
  let models: FakeModels;
  let env: Record<string, string>;
  beforeAll(async () => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-plugin-")));
    for (const name of ["home", "bin", "project"]) mkdirSync(join(dir, name));
    writeFileSync(join(dir, "bin/passrail"), `#!/bin/sh\nexec '${process.execPath}' --no-warnings '${PROGRAM}' "$@"\n`);
    chmodSync(join(dir, "bin/passrail"), 0o755);
    models = await startFakeModels({
      scenario: { rules: [{ id: "run", match: { prompt: "Start a Passrail run" }, turns: [{ text: "No daemon." }] }] },
    });
    env = {
      HOME: join(dir, "home"),
      PASSRAIL_HOME: join(dir, "state"),
      PATH: [join(dir, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      ...claude.setUp("", models.url, "sk-ant-api03-plugin000000000000000000000000000000000"),
    };
  });
  afterAll(async () => {
    await models?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test("Claude Code finds no fault with the plugin and the marketplace", () => {
    for (const folder of [join(ROOT, "claude"), ROOT]) {
      const said = execFileSync(cliPath("claude"), ["plugin", "validate", folder], { env, encoding: "utf8" });
      expect(said).toContain("Validation passed");
    }
  });

  test("its commands, its skill and its server are loaded, and a command is the person's task", async () => {
    const words = ["-p", "/passrail:run fix the typo", "--plugin-dir", join(ROOT, "claude")];
    const { stdout } = await promisify(execFile)(
      cliPath("claude"),
      [...words, "--output-format", "stream-json", "--verbose"],
      { cwd: join(dir, "project"), env, maxBuffer: 16 * 1024 ** 2 },
    );
    const lines = stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const begun = lines.find(({ type, subtype }) => type === "system" && subtype === "init");
    const commands = ["run", "inbox", "build-plan"].map((name) => `passrail:${name}`);
    expect(begun).toMatchObject({ slash_commands: expect.arrayContaining(commands) });
    expect(begun).toMatchObject({ skills: expect.arrayContaining(["passrail:passrail"]) });
    expect(begun).toMatchObject({
      mcp_servers: expect.arrayContaining([expect.objectContaining({ name: "plugin:passrail:passrail" })]),
    });
    expect(begun).toMatchObject({
      tools: expect.arrayContaining(
        ["start_run", "show_item", "answer_item"].map((tool) => expect.stringContaining(tool)),
      ),
    });
    const told = models.requests
      .filter(({ rule }) => rule === "run")
      .map(transcript)
      .join("\n");
    expect(told).toContain("fix the typo");
    expect(told).toContain("Never decide yourself");
  });
});

describe.skipIf(contractTests() === "left out")("the plugins for other programs", { timeout: 120_000 }, () => {
  let dir: string;
  beforeAll(() => {
    // Not below the temporary folder of the machine: Codex refuses to be at home there.
    dir = realpathSync(mkdtempSync(join(ROOT, "node_modules/.cache/plugin-")));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  /** What it prints, wherever: Gemini CLI says all of it on standard error. */
  const run = (cli: Cli, ...args: readonly string[]): string => {
    const env = { HOME: dir, CODEX_HOME: dir, PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":") };
    const { status, stdout, stderr } = spawnSync(cliPath(cli), args, { env, encoding: "utf8" });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    return `${stdout}${stderr}`;
  };

  test("Codex installs the plugin from this repository and has its server", () => {
    run("codex", "plugin", "marketplace", "add", ROOT);
    expect(run("codex", "plugin", "add", "passrail@passrail")).toContain("passrail");
    expect(run("codex", "mcp", "list")).toMatch(/passrail +passrail +mcp --operator/u);
  });

  test("Gemini CLI finds no fault with the extension", () => {
    expect(run("gemini", "extensions", "validate", join(ROOT, "gemini"))).toContain("successfully validated");
  });
});
