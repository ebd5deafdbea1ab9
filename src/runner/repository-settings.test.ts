import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findRepositorySettings } from "./repository-settings.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-settings-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(path: string, text = `content of ${path}`): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

const pathsFound = async (): Promise<readonly string[]> =>
  (await findRepositorySettings(dir)).map((found) => `${found.for} ${found.path}`);

test("S10: settings, hooks, servers and plugins are found, in the order of their paths", async () => {
  for (const path of [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/before.sh",
    ".claude/hooks/deep/after.sh",
    ".mcp.json",
    ".codex/config.toml",
    ".codex/hooks/x.sh",
    ".gemini/settings.json",
    ".gemini/extensions/a/gemini-extension.json",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/plugin/x.ts",
    ".opencode/tool/y.ts",
    ".cursor/mcp.json",
    ".cursor/hooks.json",
  ])
    write(path);
  expect(await pathsFound()).toEqual([
    "claude .claude/hooks/",
    "claude .claude/settings.json",
    "claude .claude/settings.local.json",
    "codex .codex/config.toml",
    "codex .codex/hooks/",
    "cursor .cursor/hooks.json",
    "cursor .cursor/mcp.json",
    "gemini .gemini/extensions/",
    "gemini .gemini/settings.json",
    "claude .mcp.json",
    "opencode .opencode/plugin/",
    "opencode .opencode/tool/",
    "opencode opencode.json",
    "opencode opencode.jsonc",
  ]);
});

test("text for the model is no setting", async () => {
  for (const path of [
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".claude/CLAUDE.md",
    ".claude/rules/a.md",
    ".claude/agents/reviewer.md",
    ".claude/skills/x/SKILL.md",
    ".claude/skills/x/scripts/run.sh",
    ".agents/skills/x/SKILL.md",
    ".codex/skills/x/SKILL.md",
    ".opencode/agent/a.md",
    ".opencode/node_modules/x/index.js",
    "src/settings.json",
  ])
    write(path);
  expect(await pathsFound()).toEqual([]);
});

test("an agent's or a command's file that brings hooks, servers or commands is one", async () => {
  write(".claude/agents/plain.md", "---\nname: plain\ntools: Read\n---\nDo hooks: no");
  write(".claude/agents/hooked.md", "---\nname: hooked\nhooks:\n  Stop: []\n---\nText");
  write(".claude/agents/served.md", "---\nmcpServers: {}\n---\nText");
  write(".claude/commands/deep/status.md", "State: !`git status`");
  write(".gemini/commands/a.toml", 'prompt = "see !{rm -rf /}"');
  expect(await pathsFound()).toEqual([
    "claude .claude/agents/hooked.md",
    "claude .claude/agents/served.md",
    "claude .claude/commands/deep/status.md",
    "gemini .gemini/commands/a.toml",
  ]);
});

test("S10: the hash is that of the file; of a folder it changes with any name or content in it, and only then", async () => {
  write(".mcp.json", "{}");
  write(".claude/hooks/a.sh", "one");
  const [hooks, mcp] = await findRepositorySettings(dir);
  expect(mcp).toEqual({ path: ".mcp.json", for: "claude", sha256: createHash("sha256").update("{}").digest("hex") });
  expect(await findRepositorySettings(dir)).toEqual([hooks, mcp]);
  const hash = async (): Promise<string | undefined> => (await findRepositorySettings(dir))[0]?.sha256;
  write(".claude/hooks/a.sh", "two");
  const changed = await hash();
  write(".claude/hooks/deep/b.sh", "");
  const added = await hash();
  rmSync(join(dir, ".claude/hooks/deep"), { recursive: true });
  expect(await hash()).toBe(changed);
  expect(new Set([hooks?.sha256, changed, added]).size).toBe(3);
});

test("S13: links are named and not followed, and nothing waits for a pipe", async () => {
  const outside = mkdtempSync(join(tmpdir(), "passrail-outside-"));
  try {
    writeFileSync(join(outside, "secret"), "outside");
    symlinkSync(outside, join(dir, ".codex"));
    symlinkSync(join(outside, "secret"), join(dir, ".mcp.json"));
    mkdirSync(join(dir, ".gemini"));
    execFileSync("mkfifo", [join(dir, ".gemini/settings.json")]);
    const before = await findRepositorySettings(dir);
    expect(before.map(({ path }) => path)).toEqual([".codex", ".gemini/settings.json", ".mcp.json"]);
    writeFileSync(join(outside, "secret"), "changed");
    expect(await findRepositorySettings(dir)).toEqual(before);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});

test("a repository with far too many files costs a bounded time and still has a hash", async () => {
  mkdirSync(join(dir, ".claude/hooks"), { recursive: true });
  for (let at = 0; at < 600; at += 1) writeFileSync(join(dir, ".claude/hooks", `h${at}`), "x");
  write(".claude/settings.json", "y".repeat(5 * 1024 * 1024));
  const [hooks, settings] = await findRepositorySettings(dir);
  expect(hooks?.sha256).toMatch(/^[0-9a-f]{64}$/u);
  expect(settings?.sha256).toMatch(/^[0-9a-f]{64}$/u);
});

test("a folder without any, and a folder that is not there", async () => {
  expect(await findRepositorySettings(dir)).toEqual([]);
  expect(await findRepositorySettings(join(dir, "none"))).toEqual([]);
});
