import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadSettings } from "./load.ts";
import { readSettings } from "./settings.ts";
import { writeApproval } from "./trust/approval.ts";
import { readProjectFiles } from "./trust/project-files.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-mcp-config-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** The user's settings are in the same folder; only the project's need the approval. */
const approve = () => {
  const place = { home: join(dir, "home"), project: dir };
  const read = readProjectFiles(dir);
  if (read.ok) writeApproval(place, read.value, { by: "human:tester", approvedAt: "" });
};

const load = (agents: unknown) => {
  writeFileSync(join(dir, "passrail.yaml"), JSON.stringify({ agents }));
  approve();
  return loadSettings({ home: join(dir, "home"), environment: { XDG_CONFIG_HOME: dir }, project: dir, flags: {} });
};

test("R-004-15: a file of MCP servers is taken in; what the settings name themselves wins", async () => {
  const mcpServers = {
    docs: { type: "http", url: "https://docs.example/mcp", headers: { A: "b" } },
    files: { command: "npx", args: ["-y", "server"], env: { X: "1" } },
    other: { command: "theirs" },
  };
  writeFileSync(join(dir, "servers.json"), JSON.stringify({ mcpServers }));
  const config = await load({ worker: { mcp_config: "servers.json", mcp: { other: { command: ["ours"] } } } });
  expect(config).toMatchObject({ ok: true });
  expect(config.ok && config.value.agents["worker"]?.mcp).toEqual({
    docs: { url: "https://docs.example/mcp", headers: { A: "b" } },
    files: { command: ["npx", "-y", "server"], env: { X: "1" } },
    other: { command: ["ours"] },
  });
});

test.each([
  ["is not there", undefined, "cannot be read (ENOENT)"],
  ["is not JSON", "{", "is not JSON"],
  ["has no servers", "{}", "mcpServers"],
  ["has a server without a program", '{"mcpServers":{"a":{}}}', "mcpServers"],
])("R-004-15: a file that %s is an error that names it", async (_, text, message) => {
  if (text !== undefined) writeFileSync(join(dir, "servers.json"), text);
  expect(await load({ worker: { mcp_config: "servers.json" } })).toMatchObject({
    ok: false,
    error: {
      code: "mcp_config_invalid",
      message: expect.stringMatching(
        new RegExp(`agents.worker.mcp_config: .*servers.json[^]*${message.replaceAll(/[()]/gu, "\\$&")}`, "u"),
      ),
    },
  });
});

test("what of the user's own set-up reaches an agent is the user's choice, for each vendor's program, and never a project's", () => {
  const read = (project: unknown, user: unknown) => readSettings({ environment: {}, project, user, flags: {} });
  const chosen = { runners: { claude: { user_features: ["mcp"] } } };
  // The project's own keys for the program leave the choice as it is.
  const project = { runners: { claude: { env: { A: "b" } } } };
  expect(read(project, chosen)).toMatchObject({ ok: true, value: { programs: { claude: { userFeatures: ["mcp"] } } } });
  expect(read(chosen, {})).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("runners.claude.user_features is not taken from a project") },
  });
  for (const runner of ["codex", "gemini", "opencode"])
    expect(read({}, { runners: { [runner]: { user_features: [] } } })).toMatchObject({ ok: true });
  for (const runner of ["acp", "command"])
    expect(read({}, { runners: { [runner]: { user_features: [] } } })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("user_features is a choice for claude, codex, gemini, opencode") },
    });
  expect(read({}, { runners: { claude: { user_features: ["agents"] } } })).toMatchObject({ ok: false });
});
