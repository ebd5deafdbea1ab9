import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { AgentEvent, Session } from "../runner.ts";
import { type ProgramEnd, splitLines } from "../process/stream.ts";
import { createClaudeReader } from "./stream.ts";

// Recorded from Claude Code 2.1.325 against scripted models; lists and long texts are cut.
const traces = new URL("../../../test/fixtures/traces/claude/", import.meta.url);

type Recorded = { exitCode: number | null; signal: string | null; endedByUs?: true; stderr?: string };
const index = JSON.parse(readFileSync(new URL("index.json", traces), "utf8")) as Record<string, Recorded>;

const linesOf = (name: string): string[] =>
  readFileSync(new URL(`${name}.jsonl`, traces), "utf8")
    .split("\n")
    .filter(Boolean);

const endOf = (name: string): ProgramEnd => {
  const { exitCode, signal, endedByUs, stderr } = index[name] ?? { exitCode: 0, signal: null };
  const reason = endedByUs ? "idle_timeout" : signal === null ? "exited" : "signaled";
  return { reason, exitCode, signal, stderrTail: stderr ?? "" };
};

const play = (name: string, resumed?: Session, end: ProgramEnd = endOf(name)) => {
  const reader = createClaudeReader(resumed);
  const events: AgentEvent[] = linesOf(name).flatMap((line) => reader.read(line));
  return { ...reader.conclude(end), events, over: reader.over };
};

/** Reads a test's own lines. */
const tell = (...lines: object[]) => {
  const reader = createClaudeReader();
  return { reader, events: lines.flatMap((line) => reader.read(JSON.stringify(line))) };
};

const exited = (exitCode: number): ProgramEnd => ({ reason: "exited", exitCode, signal: null, stderrTail: "" });
const success = { type: "result", subtype: "success", is_error: false, result: "Done.", session_id: "s" };

type Outcome = { readonly failure: string | null; readonly message?: RegExp; readonly text?: RegExp | string };

const SUCCESS: Outcome = { failure: null };
const outcomes: Readonly<Record<string, Outcome>> = {
  "agent-flag": { failure: null, text: /^Tool said: tool-was-here/ },
  "agents-1": SUCCESS,
  "agents-2": SUCCESS,
  "agents-json": SUCCESS,
  alwaysload: { failure: null, text: /^Verdict submitted\. Tool said: {"recorded":true/ },
  bare: SUCCESS,
  "before-resume-401": SUCCESS,
  budget: { failure: "budget", message: /max_cost.*\(Reached maximum budget \(\$0\.2\)\)/ },
  bytehang: { failure: null, text: "This sentence never ends because the stream stalls." },
  connrefused: { failure: "unreachable", message: /ANTHROPIC_BASE_URL/ },
  "dontask-allowed": SUCCESS,
  drop: { failure: null, text: "This sentence is cut off because the socket is destroyed." },
  e400: { failure: "request_refused", message: /bad request of the script/ },
  e401: { failure: "auth" },
  "e401-r0": { failure: "auth", message: /run `claude` once and log in, or set ANTHROPIC_API_KEY/ },
  "e401-r1": { failure: "auth" },
  "e429-r2": { failure: "rate_limit", message: /slow down/ },
  e500: { failure: "server_error", message: /scripted outage/ },
  "e529-r4": { failure: "server_error", message: /Overloaded/ },
  flaky: { failure: null, text: /^Recovered\./ },
  "hang-timeout": { failure: "server_error", message: /Request timed out/ },
  happy: { failure: null, text: /^The file is written\.[^]*"verdict":"APPROVED"/ },
  maxturns: { failure: "turn_limit", message: /`turns`.*maximum number of turns \(3\)/, text: "Again." },
  "mcp-dead": SUCCESS,
  "mcp-endturn": { failure: null, text: "" },
  "mcp-http": SUCCESS,
  "mcp-notoolsearch": SUCCESS,
  "mcp-stdio": SUCCESS,
  // Ended by Passrail midway, without an error in the stream.
  midhang: SUCCESS,
  "midhang-wd": SUCCESS,
  nokey: { failure: "auth", message: /not logged in.*Please run \/login/ },
  partial: { failure: null, text: /^The file is written\./ },
  "perm-denied": { failure: null, text: /^Tool said: Output redirection/ },
  quota: { failure: "quota", message: /usage limit.*5-hour limit/ },
  resume: { failure: null, text: /^Just text/ },
  "resume-401": { failure: "auth" },
  "resume-fork": SUCCESS,
  "resume-missing": { failure: "session_lost", message: /no longer exists/ },
  "resume-othercwd": SUCCESS,
  "root-bypass": { failure: "denied", message: /as root: choose `permission: edit`/ },
  "root-skip": { failure: "denied" },
  "root-skip-sandbox": SUCCESS,
  "schema-never": { failure: null, text: "I refuse to answer in JSON." },
  "schema-ok": SUCCESS,
  "schema-retry": SUCCESS,
  "sid-1": SUCCESS,
  "sid-dup": { failure: "agent_crashed", message: /ended with code 1 before.*already in use/ },
  sigint: { failure: "agent_crashed", message: /interrupted/, text: "" },
  "sigint-tool": { failure: "agent_crashed", message: /interrupted/, text: "Sleeping." },
  sigkill: { failure: "agent_crashed", message: /ended by SIGKILL/ },
  "sigkill-tool": { failure: "agent_crashed", message: /ended by SIGKILL/, text: "Sleeping." },
  sigterm: { failure: "agent_crashed", message: /ended with code 143/ },
  "sigterm-tool": { failure: "agent_crashed", message: /ended with code 143/ },
  "startup-fail": { failure: "denied", message: /as root/ },
  "startup-fail2": { failure: "agent_crashed", message: /MCP config file not found/ },
  stdin: SUCCESS,
  "stream-input": SUCCESS,
  subagent: { failure: null, text: /^Sub-agent answered:/ },
  "team-off": { failure: null, text: /^Lead turn 2 done/ },
  "team-on": { failure: null, text: /^Lead turn 2 done/ },
  teams: SUCCESS,
  "teams-flag": { failure: "agent_crashed", message: /unknown option '--agent-teams'/ },
  "teams-settings": SUCCESS,
};

describe("what each recorded run came to", () => {
  test("every recording has an expectation", () => {
    expect(Object.keys(outcomes).toSorted()).toEqual(Object.keys(index).toSorted());
  });

  test.each(Object.entries(outcomes))("%s", (name, { failure, message, text }) => {
    const { conversation, finalText, events } = play(name);
    expect(conversation.failure?.kind ?? null).toBe(failure);
    if (message !== undefined) expect(conversation.failure?.message).toMatch(message);
    if (text !== undefined) expect(finalText).toEqual(typeof text === "string" ? text : expect.stringMatching(text));
    expect(events.filter((event) => event.type === "unknown")).toEqual([]);
    const called = events.filter((event) => event.type === "tool.called");
    expect(conversation.toolCalls).toBe(called.length);
  });
});

describe("the final text", () => {
  test("R-004-17: the result's text counts, not what was said before a tool", () => {
    const { finalText, events } = play("happy");
    expect(finalText).not.toContain("I will write the file first.");
    expect(events.filter((event) => event.type === "message").map((event) => event.text)[0]).toBe(
      "I will write the file first.",
    );
  });

  test("R-004-17: without a result it is the last thing the agent said", () => {
    expect(play("sigkill-tool").finalText).toBe("Sleeping.");
  });

  test("R-004-17: what a sub-agent says is neither a message nor the end", () => {
    const { finalText, events } = play("team-on");
    expect(events.some((event) => event.type === "message" && event.text === "Mate is done")).toBe(false);
    expect(finalText).not.toContain("Mate is done");
  });

  test("R-004-17: an error does not take the place of what was said", () => {
    expect(play("maxturns").finalText).toBe("Again.");
    expect(play("e500").finalText).toBe("");
  });

  test("only the end of a very long text is kept", () => {
    const { reader } = tell({ ...success, result: `${"x".repeat(400_000)}END` });
    const { finalText } = reader.conclude(exited(0));
    expect(finalText.length).toBeLessThanOrEqual(256 * 1024);
    expect(finalText.endsWith("END")).toBe(true);
  });
});

describe("lines", () => {
  test("R-004-16: pieces that cut lines and characters, CRLF, a last line without its end and what is no JSON are all read", () => {
    const reader = createClaudeReader();
    const events: AgentEvent[] = [];
    const lines = splitLines((line) => void events.push(...reader.read(line)));
    const text = `not JSON é\r\n${linesOf("happy").join("\r\n")}`;
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length; at += 7) lines.push(bytes.subarray(at, at + 7));
    lines.end();
    expect(events[0]).toEqual({ type: "unknown", name: "text" });
    expect(events.slice(1)).toEqual(play("happy").events);
    expect(reader.conclude(exited(0)).conversation.failure).toBeNull();
  });

  test.each([
    "",
    "null",
    "[]",
    "7",
    "{}",
    '{"type":7}',
    '{"type":"assistant"}',
    '{"type":"assistant","message":{"content":[null,7]}}',
    '{"type":"user","message":{"content":"x"}}',
    '{"type":"result"}',
    '{"type":"constructor"}',
    '{"type":"__proto__"}',
    '{"type":"system","subtype":"toString"}',
    '{"type":"rate_limit_event"}',
  ])("hostile: %s is survived and is no success", (line) => {
    const reader = createClaudeReader();
    for (const event of reader.read(line)) expect(event.type).toBeTypeOf("string");
    expect(reader.conclude(exited(0)).conversation.failure).not.toBeNull();
  });

  test("what a later version may add is told as unknown", () => {
    expect(tell({ type: "hologram" }, { type: "system", subtype: "weather" }).events).toEqual([
      { type: "unknown", name: "hologram" },
      { type: "unknown", name: "system/weather" },
    ]);
  });

  test("inputs and outputs of tools are cut", () => {
    const long = "x".repeat(100_000);
    const { events } = tell(
      {
        type: "assistant",
        message: { id: "m", content: [{ type: "tool_use", id: "t", name: "Bash", input: { command: long } }] },
      },
      {
        type: "user",
        message: { content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: long }] }] },
      },
      { type: "assistant", message: { id: "m", content: [{ type: "text", text: long }] } },
    );
    expect(events.map((event) => JSON.stringify(event).length < 66_000)).toEqual([true, true, true]);
  });
});

describe("success", () => {
  test("a result that says success is none when the program ends with another code", () => {
    const { conversation } = play("happy", undefined, exited(3));
    expect(conversation.failure).toMatchObject({ kind: "agent_crashed", message: expect.stringContaining("code 3") });
  });

  test("a program that was ended after its last word has succeeded", () => {
    const end = { reason: "finished", exitCode: 143, signal: null, stderrTail: "" } as const;
    expect(play("happy", undefined, end).conversation.failure).toBeNull();
  });

  test("a limit of ours needs no failure besides, unless the program was waiting to try again", () => {
    const end = { reason: "timeout", exitCode: null, signal: "SIGTERM", stderrTail: "" } as const;
    expect(play("sigterm-tool", undefined, end).conversation.failure).toBeNull();
    expect(play("e401", undefined, end).conversation.failure?.kind).toBe("auth");
    expect(play("e401", undefined, { ...end, reason: "canceled" }).conversation.failure).toBeNull();
  });
});

describe("agents in the background", () => {
  test("the run is over only after a result with nothing in the background, and the last result counts", () => {
    const reader = createClaudeReader();
    reader.read(JSON.stringify({ type: "system", subtype: "task_started", task_id: "a", is_backgrounded: true }));
    reader.read(JSON.stringify(success));
    expect(reader.over).toBe(false);
    reader.read(JSON.stringify({ type: "system", subtype: "task_notification", task_id: "a", status: "completed" }));
    expect(reader.over).toBe(false);
    reader.read(JSON.stringify({ ...success, result: "Second." }));
    expect(reader.over).toBe(true);
    expect(reader.conclude(exited(0)).finalText).toBe("Second.");
  });

  test("R-001-36: tasks of sub-agents and teammates are told, and a teammate without a task is idle", () => {
    const told = (name: string) =>
      play(name).events.filter(({ type }) => type.startsWith("task.") || type === "teammate.idle");
    expect(told("subagent")).toMatchObject([
      { type: "task.started", name: "general-purpose", text: "review it" },
      { type: "task.completed", name: "general-purpose", status: "completed", text: "Inner says APPROVED" },
    ]);
    expect(told("team-on").map(({ type }) => type)).toEqual(["task.started", "task.completed", "teammate.idle"]);
  });

  test("a lead that begins another turn is not over", () => {
    const reader = createClaudeReader();
    const lines = linesOf("stream-input");
    const states = lines.map((line) => {
      reader.read(line);
      return [(JSON.parse(line) as { type: string }).type, reader.over] as const;
    });
    expect(states.filter(([, over]) => over).map(([type]) => type)).toEqual(["result", "result", "result"]);
  });

  test.each(["happy", "team-on", "team-off", "subagent", "e500"])("%s is over at its end", (name) => {
    expect(play(name).over).toBe(true);
  });

  test("turns of all results are counted", () => {
    expect(play("team-on").conversation.turns).toBe(3);
    expect(play("happy").conversation.turns).toBe(2);
    expect(play("sigterm").conversation.turns).toBeNull();
  });
});

describe("what it used", () => {
  test("R-004-18: the time is the result's duration_ms; a run without a result has none", () => {
    expect(play("happy").conversation.reportedMs).toBeGreaterThan(0);
    expect(play("sigterm").conversation).not.toHaveProperty("reportedMs");
  });

  test("R-004-18: dollars are the result's total_cost_usd, and tokens those of all models", () => {
    expect(play("happy").conversation.usage).toEqual({
      usd: 0.128814,
      inputTokens: 42413,
      outputTokens: 105,
      cachedTokens: 0,
    });
    // Including the sub-agent's.
    expect(play("subagent").conversation.usage).toMatchObject({ usd: 0.205791, inputTokens: 66992 });
  });

  test("a session that is gone on with pays only for what is new, and leaves the new totals", () => {
    const first = play("sid-1").conversation.session;
    if (first === null) throw new Error("no session");
    const { usage, session } = play("resume", first).conversation;
    expect(first.totals).toMatchObject({ inputTokens: 42367 });
    expect(usage).toMatchObject({ inputTokens: 21348, outputTokens: 34 });
    expect(usage?.usd).toBeCloseTo(0.06455, 4);
    expect(session).toMatchObject({ id: first.id, totals: { usd: 0.19296, inputTokens: 63715 } });
  });

  test("a resumed session whose request is refused costs nothing", () => {
    const before = play("before-resume-401").conversation.session ?? undefined;
    const { usage, session } = play("resume-401", before).conversation;
    expect(usage).toEqual({ usd: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 });
    expect(session).toEqual(before);
  });

  test("without earlier totals tokens are those of this run alone", () => {
    expect(play("resume", { id: "x", totals: null }).conversation.usage).toMatchObject({ inputTokens: 21348 });
  });

  test("what was killed in the middle tells the tokens it had told, and no dollars; the session's totals stay", () => {
    const totals = { usd: 1, inputTokens: 5, outputTokens: 5, cachedTokens: 0 };
    const { usage, session } = play("sigkill-tool", { id: "x", totals }).conversation;
    expect(usage).toEqual({ usd: null, inputTokens: 21132, outputTokens: 1, cachedTokens: 0 });
    expect(session?.totals).toEqual(totals);
    expect(play("sigterm").conversation.usage).toBeNull();
  });

  test("R-002-51: cached tokens are a part of the input", () => {
    const models = {
      m: { inputTokens: 100, outputTokens: 7, cacheReadInputTokens: 900, cacheCreationInputTokens: 50 },
    };
    const { reader } = tell({ ...success, total_cost_usd: 0.5, modelUsage: models });
    expect(reader.conclude(exited(0)).conversation.usage).toEqual({
      usd: 0.5,
      inputTokens: 1050,
      outputTokens: 7,
      cachedTokens: 900,
    });
  });
});

describe("what it tells besides", () => {
  test("R-X-10: session, model and version", () => {
    const { conversation, events } = play("happy");
    expect(conversation).toMatchObject({ model: "claude-sonnet-4-5", version: "2.1.325" });
    expect(conversation.session?.id).toBe("300a20b8-6d66-4032-9562-de4a59427649");
    expect(events[0]).toEqual({
      type: "session",
      id: "300a20b8-6d66-4032-9562-de4a59427649",
      model: "claude-sonnet-4-5",
    });
    expect(play("team-on").events.filter((event) => event.type === "session").length).toBe(1);
  });

  test("a start that failed leaves no session, a lost one neither, and a resumed one stays", () => {
    expect(play("startup-fail").conversation.session).toBeNull();
    expect(
      play("resume-missing", { id: "00000000-0000-4000-8000-000000000000", totals: null }).conversation.session,
    ).toBeNull();
    expect(play("startup-fail", { id: "mine", totals: null }).conversation.session?.id).toBe("mine");
  });

  test("R-001-36: tools with what they were given and gave back", () => {
    const { events } = play("agent-flag");
    expect(events.find((event) => event.type === "tool.called")).toMatchObject({
      name: "Bash",
      input: expect.stringContaining("echo tool-was-here"),
    });
    expect(events.find((event) => event.type === "tool.returned")).toMatchObject({ ok: true, output: "tool-was-here" });
    expect(play("mcp-dead").events.find((event) => event.type === "tool.returned")).toMatchObject({ ok: false });
  });

  test("denials, as they happen and at the end", () => {
    const { conversation, events } = play("perm-denied");
    expect(conversation.denials).toEqual(["Bash: echo tool-was-here > bash.txt && cat bash.txt"]);
    expect(events.find((event) => event.type === "notice")).toMatchObject({
      kind: "denied",
      text: expect.stringContaining("needs approval"),
    });
  });

  test("structured output, and none when the model did not comply", () => {
    expect(play("schema-ok").conversation.structured).toEqual({ verdict: "REVISE", issues: ["no tests"] });
    expect(play("schema-retry").conversation.structured).toEqual({ verdict: "REVISE", issues: [] });
    expect(play("schema-never").conversation.structured).toBeNull();
  });

  test("retries", () => {
    const notices = play("e429-r2").events.filter((event) => event.type === "notice");
    expect(notices.map((event) => event.kind)).toEqual(["retry", "retry"]);
    expect(notices[0]?.text).toBe("A request to the model failed (429); retry 1 of 2 in 0.5 s.");
  });

  test("a server of tools that cannot be reached", () => {
    const notice = play("mcp-dead").events.find((event) => event.type === "notice");
    expect(notice).toMatchObject({ kind: "warning", text: "The MCP server orch cannot be used: failed." });
  });

  test("when a usage limit ends", () => {
    const { conversation, events } = play("quota");
    const resetsAt = new Date(1_794_800_000_000).toISOString();
    expect(conversation.failure).toMatchObject({ kind: "quota", resetsAt });
    expect(events.find((event) => event.type === "notice")).toMatchObject({ kind: "limit", resetsAt });
    const old = tell({ ...success, is_error: true, result: "Claude AI usage limit reached|1794800000" });
    expect(old.reader.conclude(exited(1)).conversation.failure).toMatchObject({ kind: "quota", resetsAt });
    const odd = tell({ ...success, is_error: true, result: "Claude AI usage limit reached|soon" });
    expect(odd.reader.conclude(exited(1)).conversation.failure).not.toHaveProperty("resetsAt");
  });
});
