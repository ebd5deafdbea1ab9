import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { AgentEvent, Session } from "../runner.ts";
import type { ProgramEnd } from "../process/stream.ts";
import { createCodexReader } from "./stream.ts";
import { optional } from "../../core/optional.ts";

/** Noon in local time, as recordings name times of the day: "try again at 3:33 AM" is then hours away. */
const RECORDED = new Date(2026, 10, 15, 12).getTime();

// Recorded from Codex 0.166.0 against scripted models; long texts are cut.
const traces = new URL("../../../test/fixtures/traces/codex/", import.meta.url);

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

const openReader = (resumed?: Session, structured = false) =>
  createCodexReader({ model: "gpt-5.5-codex", structured, now: () => RECORDED, ...optional({ resumed }) });

const play = (name: string, resumed?: Session, end: ProgramEnd = endOf(name), structured = false) => {
  const reader = openReader(resumed, structured);
  const events: AgentEvent[] = linesOf(name).flatMap((line) => reader.read(line));
  return { ...reader.conclude(end), events, over: reader.over };
};

const exited = (exitCode: number): ProgramEnd => ({ reason: "exited", exitCode, signal: null, stderrTail: "" });

type Outcome = { readonly failure: string | null; readonly message?: RegExp; readonly text?: RegExp | string };

const SUCCESS: Outcome = { failure: null };
const outcomes: Readonly<Record<string, Outcome>> = {
  baseurl: { failure: null, text: /^Just text/ },
  "baseurl-env": { failure: "unreachable" },
  "codemode-bash": { failure: null, text: /^Tool said: Script completed/ },
  "codemode-happy": { failure: null, text: /^The file is written\./ },
  "codemode-mcp": { failure: null, text: /^Verdict submitted/ },
  // Ended by Passrail while it waited for the network.
  connrefused: { failure: "unreachable" },
  "connrefused-bounded": { failure: "unreachable", message: /check the network/ },
  drop: { failure: "server_error", message: /stream disconnected/ },
  e400: { failure: "request_refused", message: /\(bad request of the script\)/ },
  e401: { failure: "auth", message: /run `codex login`, or set CODEX_API_KEY.*invalid x-api-key/ },
  e429: { failure: "rate_limit", message: /Too Many Requests/ },
  e500: { failure: "server_error", message: /high demand/ },
  "e500-default": { failure: "server_error" },
  "fallbackmodel-happy": SUCCESS,
  flaky: { failure: null, text: /^Recovered\./ },
  // Ended by Passrail, without an error in the stream.
  hang: SUCCESS,
  happy: { failure: null, text: /^The file is written\.[^]*"verdict":"APPROVED"/ },
  "mcp-approve": SUCCESS,
  "mcp-dead": SUCCESS,
  "mcp-dead-req": { failure: "agent_crashed", message: /could not connect to the tools.*required MCP servers failed/ },
  "mcp-http": SUCCESS,
  "mcp-noannot": { failure: null, text: /requires approval/ },
  "mcp-noannot-approve": SUCCESS,
  "mcp-noapprove": SUCCESS,
  "mcp-stdio": SUCCESS,
  midhang: { failure: "server_error", message: /idle timeout/ },
  nogit: SUCCESS,
  quota: { failure: "quota", message: /usage limit.*try again at/ },
  resume: { failure: null, text: /^Just text/ },
  "resume-missing": { failure: "session_lost", message: /no rollout found/ },
  "resume-unknown-name": SUCCESS,
  // It obeys an answer that asks it to wait an hour.
  "retry-after": { failure: "rate_limit" },
  "sandbox-ro": { failure: null, text: /Read-only file system/ },
  "sandbox-ww": SUCCESS,
  schema: { failure: null, text: '{"verdict":"REVISE","issues":["no tests"]}' },
  "schema-never": SUCCESS,
  sigint: { failure: "agent_crashed", message: /ended with code 1/ },
  "sigint-tool": { failure: "agent_crashed" },
  "sigkill-tool": { failure: "agent_crashed", message: /ended by SIGKILL/ },
  sigterm: { failure: "agent_crashed", message: /ended by SIGTERM/ },
  "sigterm-tool": { failure: "agent_crashed", text: "" },
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
    expect(conversation.toolCalls).toBe(events.filter((event) => event.type === "tool.called").length);
    if (linesOf(name).length > 0) expect(conversation.session?.id).toMatch(/^01a1e/);
  });
});

describe("success", () => {
  test("an error in the middle of a run that is completed is a notice only", () => {
    const { conversation, events } = play("flaky");
    expect(conversation.failure).toBeNull();
    expect(events.filter((event) => event.type === "notice").map((event) => event.kind)).toEqual(["retry"]);
  });

  test("a completed turn is no success when the program ends with another code", () => {
    expect(play("happy", undefined, exited(2)).conversation.failure).toMatchObject({ kind: "agent_crashed" });
  });

  test("a program that was ended after its last word has succeeded", () => {
    const end = { reason: "finished", exitCode: null, signal: "SIGTERM", stderrTail: "" } as const;
    expect(play("happy", undefined, end)).toMatchObject({ over: true, conversation: { failure: null } });
  });

  test("a limit of ours needs no failure besides, unless the program was waiting to try again", () => {
    const end = { reason: "timeout", exitCode: null, signal: "SIGTERM", stderrTail: "" } as const;
    expect(play("sigterm-tool", undefined, end).conversation.failure).toBeNull();
    expect(play("retry-after", undefined, end).conversation.failure?.kind).toBe("rate_limit");
    expect(play("retry-after", undefined, { ...end, reason: "canceled" }).conversation.failure).toBeNull();
  });

  test("a new conversation in place of the one to go on with is a lost session", () => {
    const { conversation } = play("resume-unknown-name", { id: "not-a-session", totals: null });
    expect(conversation).toMatchObject({ failure: { kind: "session_lost" }, session: null });
  });
});

describe("what it used", () => {
  test("tokens of the conversation, cached ones included, and never dollars", () => {
    expect(play("happy").conversation.usage).toEqual({
      usd: null,
      inputTokens: 19210,
      outputTokens: 111,
      cachedTokens: 0,
    });
  });

  test("a conversation that is gone on with pays only for what is new, and leaves the new totals", () => {
    const first = play("sandbox-ww").conversation.session;
    if (first === null) throw new Error("no session");
    const { usage, session } = play("resume", first).conversation;
    expect(usage).toMatchObject({ usd: null, inputTokens: 29857 - 19599, outputTokens: 96 - 84 });
    expect(session).toMatchObject({ id: first.id, totals: { inputTokens: 29857, outputTokens: 96 } });
  });

  test("what was killed or refused tells nothing, and the totals stay for the next run", () => {
    const totals = { usd: null, inputTokens: 5, outputTokens: 5, cachedTokens: 0 };
    const id = "01a1e064-d198-7af1-9620-8d84b1b8dc1d";
    expect(play("sigkill-tool", { id, totals }).conversation).toMatchObject({ usage: null, session: { id, totals } });
    expect(play("e500").conversation).toMatchObject({ usage: null, session: { totals: null } });
  });
});

describe("what it tells besides", () => {
  test("R-001-36: commands, patches and calls of MCP tools", () => {
    const called = (name: string) => play(name).events.find((event) => event.type === "tool.called");
    const returned = (name: string) => play(name).events.find((event) => event.type === "tool.returned");
    expect(called("sandbox-ww")).toMatchObject({ name: "shell", input: expect.stringContaining("echo tool-was-here") });
    expect(returned("sandbox-ww")).toMatchObject({ ok: true, output: "tool-was-here\n" });
    expect(called("happy")).toMatchObject({ name: "apply_patch", input: expect.stringMatching(/^add .*hello\.txt$/) });
    expect(called("mcp-http")).toMatchObject({ name: "mcp__orch__submit_verdict" });
    expect(returned("mcp-http")).toMatchObject({ ok: true, output: "verdict REVISE recorded" });
  });

  test("a call that was refused is a denial", () => {
    const { conversation, events } = play("mcp-noannot");
    expect(conversation.denials).toEqual([
      "mcp__orch__submit_verdict: MCP tool call requires approval, but approval policy is never",
    ]);
    expect(events.some((event) => event.type === "notice" && event.kind === "denied")).toBe(true);
  });

  test("structured output is the last message, if one was asked for and it is JSON", () => {
    const structured = (name: string, asked: boolean) =>
      play(name, undefined, endOf(name), asked).conversation.structured;
    expect(structured("schema", true)).toEqual({ verdict: "REVISE", issues: ["no tests"] });
    expect(structured("schema", false)).toBeNull();
    expect(structured("schema-never", true)).toBeNull();
  });

  test("when a limit ends: by the day, by the clock, and by the log of its own retry", () => {
    const now = Date.parse("2026-11-15T12:00:00.000Z");
    const failed = (message: string) => {
      const reader = createCodexReader({ model: null, structured: false, now: () => now });
      reader.read(JSON.stringify({ type: "turn.failed", error: { message } }));
      return reader.conclude({ reason: "exited", exitCode: 1, signal: null, stderrTail: "" }).conversation.failure;
    };
    const day = failed("You've hit your usage limit. Upgrade or try again at Nov 16th, 2026 3:33 AM.");
    expect(day).toMatchObject({ kind: "quota", resetsAt: new Date(2026, 10, 16, 3, 33).toISOString() });
    expect(failed("You've hit your usage limit. Try again in 3 hours 12 minutes.")).toMatchObject({
      kind: "quota",
      resetsAt: "2026-11-15T15:12:00.000Z",
    });
    expect(failed("You've hit your usage limit. try again at Foo 99th, 2026 3:33 AM")).not.toHaveProperty("resetsAt");
    expect(failed("Quota exceeded. Check your plan and billing details.")).toMatchObject({ kind: "billing" });
  });

  test("a long sleep before its own retry is a limit with its end, and worth no slot", () => {
    const now = Date.parse("2026-11-15T12:00:00.000Z");
    const sleeping = (seconds: string) => {
      const reader = createCodexReader({ model: null, structured: false, now: () => now });
      reader.readError?.(`WARN stream disconnected - retrying sampling request (1/5 in ${seconds}s)... retries=1`);
      reader.read(
        '{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}',
      );
      return reader;
    };
    const long = sleeping("10800");
    expect(long.parkInMs).toBe(0);
    const end = { reason: "finished", exitCode: null, signal: null, stderrTail: "" } as const;
    expect(long.conclude(end).conversation.failure).toMatchObject({
      kind: "quota",
      resetsAt: "2026-11-15T15:00:00.000Z",
    });
    expect(sleeping("2.5").parkInMs).toBeNull();
  });
});

describe("lines", () => {
  test.each([
    "null",
    "[]",
    "no JSON",
    "{}",
    '{"type":"item.completed"}',
    '{"type":"item.completed","item":{"type":"constructor"}}',
    '{"type":"turn.failed"}',
    '{"type":"turn.failed","error":{"message":{}}}',
    '{"type":"thread.started"}',
    '{"type":"error"}',
  ])("hostile: %s is survived and is no success", (line) => {
    const reader = openReader();
    for (const event of reader.read(line)) expect(event.type).toBeTypeOf("string");
    expect(reader.conclude(exited(0)).conversation.failure).not.toBeNull();
  });

  test("what a later version may add is told as unknown", () => {
    const reader = openReader();
    expect(reader.read('{"type":"item.completed","item":{"id":"i","type":"hologram"}}')).toEqual([
      { type: "unknown", name: "item/hologram" },
    ]);
    expect(reader.read('{"type":"weather"}')).toEqual([{ type: "unknown", name: "weather" }]);
  });
});
