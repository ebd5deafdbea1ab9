import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentOptions } from "../../core/flow/agent-options.ts";
import type { AgentSpec } from "../runner.ts";
import { planClaude } from "./arguments.ts";
import { unreadAgentsFile } from "./memory.ts";
import { createClaudeRunner } from "./runner.ts";

const base: AgentOptions = { permission: "edit", mcpServers: {}, teams: false };
const agentWith = (options: Partial<AgentOptions> = {}, agent: Partial<AgentSpec> = {}): AgentSpec => ({
  options: { ...base, ...options },
  scratch: "/scratch",
  folders: [],
  repositorySettings: false,
  ...agent,
});

const plan = (options: Partial<AgentOptions> = {}, agent: Partial<AgentSpec> = {}, agentsFile: string | null = null) =>
  planClaude({ cwd: "/work space", env: {} }, agentWith(options, agent), { newSessionId: "new-id", agentsFile });

const valueOf = (args: readonly string[], option: string): string | undefined =>
  args.find((arg) => arg.startsWith(`--${option}=`))?.slice(option.length + 3);

const HOSTILE = `--dangerously-skip-permissions "q" 'q' $(id)\n-x ;,\\ é\u{1F600}`;

describe("arguments", () => {
  test("print mode with its own output format; without checks only where that was chosen", () => {
    const { args } = plan({ permission: "full", model: "claude-sonnet-4-5-20250929" });
    expect(args).toEqual(
      expect.arrayContaining([
        "-p",
        "--dangerously-skip-permissions",
        "--output-format=stream-json",
        "--model=claude-sonnet-4-5-20250929",
        "--verbose",
      ]),
    );
    for (const permission of ["read", "edit", "ask"] as const) {
      expect(plan({ permission }).args).not.toContain("--dangerously-skip-permissions");
    }
  });

  test("R-002-48: the standing part of a prompt is a private file after the operator's own text, and the preamble that changes is off", () => {
    const { args, files, env } = plan({ systemPrompt: "OPERATOR" }, { standing: "STANDING" });
    expect(valueOf(args, "append-system-prompt-file")).toBe("/scratch/system-prompt.md");
    expect(files).toContainEqual({ name: "system-prompt.md", text: "OPERATOR\n\nSTANDING" });
    expect(env).toMatchObject({ CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: "1", CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" });
    expect(valueOf(plan().args, "append-system-prompt-file")).toBeUndefined();
  });

  test("S22: hostile values stay behind their option, in one argument", () => {
    const { args, files } = plan(
      { model: HOSTILE, tools: [HOSTILE], denyTools: [HOSTILE], systemPrompt: HOSTILE },
      { session: { id: HOSTILE, totals: null }, schema: { title: HOSTILE } },
    );
    for (const option of ["model", "resume", "disallowedTools"]) expect(valueOf(args, option)).toBe(HOSTILE);
    expect(valueOf(args, "allowedTools")).toContain(HOSTILE);
    expect(JSON.parse(valueOf(args, "json-schema") ?? "")).toEqual({ title: HOSTILE });
    expect(files).toContainEqual({ name: "system-prompt.md", text: HOSTILE });
    const own = /^(-p|--verbose|--strict-mcp-config|--[a-zA-Z-]+=[^]*)$/;
    expect(args.filter((arg) => !own.test(arg))).toEqual([]);
  });

  test("R-X-13: neither the token nor secrets of other servers are in the arguments; a file has them", () => {
    const mcpServers = {
      docs: { url: "https://docs.example/mcp", headers: { "X-Key": "SECRET-1" } },
      local: { command: ["node", "server.mjs", "--x"], env: { KEY: "SECRET-2" } },
    };
    const { args, env, files } = plan({ mcpServers }, { tools: { url: "http://127.0.0.1:1/mcp", token: "SECRET-3" } });
    expect(JSON.stringify([args, env])).not.toContain("SECRET");
    expect(valueOf(args, "mcp-config")).toBe("/scratch/mcp.json");
    const written = files.find((file) => file.name === "mcp.json")?.text ?? "";
    expect(JSON.parse(written)).toEqual({
      mcpServers: {
        docs: { type: "http", url: "https://docs.example/mcp", headers: { "X-Key": "SECRET-1" } },
        local: { type: "stdio", command: "node", args: ["server.mjs", "--x"], env: { KEY: "SECRET-2" } },
        passrail: {
          type: "http",
          url: "http://127.0.0.1:1/mcp",
          headers: { Authorization: "Bearer SECRET-3" },
          alwaysLoad: true,
        },
      },
    });
    expect(valueOf(args, "allowedTools")).toMatch(/mcp__passrail,mcp__docs,mcp__local$/);
  });

  test("no other name takes the place of our own server", () => {
    const mcpServers = { passrail: { url: "https://evil.example/mcp" } };
    const { files } = plan({ mcpServers }, { tools: { url: "http://127.0.0.1:1/mcp", token: "t" } });
    expect(files[0]?.text).not.toContain("evil.example");
  });

  test("permissions: look, work, or only the tools that are named", () => {
    expect(valueOf(plan({ permission: "read" }).args, "permission-mode")).toBe("dontAsk");
    expect(valueOf(plan({ permission: "read" }).args, "allowedTools")).toBe("Read,Glob,Grep");
    expect(valueOf(plan({ permission: "ask" }).args, "permission-mode")).toBe("acceptEdits");
    expect(valueOf(plan().args, "allowedTools")).toBe("Read,Glob,Grep,Bash,WebFetch,WebSearch");
    const named = plan({ tools: ["Bash(git *)", "Bash(ls)", "Read", "mcp__docs__find"] }).args;
    expect(valueOf(named, "tools")).toBe("Bash,Read");
    expect(valueOf(named, "allowedTools")).toBe("Bash(git *),Bash(ls),Read,mcp__docs__find");
    expect(valueOf(named, "permission-mode")).toBe("dontAsk");
    expect(valueOf(plan({ permission: "read" }, { folders: ["/handoff"] }).args, "allowedTools")).toContain(
      "Edit(//handoff/**)",
    );
    expect(plan({}, { folders: ["/handoff"] }).args).toContain("--add-dir=/handoff");
  });

  test("R-004-15: tools that are allowed and refused are lists with commas", () => {
    const { args } = plan({ tools: ["a", "b"], denyTools: ["c", "d"] });
    expect(args).toContain("--allowedTools=a,b");
    expect(args).toContain("--disallowedTools=c,d");
  });

  test("turns as they are given; teams by their switch", () => {
    expect(plan({ maxTurns: 50 }).args).toContain("--max-turns=50");
    expect(plan({ maxTurns: 50 }).env).not.toHaveProperty("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS");
    const team = plan({ maxTurns: 200, teams: true });
    expect(team.args).toContain("--max-turns=200");
    expect(team.env).toMatchObject({ CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1" });
  });

  test("an agent that names its tools still gets those of a lead, in team mode only", () => {
    const tools = (teams: boolean) => plan({ tools: ["Read"], teams }).args.filter((arg) => arg.startsWith("--tools="));
    expect(tools(false)).toEqual(["--tools=Read"]);
    expect(tools(true)[0]).toMatch(/^--tools=Read,Agent,SendMessage,TaskCreate/u);
    expect(plan({ tools: ["Read"], teams: true }).args.join(" ")).toMatch(/--allowedTools=Read,Agent,/u);
  });

  test("cost and effort", () => {
    const { args } = plan({ maxCostUsd: 2.5, effort: "minimal" });
    expect(args).toContain("--max-budget-usd=2.5");
    expect(args).toContain("--effort=low");
  });

  test("a conversation begins with an id of ours, or is gone on with", () => {
    expect(plan().args).toContain("--session-id=new-id");
    const { args } = plan({}, { session: { id: "old-id", totals: null } });
    expect(args).toContain("--resume=old-id");
    expect(valueOf(args, "session-id")).toBeUndefined();
  });

  test("S10: what the repository brings is off unless it was let in, but its instructions are read", () => {
    const { args, env, files } = plan({}, {}, "/work space/AGENTS.md");
    expect(valueOf(args, "setting-sources")).toBe("user");
    expect(args).toContain("--strict-mcp-config");
    expect(args).toContain("--add-dir=/work space");
    expect(args).toContain("--add-dir=/scratch/memory");
    expect(env).toMatchObject({ CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1" });
    expect(files).toEqual([{ name: "memory/CLAUDE.md", text: "@/work\\ space/AGENTS.md\n" }]);
    const letIn = plan({}, { repositorySettings: true });
    expect(valueOf(letIn.args, "setting-sources")).toBe("user,project,local");
    expect(valueOf(letIn.args, "add-dir")).toBeUndefined();
  });

  test("what the operator sets wins over our variables", () => {
    const spec = { cwd: "/w", env: { CLAUDE_CODE_MAX_RETRIES: "9", PATH: "/bin" } };
    const { env } = planClaude(spec, agentWith(), { newSessionId: "n", agentsFile: null });
    expect(env).toMatchObject({ CLAUDE_CODE_MAX_RETRIES: "9", PATH: "/bin", DISABLE_AUTOUPDATER: "1" });
  });
});

describe("started", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "passrail-claude-"));
    mkdirSync(join(folder, "scratch"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const DUMP = `
    import { readFileSync, writeFileSync } from "node:fs";
    const stdin = readFileSync(0, "utf8");
    writeFileSync("dump.json", JSON.stringify({ args: process.argv.slice(2), stdin, env: process.env }));
    console.log(JSON.stringify({ type: "result", subtype: "success", is_error: false, result: "Done." }));
  `;

  test("S22: the program gets the operator's arguments, then ours, unchanged; the prompt comes on stdin only", async () => {
    writeFileSync(join(folder, "program.mjs"), DUMP);
    const agent = agentWith(
      { model: HOSTILE, systemPrompt: HOSTILE },
      { scratch: join(folder, "scratch"), tools: { url: "http://127.0.0.1:1/mcp", token: "TOKEN-1" } },
    );
    const spec = {
      marker: `claude-arguments-${process.pid}`,
      argv: [process.execPath, join(folder, "program.mjs"), "--debug"] as const,
      cwd: folder,
      prompt: `PROMPT ${HOSTILE}`,
      env: { PATH: process.env["PATH"] ?? "" },
      limits: { totalMs: 20_000, outputBytes: 1_000_000, graceMs: 1_000 },
      outputPath: join(folder, "output.log"),
      agent,
    };
    const end = await createClaudeRunner().run(
      { ...spec, argv: [...spec.argv] },
      { signal: new AbortController().signal },
    );
    expect(end).toMatchObject({ reason: "exited", exitCode: 0, stdoutTail: "Done.", conversation: { failure: null } });
    const dump = JSON.parse(readFileSync(join(folder, "dump.json"), "utf8")) as { args: string[]; stdin: string };
    expect(dump.args.slice(0, 2)).toEqual(["--debug", "-p"]);
    expect(valueOf(dump.args, "model")).toBe(HOSTILE);
    expect(valueOf(dump.args, "session-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(dump.stdin).toBe(spec.prompt);
    expect(JSON.stringify(dump.args)).not.toMatch(/TOKEN-1|PROMPT/);
    expect(readFileSync(valueOf(dump.args, "append-system-prompt-file") ?? "", "utf8")).toBe(HOSTILE);
    expect(statSync(valueOf(dump.args, "mcp-config") ?? "").mode & 0o777).toBe(0o600);
  });

  test("R-004-19: a missing program is told by its name", async () => {
    const spec = {
      marker: "claude-missing",
      argv: ["no-such-claude"] as [string],
      cwd: folder,
      prompt: "",
      env: { PATH: "/nowhere" },
      limits: { totalMs: 1_000, outputBytes: 1_000, graceMs: 100 },
      outputPath: join(folder, "output.log"),
      agent: agentWith({}, { scratch: join(folder, "scratch") }),
    };
    const end = await createClaudeRunner().run(spec, { signal: new AbortController().signal });
    expect(end).toMatchObject({ reason: "agent_not_found", detail: expect.stringContaining("no-such-claude") });
  });

  test("AGENTS.md is pointed at only where Claude Code would read it: beside no CLAUDE.md", () => {
    expect(unreadAgentsFile(folder)).toBeNull();
    writeFileSync(join(folder, "AGENTS.md"), "x");
    expect(unreadAgentsFile(folder)).toBe(join(folder, "AGENTS.md"));
    mkdirSync(join(folder, ".claude"));
    writeFileSync(join(folder, ".claude/CLAUDE.md"), "x");
    expect(unreadAgentsFile(folder)).toBeNull();
  });
});
