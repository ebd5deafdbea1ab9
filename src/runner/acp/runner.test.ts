import { mkdirSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, type Bench, openBench } from "../../../test/fixtures/agents/try-agent.ts";
import type { AgentOptions } from "../../core/flow/agent-options.ts";
import { isAlive } from "../process/process-table.ts";
import type { AgentEvent, AgentSpec, AttemptEnd, AttemptHooks, ProcessIdentity } from "../runner.ts";
import { createAcpRunner } from "./runner.ts";

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.close());

type Ask = {
  readonly options?: Partial<AgentOptions>;
  readonly agent?: Partial<AgentSpec>;
  readonly prompt?: string;
  readonly limits?: { readonly idleMs?: number; readonly startupMs?: number };
  readonly hooks?: Partial<AttemptHooks>;
};

const play = async (
  scene: readonly [string, ...string[]],
  ask: Ask = {},
): Promise<AttemptEnd & { events: AgentEvent[] }> => {
  const scratch = bench.path(`scratch-${Math.random()}`);
  mkdirSync(scratch);
  const events: AgentEvent[] = [];
  const spec = bench.spec({
    argv: agent("acp-agent", ...scene),
    prompt: ask.prompt ?? "Do it.",
    agent: {
      options: { permission: "edit", mcpServers: {}, teams: false, ...ask.options },
      scratch,
      folders: [],
      repositorySettings: false,
      ...ask.agent,
    },
    limits: ask.limits ?? {},
  });
  const end = await createAcpRunner().run(spec, {
    signal: new AbortController().signal,
    onEvent: (event) => events.push(event),
    ...ask.hooks,
  });
  return { ...end, events };
};

const session = { id: "s-1", totals: null };

describe("an attempt over the protocol", () => {
  test("R-X-08: a turn that ends is a success, with the text in one piece", async () => {
    const end = await play(["text"]);
    expect(end).toMatchObject({ reason: "finished", detail: "", stdoutTail: "Done.", stdoutWhole: true });
    expect(end.conversation).toMatchObject({
      session: { id: "s-1" },
      model: "small",
      version: "1.2.3",
      usage: null,
      failure: null,
    });
    expect(end.events).toEqual([
      { type: "session", id: "s-1", model: "small" },
      { type: "message", text: "Done." },
    ]);
  });

  test("S22: what is asked for goes over the line, and no secret is on a command line", async () => {
    const file = bench.path("told");
    const hostile = `it's "quoted" \\ $(id) --acp\n{"jsonrpc":"2.0"}\u2028${"p".repeat(300_000)}`;
    const end = await play(["echo", file], {
      prompt: hostile,
      options: {
        systemPrompt: "Be brief.",
        model: "big",
        mcpServers: { own: { command: ["tool", "--x y"], env: { A: "b" } }, far: { url: "https://mcp.example/x" } },
      },
      agent: { tools: { url: "http://127.0.0.1:1/mcp", token: "t0k3n" } },
    });
    expect(end.stdoutTail.endsWith("p".repeat(1_000))).toBe(true);
    const messages = readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { method: string; params: { [key: string]: unknown } });
    const of = (method: string) => messages.find((message) => message.method === method)?.params;
    expect(of("initialize")).toMatchObject({
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    expect(of("session/new")).toEqual({
      cwd: bench.folder,
      mcpServers: [
        {
          type: "http",
          name: "passrail",
          url: "http://127.0.0.1:1/mcp",
          headers: [{ name: "Authorization", value: "Bearer t0k3n" }],
        },
        { name: "own", command: "tool", args: ["--x y"], env: [{ name: "A", value: "b" }] },
        { type: "http", name: "far", url: "https://mcp.example/x", headers: [] },
      ],
    });
    expect(of("session/set_config_option")).toMatchObject({ configId: "model", value: "big" });
    expect(of("session/prompt")).toMatchObject({ prompt: [{ type: "text", text: `Be brief.\n\n${hostile}` }] });
    expect(end.conversation?.model).toBe("big");
  });

  test("a model that the agent does not offer is refused, with those that it offers", async () => {
    const end = await play(["text"], { options: { model: "huge" } });
    expect(end.conversation?.failure).toMatchObject({
      kind: "request_refused",
      message: expect.stringContaining("small, big"),
    });
  });

  test("noise between the messages does not matter, and an answer to nothing is ignored", async () => {
    const end = await play(["garbage"]);
    expect(end).toMatchObject({ stdoutTail: "Done.", conversation: { failure: null } });
  });

  test("an agent that stays after its answer is ended, and it is still a success", async () => {
    const end = await play(["stays"]);
    expect(end).toMatchObject({ reason: "finished", conversation: { failure: null } });
    expect(isAlive(end.process as ProcessIdentity)).toBe(false);
  });
});

describe("what the agent asks for", () => {
  test.each([
    ["edit", "execute"],
    ["full", "delete"],
    ["read", "read"],
    ["read", "other"],
  ] as const)("S05: with permission %s a tool of kind %s is allowed, once", async (permission, kind) => {
    const end = await play(["permission", kind], { options: { permission } });
    expect(end).toMatchObject({ stdoutTail: "It ran.", conversation: { failure: null, denials: [], toolCalls: 1 } });
    expect(end.events).toContainEqual({
      type: "tool.called",
      id: "t-1",
      name: "do it",
      input: '{"command":"rm -rf build"}',
    });
    expect(end.events).toContainEqual({ type: "tool.returned", id: "t-1", ok: true, output: "" });
  });

  test.each([
    ["read", "edit"],
    ["read", "delete"],
    ["read", "move"],
    ["read", "execute"],
    ["ask", "execute"],
    ["ask", "other"],
  ] as const)("S05: with permission %s a tool of kind %s is refused, told and recorded", async (permission, kind) => {
    const end = await play(["goes-on", kind], { options: { permission } });
    const line = `${kind}: rm -rf build`;
    expect(end).toMatchObject({ stdoutTail: "I do without it.", conversation: { failure: null, denials: [line] } });
    expect(end.events).toContainEqual({ type: "notice", kind: "denied", text: line });
    expect(end.events).toContainEqual({ type: "tool.returned", id: "t-1", ok: false, output: "refused" });
  });

  test("an agent that ends its turn with the refusal has failed as denied", async () => {
    const end = await play(["permission", "execute"], { options: { permission: "ask" } });
    expect(end.conversation?.failure).toMatchObject({
      kind: "denied",
      message: expect.stringContaining("execute: rm -rf build"),
    });
  });

  test("a tool that is denied by name is refused whatever else is allowed", async () => {
    const end = await play(["goes-on", "other"], { options: { permission: "full", denyTools: ["do it"] } });
    expect(end.conversation).toMatchObject({ denials: ["other: rm -rf build"] });
  });
});

describe("how it fails", () => {
  test.each([
    ["max_turn_requests", "turn_limit"],
    ["max_tokens", "agent_crashed"],
    ["refusal", "request_refused"],
    ["cancelled", "agent_crashed"],
    ["something new", "agent_crashed"],
  ])("a turn that stops for %s is %s", async (reason, kind) => {
    const end = await play(["stops", reason]);
    expect(end.conversation?.failure).toMatchObject({ kind });
    expect(end.stdoutTail).toBe("So far.");
  });

  test.each([
    [{ code: -32000, message: "Authentication required" }, "auth"],
    [{ code: 401, message: '{"error":{"code":401,"message":"invalid x-api-key"}}' }, "auth"],
    [{ code: 400, message: '{"error":{"code":400,"message":"API key not valid."}}' }, "auth"],
    [{ code: 403, message: "forbidden" }, "auth"],
    [{ code: 429, message: "slow down" }, "rate_limit"],
    [{ code: 429, message: "You exceeded your current quota" }, "quota"],
    [{ code: 500, message: "terminated" }, "server_error"],
    [{ code: 500, message: "fetch failed sending request: connect ECONNREFUSED 127.0.0.1:9" }, "unreachable"],
    [{ code: 400, message: "bad request" }, "request_refused"],
    [{ code: -32603, message: "Internal error", data: { statusCode: 529 } }, "server_error"],
    [{ code: -32603, message: "Internal error", data: { details: "Overloaded" } }, "server_error"],
    [{ code: -32603, message: "Internal error: invalid x-api-key", data: { errorName: "APIError" } }, "auth"],
    [{ code: -32603, message: "Internal error: it exploded" }, "agent_crashed"],
  ])("the error %j is a failure of kind %s", async (error, kind) => {
    const end = await play(["error", JSON.stringify(error)]);
    expect(end.conversation?.failure).toMatchObject({ kind });
    expect(end.reason).toBe("finished");
  });

  test("a program that leaves in the middle is a crash, with its last words and what it had said", async () => {
    const end = await play(["crash"]);
    expect(end).toMatchObject({ reason: "exited", exitCode: 7, stdoutTail: "I am about to" });
    expect(end.conversation?.failure).toMatchObject({
      kind: "agent_crashed",
      message: expect.stringContaining("the disk is on fire"),
    });
    expect(end.conversation?.session).toMatchObject({ id: "s-1" });
  });

  test("R-001-35: a program that never answers ends at our limit, which is no failure of its own", async () => {
    const end = await play(["silent"], { limits: { idleMs: 300 } });
    expect(end).toMatchObject({ reason: "idle_timeout", conversation: { failure: null, session: null } });
  });

  test("a program that is no agent at all is a crash that names its words", async () => {
    const spec = bench.spec({ argv: agent("exits", 3) });
    const end = await createAcpRunner().run(spec, { signal: new AbortController().signal });
    expect(end).toMatchObject({ reason: "exited", exitCode: 3, conversation: { failure: { kind: "agent_crashed" } } });
  });

  test("canceling ends the program", async () => {
    const cancel = new AbortController();
    const end = await play(["silent"], { hooks: { signal: cancel.signal, onStarted: () => cancel.abort() } });
    expect(end).toMatchObject({ reason: "canceled", conversation: { failure: null } });
  });
});

describe("going on with a session", () => {
  test("R-000-07: what is told again of the old conversation does not belong to the attempt", async () => {
    const end = await play(["text"], { agent: { session } });
    expect(end).toMatchObject({ stdoutTail: "Done.", conversation: { failure: null, toolCalls: 0 } });
    expect(end.events.filter((event) => event.type === "message")).toEqual([{ type: "message", text: "Done." }]);
  });

  test("S07: also not when it is told after the answer: an old verdict is no new one", async () => {
    const end = await play(["late-history"], { agent: { session } });
    expect(end).toMatchObject({ stdoutTail: "Done.", conversation: { failure: null, toolCalls: 0 } });
    expect(JSON.stringify(end.events)).not.toContain("APPROVED");
  });

  test.each(["lost", "no-sessions"])("a session that cannot be gone on with is lost: %s", async (scene) => {
    const end = await play([scene], { agent: { session } });
    expect(end.conversation).toMatchObject({ failure: { kind: "session_lost" } });
  });
});
