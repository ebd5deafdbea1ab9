import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentOptions } from "../../core/flow/agent-options.ts";
import type { AgentEvent, AgentSpec } from "../runner.ts";
import { type CodexFacts, planCodex } from "./arguments.ts";
import { createCodexRunner } from "./runner.ts";
import { toToml } from "./toml.ts";

const base: AgentOptions = { permission: "edit", mcpServers: {}, teams: false };
const agentWith = (options: Partial<AgentOptions> = {}, agent: Partial<AgentSpec> = {}): AgentSpec => ({
  options: { ...base, ...options },
  scratch: "/scratch",
  folders: [],
  repositorySettings: false,
  ...agent,
});

const nowhere: CodexFacts = { gitFolders: [], projects: ["/work"], instructions: null };
const plan = (options: Partial<AgentOptions> = {}, agent: Partial<AgentSpec> = {}, facts: CodexFacts = nowhere) =>
  planCodex({ env: {}, prompt: "PROMPT" }, agentWith(options, agent), facts);

/** Values of `-c` by their keys. */
const settings = (args: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    args.flatMap((arg, at) => {
      const [before, split] = [args[at - 1], arg.indexOf("=")];
      return before === "-c" ? [[arg.slice(0, split), arg.slice(split + 1)]] : [];
    }),
  );

const HOSTILE = `--dangerously-bypass "q" 'q' $(id)\n-x }],\\ é\u{1F600}\u007f`;
// Parses TOML strings as JSON: both write all characters alike except DEL.
const unquoted = (toml: string | undefined): unknown => JSON.parse(toml ?? "");

describe("arguments", () => {
  test("S22: hostile values stay in one argument each and cannot become options", () => {
    const { args } = plan(
      { model: HOSTILE, systemPrompt: HOSTILE },
      { session: { id: HOSTILE, totals: null }, folders: [HOSTILE] },
    );
    expect(args).toContain(`--model=${HOSTILE}`);
    expect(unquoted(settings(args)["developer_instructions"])).toBe(HOSTILE);
    expect(unquoted(settings(args)["sandbox_workspace_write.writable_roots"])).toEqual([HOSTILE]);
    expect(args.slice(-4)).toEqual(["resume", "--", HOSTILE, "-"]);
    expect(args.filter((arg) => arg === HOSTILE).length).toBe(1);
  });

  test("what the user does not let agents have of their own set-up is off, and the servers of the attempt stay", () => {
    const near = { near: { command: ["tool"] } };
    const { args } = plan({ mcpServers: near }, { userFeatures: [] }, { ...nowhere, without: ["mine", "near"] });
    expect(args).toContain("--disable=hooks");
    expect(settings(args)).toMatchObject({
      "skills.include_instructions": "false",
      "mcp_servers.mine.enabled": "false",
    });
    expect(settings(args)).not.toHaveProperty(["mcp_servers.near.enabled"]);
    const all = plan({}, { userFeatures: ["skills", "hooks", "mcp"] }).args;
    expect(all).not.toContain("--disable=hooks");
    expect(settings(all)).not.toHaveProperty(["skills.include_instructions"]);
  });

  test("the prompt comes on stdin, and Codex is told so", () => {
    const { args, prompt } = plan();
    expect(args[0]).toBe("exec");
    expect(args.at(-1)).toBe("-");
    expect(prompt).toBe("PROMPT");
    expect(args.join(" ")).not.toContain("PROMPT");
  });

  test("R-X-13: neither the token nor secrets of other servers are in the arguments", () => {
    const mcpServers = {
      docs: { url: "https://docs.example/mcp", headers: { "X-Key": "SECRET-1" } },
      local: { command: ["node", "server.mjs", "--x"], env: { KEY: "SECRET-2 it's" } },
      plain: { command: ["plain"] },
    };
    const { args, env, files } = plan({ mcpServers }, { tools: { url: "http://127.0.0.1:1/mcp", token: "SECRET-3" } });
    expect(args.join(" ")).not.toMatch(/SECRET-\d/);
    expect(env).toMatchObject({ PASSRAIL_MCP_SECRET_0: "SECRET-1", PASSRAIL_MCP_SECRET_1: "SECRET-3" });
    expect(settings(args)).toMatchObject({
      "mcp_servers.passrail":
        '{"url"="http://127.0.0.1:1/mcp","bearer_token_env_var"="PASSRAIL_MCP_SECRET_1","required"=true,"default_tools_approval_mode"="approve"}',
      "mcp_servers.docs":
        '{"url"="https://docs.example/mcp","env_http_headers"={"X-Key"="PASSRAIL_MCP_SECRET_0"},"default_tools_approval_mode"="approve"}',
      "mcp_servers.local":
        '{"command"="/scratch/mcp-local.sh","args"=["node","server.mjs","--x"],"default_tools_approval_mode"="approve"}',
      "mcp_servers.plain": '{"command"="plain","args"=[],"default_tools_approval_mode"="approve"}',
    });
    const text = `#!/bin/sh\nexport KEY='SECRET-2 it'\\''s'\nexec "$@"\n`;
    expect(files).toEqual([{ name: "mcp-local.sh", text, executable: true }]);
  });

  test("permissions are its sandboxes; git's folders can be written where the agent may edit", () => {
    const facts = { ...nowhere, gitFolders: ["/repo/.git/worktrees/w", "/repo/.git/objects"] };
    expect(plan({ permission: "read" }, {}, facts).args).toContain("--sandbox=read-only");
    for (const permission of ["edit", "ask"] as const) {
      const { args } = plan({ permission }, { folders: ["/handoff"] }, facts);
      expect(args.join(" ")).toContain(
        permission === "edit" ? "--sandbox=workspace-write" : 'sandbox_mode="workspace-write"',
      );
      expect(unquoted(settings(args)["sandbox_workspace_write.writable_roots"])).toEqual([
        "/repo/.git/worktrees/w",
        "/repo/.git/objects",
        "/handoff",
      ]);
    }
    expect(plan({ permission: "full" }).args).toContain("--dangerously-bypass-approvals-and-sandbox");
    expect(plan({ permission: "full" }).args.join(" ")).not.toContain("sandbox=");
    const { args } = plan({ permission: "read" }, { folders: ["/handoff"] });
    expect(args.join(" ")).not.toContain("--sandbox");
    expect(settings(args)).toMatchObject({
      default_permissions: '"passrail"',
      "permissions.passrail": '{"filesystem"={":root"="read","/handoff"="write"}}',
    });
  });

  test("S10: the repository is not trusted unless it was let in; its instructions go before the prompt, once", () => {
    const facts = { gitFolders: [], projects: ["/a", "/b.c"], instructions: "INSTRUCTIONS" };
    const off = plan({}, {}, facts);
    expect(settings(off.args)["projects"]).toBe(
      '{"/a"={"trust_level"="untrusted"},"/b.c"={"trust_level"="untrusted"}}',
    );
    expect(off.prompt).toBe("INSTRUCTIONS\n\nPROMPT");
    expect(plan({}, { session: { id: "i", totals: null } }, facts).prompt).toBe("PROMPT");
    const letIn = plan({}, { repositorySettings: true }, facts);
    expect(settings(letIn.args)["projects"]).toContain('"trusted"');
    expect(letIn.prompt).toBe("PROMPT");
  });

  test("a system prompt that is too long for an argument stands before everything else", () => {
    const systemPrompt = "é".repeat(60_000);
    const { args, prompt } = plan({ systemPrompt }, {}, { ...nowhere, instructions: "INSTRUCTIONS" });
    expect(settings(args)).not.toHaveProperty("developer_instructions");
    expect(prompt).toBe(`${systemPrompt}\n\nINSTRUCTIONS\n\nPROMPT`);
  });

  test("R-002-48: the standing part of a prompt is an instruction of the developer, after the operator's own, as far as it fits", () => {
    const { args, prompt } = plan({ systemPrompt: "OPERATOR" }, { standing: "STANDING" });
    expect(unquoted(settings(args)["developer_instructions"])).toBe("OPERATOR\n\nSTANDING");
    expect(prompt).toBe("PROMPT");
    const long = plan({}, { standing: "x".repeat(120_000) });
    expect(settings(long.args)).not.toHaveProperty("developer_instructions");
    expect(long.prompt).toBe(`${"x".repeat(120_000)}\n\nPROMPT`);
    const resumed = plan({}, { standing: "x".repeat(120_000), session: { id: "i", totals: null } });
    expect(resumed.prompt).toBe("PROMPT");
  });

  test("where a person is to be asked, the app server is started, with the same settings and nothing that only exec knows", () => {
    const asked = { session: { id: "i", totals: null }, schema: { type: "object" }, images: ["/a.png"] };
    const { args, prompt } = plan({ permission: "ask", model: HOSTILE, effort: "low" }, asked);
    expect(args[0]).toBe("app-server");
    expect(unquoted(settings(args)["model"])).toBe(HOSTILE);
    expect(settings(args)["model_reasoning_effort"]).toBe('"low"');
    expect(args.filter((arg) => arg.startsWith("--") && !arg.startsWith("--disable="))).toEqual([]);
    expect(prompt).toBe("PROMPT");
  });

  test("effort and schema", () => {
    const { args, files } = plan({ effort: "max" }, { schema: { type: "object" } });
    expect(settings(args)["model_reasoning_effort"]).toBe('"xhigh"');
    expect(args).toContain("--output-schema=/scratch/verdict-schema.json");
    expect(files).toEqual([{ name: "verdict-schema.json", text: '{"type":"object"}' }]);
  });

  test("nothing is sent home, and no network is a failure instead of waiting for ever", () => {
    const { args } = plan();
    expect(settings(args)).toMatchObject({ "analytics.enabled": "false", check_for_update_on_startup: "false" });
    expect(args).toEqual(
      expect.arrayContaining(["--disable=plugins", "--disable=apps", "--disable=unbounded_connection_retries"]),
    );
  });

  test("what Codex cannot do is told, not ignored", () => {
    const { warnings } = plan({ tools: ["Read"], denyTools: ["Bash"], maxTurns: 3, maxCostUsd: 1 });
    expect(warnings).toEqual(["Codex has nothing for tools, deny_tools, max_turns, max_cost; it works without."]);
    expect(plan().warnings).toEqual([]);
  });
});

test("TOML: half a character and DEL are written so that they can be read", () => {
  expect(toToml("\ud800\u007f")).toBe('"\ufffd\\u007f"');
  expect(toToml({ "a.b": ["x", 'y"'], c: { d: true } })).toBe('{"a.b"=["x","y\\""],"c"={"d"=true}}');
});

describe("started", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "passrail-codex-"));
    mkdirSync(join(folder, "scratch"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const DUMP = `
    import { readFileSync, writeFileSync } from "node:fs";
    const stdin = readFileSync(0, "utf8");
    writeFileSync("dump.json", JSON.stringify({ args: process.argv.slice(2), stdin, env: process.env }));
    const say = (event) => console.log(JSON.stringify(event));
    say({ type: "thread.started", thread_id: "t-1" });
    say({ type: "item.completed", item: { id: "i", type: "agent_message", text: "Done." } });
    say({ type: "turn.completed", usage: {} });
  `;

  test("S22: the operator's arguments stand before exec, and ours arrive unchanged; token and prompt in neither", async () => {
    writeFileSync(join(folder, "program.mjs"), DUMP);
    const mcpServers = { local: { command: ["server"], env: { KEY: "SECRET" } } };
    const events: AgentEvent[] = [];
    const end = await createCodexRunner().run(
      {
        marker: `codex-arguments-${process.pid}`,
        argv: [process.execPath, join(folder, "program.mjs"), "-c", "model_provider=mine"],
        cwd: folder,
        prompt: `PROMPT ${HOSTILE}`,
        env: { PATH: process.env["PATH"] ?? "" },
        limits: { totalMs: 20_000, outputBytes: 1_000_000, graceMs: 1_000 },
        outputPath: join(folder, "output.log"),
        agent: agentWith(
          { model: HOSTILE, maxTurns: 50, mcpServers },
          { scratch: join(folder, "scratch"), tools: { url: "http://127.0.0.1:1/mcp", token: "TOKEN-1" } },
        ),
      },
      { signal: new AbortController().signal, onEvent: (event) => void events.push(event) },
    );
    expect(end).toMatchObject({
      reason: "exited",
      stdoutTail: "Done.",
      conversation: { failure: null, model: HOSTILE },
    });
    const dump = JSON.parse(readFileSync(join(folder, "dump.json"), "utf8")) as {
      args: string[];
      stdin: string;
      env: Record<string, string>;
    };
    expect(dump.args.slice(0, 3)).toEqual(["-c", "model_provider=mine", "exec"]);
    expect(dump.args).toContain(`--model=${HOSTILE}`);
    expect(dump.stdin).toBe(`PROMPT ${HOSTILE}`);
    expect(JSON.stringify(dump.args)).not.toMatch(/TOKEN-1|PROMPT|SECRET"/);
    expect(dump.env).toMatchObject({ PASSRAIL_MCP_SECRET_0: "TOKEN-1" });
    expect(statSync(join(folder, "scratch/mcp-local.sh")).mode & 0o777).toBe(0o700);
    expect(events[0]).toMatchObject({ type: "notice", kind: "warning", text: expect.stringContaining("max_turns") });
  });
});
