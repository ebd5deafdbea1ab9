import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../runner.ts";
import type { ProgramEnd } from "../process/stream.ts";
import { createGeminiReader } from "./stream.ts";

const FOLDER = new URL("../../../test/fixtures/traces/gemini/", import.meta.url);
const ENDS = JSON.parse(readFileSync(new URL("ends.json", FOLDER), "utf8")) as Readonly<Record<string, ProgramEnd>>;
const VERDICT = '"verdict":"APPROVED"';

type Expected = { readonly failure: string | null; readonly text?: string; readonly tools?: number };

/** The expected result of every recorded run. */
const TRACES: Readonly<Record<string, Expected>> = {
  drop: { failure: "server_error" },
  e400: { failure: "request_refused" },
  e401: { failure: "auth" },
  // Ended by our limit: not its own failure.
  e500: { failure: null },
  "e500-2": { failure: "server_error" },
  flaky: { failure: null, text: VERDICT, tools: 0 },
  happy: { failure: null, text: VERDICT, tools: 1 },
  maxturns: { failure: "turn_limit", tools: 3 },
  "mcp-http": { failure: null, text: "Verdict submitted", tools: 1 },
  "mcp-stdio": { failure: null, text: "Verdict submitted", tools: 1 },
  midhang: { failure: null },
  norelaunch: { failure: null, tools: 1 },
  noyolo: { failure: null, tools: 1 },
  "resume-id": { failure: null, tools: 0 },
  "resume-latest": { failure: null, tools: 0 },
  "resume-missing": { failure: "session_lost" },
  sid: { failure: null, tools: 1 },
  // On a signal it exits with code 0 and without a result.
  sigint: { failure: "agent_crashed" },
  "sigkill-tool": { failure: "agent_crashed" },
  sigterm: { failure: "agent_crashed" },
  "sigterm-tool": { failure: "agent_crashed" },
  untrusted: { failure: "agent_crashed" },
};

const read = (name: string) => {
  const end = ENDS[name];
  if (end === undefined) throw new Error(`no end of ${name}`);
  const reader = createGeminiReader();
  const events: AgentEvent[] = [];
  for (const line of readFileSync(new URL(`${name}.jsonl`, FOLDER), "utf8").split("\n")) {
    if (line !== "") events.push(...reader.read(line));
  }
  return { events, over: reader.over, ...reader.conclude(end) };
};

describe("recorded runs of gemini", () => {
  test("every recording is in the table", () => {
    const names = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl"));
    expect(names.map((name) => name.slice(0, -".jsonl".length)).toSorted()).toEqual(Object.keys(TRACES).toSorted());
  });

  test.each(Object.entries(TRACES))("R-X-08: %s", (name, expected) => {
    const { conversation, finalText, events } = read(name);
    expect(conversation.failure?.kind ?? null).toBe(expected.failure);
    if (expected.text !== undefined) expect(finalText).toContain(expected.text);
    if (expected.tools !== undefined) expect(conversation.toolCalls).toBe(expected.tools);
    expect(events.filter((event) => event.type === "tool.called").length).toBe(conversation.toolCalls);
    expect(events.filter((event) => event.type === "unknown")).toEqual([]);
  });

  test("R-000-07: tokens are those of the run alone, also in a session that was gone on with", () => {
    expect(read("resume-id").conversation).toMatchObject({
      session: { id: expect.any(String) },
      usage: { usd: null, inputTokens: expect.any(Number), outputTokens: expect.any(Number), cachedTokens: 0 },
    });
    expect(read("happy").conversation.usage).toEqual({
      usd: null,
      inputTokens: 23_656,
      outputTokens: 105,
      cachedTokens: 0,
    });
  });

  test("pieces of a message are one event, and what was said before a tool is not the last word", () => {
    const { events, finalText } = read("happy");
    expect(events.map((event) => event.type)).toEqual([
      "session",
      "message",
      "tool.called",
      "tool.returned",
      "message",
      "usage",
    ]);
    expect(finalText).not.toContain("first");
  });

  test("S15: noise, strange types and unknown events are tolerated", () => {
    const reader = createGeminiReader();
    for (const line of [
      "",
      "x",
      "[1]",
      "null",
      '{"type":7}',
      '{"type":"result"',
      '{"type":"message","role":"assistant"}',
    ])
      expect(reader.read(line)).toEqual([]);
    expect(reader.read('{"type":"novelty"}')).toEqual([{ type: "unknown", name: "novelty" }]);
    expect(reader.over).toBe(false);
  });

  test("a secret in pieces is taken out of the whole", () => {
    const reader = createGeminiReader((text) => text.replaceAll("sekret", "***"));
    for (const content of ["my sek", "ret is out"]) {
      reader.read(JSON.stringify({ type: "message", role: "assistant", content, delta: true }));
    }
    expect(reader.read('{"type":"result","status":"success"}')).toContainEqual({
      type: "message",
      text: "my *** is out",
    });
    const end = { reason: "exited", exitCode: 0, signal: null, stderrTail: "" } as const;
    expect(reader.conclude(end).finalText).toBe("my *** is out");
  });
});

test("a limit is a limit, though the program adds advice about quotas and logins to it", () => {
  const advice = "Please wait and try again later. To increase your limits, switch to another /auth method";
  const now = Date.parse("2026-11-17T13:00:00.000Z");
  const failed = (message: string) => {
    const reader = createGeminiReader(undefined, () => now);
    reader.read(
      JSON.stringify({ type: "result", status: "error", error: { type: "Error", message: `${message} ${advice}` } }),
    );
    const end = { reason: "exited", exitCode: 1, signal: null, stderrTail: "" } as const;
    return reader.conclude(end).conversation.failure;
  };
  const failure = (message: string) => failed(message)?.kind;
  expect(failure("[API Error: Too many requests.]")).toBe("rate_limit");
  expect(failure("[API Error: Resource has been exhausted (e.g. check quota).]")).toBe("quota");
  expect(failed("[API Error: Quota exceeded.\nSuggested retry after 10800s.]")).toMatchObject({
    kind: "quota",
    resetsAt: "2026-11-17T16:00:00.000Z",
  });
  expect(failure("[API Error: Quota exceeded.\nSuggested retry after 20s.]")).toBe("rate_limit");
  // Counted from midnight to midnight at Google; the program drops the time that the answer had.
  expect(failed("[API Error: You have exhausted your daily quota on this model.]")).toMatchObject({
    kind: "quota",
    resetsAt: "2026-11-18T08:00:00.000Z",
  });
});

test("a long sleep before its own retry is a limit with its end, and worth no slot", () => {
  const now = Date.parse("2026-11-17T13:00:00.000Z");
  const reader = createGeminiReader(undefined, () => now);
  reader.readError?.("Attempt 1 failed: Quota exceeded.");
  expect(reader.parkInMs).toBeNull();
  reader.readError?.("Suggested retry after 60s.. Retrying after 62000ms...");
  expect(reader.parkInMs).toBe(0);
  const end = { reason: "finished", exitCode: null, signal: null, stderrTail: "" } as const;
  expect(reader.conclude(end).conversation.failure).toMatchObject({
    kind: "rate_limit",
    resetsAt: "2026-11-17T13:01:00.000Z",
  });
  reader.read('{"type":"message","role":"assistant","content":"It works again."}');
  expect(reader.parkInMs).toBeNull();
});
