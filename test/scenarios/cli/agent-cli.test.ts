// `passrail agent list` as people call it: real programs on a PATH of their own, real files.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { type Bench, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 60_000 });

let bench: Bench;
let bin = "";
beforeAll(() => {
  bench = openBench();
  bin = join(bench.dir, "bin");
  mkdirSync(bin);
  mkdirSync(join(bench.dir, "user"));
});
afterAll(() => bench.remove());

function install(name: string, body: string): void {
  writeFileSync(join(bin, name), `#!/usr/bin/env node\n${body}\n`);
  chmodSync(join(bin, name), 0o755);
}

const KEYS = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CODEX_API_KEY",
  "GEMINI_API_KEY",
];
const list = (more: Record<string, string> = {}, ...args: readonly string[]) =>
  bench.passrail(["agent", "list", ...args], {
    env: {
      ...Object.fromEntries([...KEYS, "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"].map((name) => [name, ""])),
      PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: join(bench.dir, "user"),
      ...more,
    },
  });

test("with nothing installed it says what to install, and ends with 0", async () => {
  const { code, out, err } = await list({ PATH: bin });
  expect(code).toBe(0);
  expect(out).toContain("claude\tnot installed\t\t\tnpm install -g @anthropic-ai/claude-code");
  expect(out).toContain("codex\tnot installed");
  expect(err).toContain("No coding agent is installed.");
});

test("S09: what is installed, which version and whether somebody is logged in, without telling a secret", async () => {
  const key = "sk-ant-api03-canary0123456789abcdefghij";
  install(
    "claude",
    `console.log("2.1.325 (Claude Code)", process.env.ANTHROPIC_API_KEY, process.env.OTHER_SECRET ?? "unseen")`,
  );
  install(
    "codex",
    `if (process.argv[2] === "--version") console.log(process.env.CODEX_API_KEY || "none"); else process.exit(1)`,
  );
  const { code, out, err } = await list({ ANTHROPIC_API_KEY: key, OTHER_SECRET: "other-canary-1" });
  expect(code).toBe(0);
  expect(out).toContain(`claude\t2.1.325\tlogged in (ANTHROPIC_API_KEY is set)\t${join(bin, "claude")}\t`);
  expect(out).toContain(`codex\tnone\tnot logged in (codex login status)`);
  const leaky = await list({ CODEX_API_KEY: "canary-of-codex-1" }, "--json");
  expect(out + err + leaky.out + leaky.err).not.toMatch(/canary/u);
  expect(JSON.parse(leaky.out)).toMatchObject({
    runners: [
      { runner: "claude", status: "found", version: "2.1.325" },
      { runner: "codex", status: "found", version: "[REDACTED:codex_api_key]" },
      { runner: "gemini", status: "missing" },
      { runner: "opencode", status: "missing" },
    ],
  });
});

test("the settings of the project say who plays, and where programs are", async () => {
  install("other-claude", `console.log("7.7.7")`);
  writeFileSync(
    join(bench.project, "passrail.yaml"),
    `runner: claude
model: opus
agents: { reviewer: { runner: codex } }
runners: { claude: { command: [${JSON.stringify(join(bin, "other-claude"))}], env: { ANTHROPIC_API_KEY: from-settings-1 } } }
`,
  );
  const { out } = await list();
  expect(out).toContain(`claude\t7.7.7\tlogged in (ANTHROPIC_API_KEY is set)\t${join(bin, "other-claude")}`);
  expect(out).toMatch(/^builder\tshipped\tclaude, opus\t/mu);
  expect(out).toMatch(/^reviewer\tshipped\tcodex\t/mu);
});

test("a runner over its limit is listed with its end, a person says that it works again, and a second time there is nothing to say", async () => {
  // The first call makes the state folder and its store.
  await bench.passrail(["run", "feature", "Wait", "--agent", `*=${bench.player({})}`, "--json"]);
  const store = openSqliteStore({ file: join(bench.home, "passrail.db") });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await store.setHold({
    runner: "claude",
    account: "",
    cause: "quota",
    reason: "usage limit reached",
    since: new Date().toISOString(),
    until,
    runId: null,
    by: "engine",
  });
  store.close();
  expect((await list()).out).toMatch(/! claude is over its quota until .*; earlier: passrail agent resume claude/u);
  const wrong = await bench.passrail(["agent", "resume", "codex"]);
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining("Nothing holds codex.")]);
  expect(await bench.passrail(["agent", "resume", "claude"])).toMatchObject({ code: 0 });
  expect((await list()).out).not.toContain("over its quota");
  expect((await bench.passrail(["agent", "resume", "claude"])).err).toContain("Nothing holds claude.");
});
