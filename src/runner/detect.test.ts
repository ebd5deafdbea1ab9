import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { detectRunner, type Detected } from "./detect.ts";
import { optional } from "../core/optional.ts";

let dir = "";
let environment: Record<string, string> = {};
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-detect-")));
  mkdirSync(join(dir, "bin"));
  mkdirSync(join(dir, "home"));
  environment = { PATH: `${join(dir, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: join(dir, "home") };
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A program that answers by its first argument. */
function install(name: string, body: string): string {
  const path = join(dir, "bin", name);
  writeFileSync(path, `#!/usr/bin/env node\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(dir, "home", path)), { recursive: true });
  writeFileSync(join(dir, "home", path), text);
}

const SAYS = (version: string): string =>
  `if (process.argv[2] === "--version") console.log(${JSON.stringify(version)});`;
const detect = (runner: Detected["runner"], more: Record<string, string> = {}, command?: readonly string[]) =>
  detectRunner(runner, { ...environment, ...more }, { cwd: dir, ...optional({ command }) });

test("a program that is not there: how to install it", async () => {
  environment = { ...environment, PATH: join(dir, "bin") };
  for (const [runner, fix] of [
    ["claude", "@anthropic-ai/claude-code"],
    ["codex", "@openai/codex"],
    ["gemini", "@google/gemini-cli"],
    ["opencode", "opencode-ai"],
  ] as const)
    expect(await detect(runner)).toMatchObject({ runner, status: "missing", fix: `npm install -g ${fix}` });
});

test("path and version, by whatever words it says it", async () => {
  const path = install("claude", SAYS("2.1.325 (Claude Code)"));
  install("codex", `console.error("WARNING: 1.1.1"); ${SAYS("codex-cli 0.166.0-beta.1")}`);
  expect(await detect("claude", { ANTHROPIC_API_KEY: "x" })).toEqual({
    runner: "claude",
    status: "found",
    path,
    version: "2.1.325",
    login: { state: "yes", evidence: "ANTHROPIC_API_KEY is set" },
    fix: "",
  });
  expect(await detect("codex", { CODEX_API_KEY: "x" })).toMatchObject({ version: "0.166.0-beta.1" });
});

test("a program that fails or says nothing has no version, and the fix says so", async () => {
  install("claude", "process.exit(3)");
  install("gemini", "");
  expect(await detect("claude")).toMatchObject({ version: null, fix: expect.stringContaining("does not answer") });
  expect(await detect("gemini")).toMatchObject({ version: null });
});

test("S09: it is started with the given environment, in an empty folder, and what it prints of it is taken out", async () => {
  install(
    "claude",
    `const fs = require("node:fs");
     fs.writeFileSync(process.env.HOME + "/seen", JSON.stringify({ env: process.env, files: fs.readdirSync(".") }));
     console.log(process.env.MY_TOKEN);`,
  );
  const found = await detect("claude", { MY_TOKEN: "canary-1234567", ANTHROPIC_API_KEY: "k" });
  expect(JSON.stringify(found)).not.toContain("canary-1234567");
  expect(found).toMatchObject({ version: "[REDACTED:my_token]" });
  const { env, files } = JSON.parse(readFileSync(join(dir, "home/seen"), "utf8")) as {
    env: Record<string, string>;
    files: readonly string[];
  };
  const names =
    "ANTHROPIC_API_KEY CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC DISABLE_AUTOUPDATER HOME MY_TOKEN PASSRAIL_MARKER PATH";
  expect(Object.keys(env).toSorted().join(" ")).toBe(names);
  expect(files).toEqual([]);
});

test("the operator's own program, and one that is not there", async () => {
  const path = install("my-claude", SAYS("9.9.9"));
  expect(await detect("claude", { ANTHROPIC_API_KEY: "x" }, [path])).toMatchObject({ path, version: "9.9.9" });
  expect(await detect("claude", {}, ["/no/such/claude"])).toMatchObject({
    status: "missing",
    fix: "see runners.claude.command in passrail.yaml",
  });
});

test("programs that nobody knows are looked for and not started", async () => {
  const path = install("any", `require("node:fs").writeFileSync(${JSON.stringify(join(dir, "started"))}, "")`);
  expect(await detect("acp", {}, ["any", "acp"])).toMatchObject({ status: "found", path, version: null });
  expect(() => readFileSync(join(dir, "started"))).toThrow("ENOENT");
  expect(await detect("acp")).toMatchObject({ status: "missing", fix: expect.stringContaining("runners:") });
});

describe("whether somebody is logged in", () => {
  const login = async (runner: Detected["runner"], more: Record<string, string> = {}) => {
    const found = await detect(runner, more);
    return found.status === "found" ? { ...found.login, fix: found.fix } : found.detail;
  };

  test("claude: a key, a cloud, a file, else the program is asked", async () => {
    install("claude", `${SAYS("2.0.0")} else process.exit(process.env.HOME.endsWith("home") ? 1 : 0);`);
    expect(await login("claude")).toEqual({
      state: "no",
      evidence: "claude auth status",
      fix: "run claude once and log in, or set ANTHROPIC_API_KEY",
    });
    expect(await login("claude", { CLAUDE_CODE_OAUTH_TOKEN: "x" })).toMatchObject({ state: "yes" });
    expect(await login("claude", { CLAUDE_CODE_USE_BEDROCK: "1" })).toMatchObject({ state: "unknown", fix: "" });
    write("own/.credentials.json", '{"a":1}');
    expect(await login("claude", { CLAUDE_CONFIG_DIR: join(dir, "home/own") })).toMatchObject({ state: "yes" });
    write(".claude/.credentials.json", '{"a":1}');
    expect(await login("claude")).toMatchObject({
      state: "yes",
      evidence: join(dir, "home/.claude/.credentials.json"),
    });
  });

  test("codex: OPENAI_API_KEY alone does not count, and the fix says so", async () => {
    install("codex", `${SAYS("codex-cli 0.1.0")} else process.exit(1);`);
    expect(await login("codex", { OPENAI_API_KEY: "x" })).toMatchObject({
      state: "no",
      fix: expect.stringContaining("set CODEX_API_KEY to the same value"),
    });
    expect(await login("codex")).toMatchObject({ state: "no", fix: "codex login, or set CODEX_API_KEY" });
    write(".codex/auth.json", '{"tokens":{}}');
    expect(await login("codex")).toMatchObject({ state: "yes" });
  });

  test("gemini: a key, a file of the login with Google, or not", async () => {
    install("gemini", SAYS("0.61.0"));
    expect(await login("gemini")).toMatchObject({ state: "no", fix: expect.stringContaining("GEMINI_API_KEY") });
    expect(await login("gemini", { GEMINI_API_KEY: "x" })).toMatchObject({ state: "yes", fix: "" });
    write(".gemini/.env", "GEMINI_API_KEY=x");
    expect(await login("gemini")).toMatchObject({ state: "unknown" });
    write(".gemini/oauth_creds.json", '{"a":1}');
    expect(await login("gemini")).toMatchObject({ state: "yes" });
  });

  test("opencode: the providers that it knows, by name and never by value", async () => {
    install("opencode", SAYS("1.18.33"));
    expect(await login("opencode")).toMatchObject({ state: "unknown", fix: "" });
    expect(await login("opencode", { GROQ_API_KEY: "x" })).toMatchObject({
      state: "yes",
      evidence: "GROQ_API_KEY is set",
    });
    write(".local/share/opencode/auth.json", '{"anthropic":{"type":"api","key":"canary-secret"},"openai":{}}');
    expect(await login("opencode")).toEqual({ state: "yes", evidence: "anthropic, openai", fix: "" });
    write(".local/share/opencode/auth.json", "not JSON");
    expect(await login("opencode")).toMatchObject({ state: "unknown" });
  });
});
