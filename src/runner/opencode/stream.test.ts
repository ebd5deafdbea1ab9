import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../runner.ts";
import type { ProgramEnd } from "../process/stream.ts";
import { createOpencodeReader } from "./stream.ts";

const FOLDER = new URL("../../../test/fixtures/traces/opencode/", import.meta.url);
const ENDS = JSON.parse(readFileSync(new URL("ends.json", FOLDER), "utf8")) as Readonly<Record<string, ProgramEnd>>;
const VERDICT = '"verdict":"APPROVED"';

type Expected = { readonly failure: string | null; readonly text?: string; readonly tools?: number };

/** The expected result of every recorded run. */
const TRACES: Readonly<Record<string, Expected>> = {
  ask: { failure: "denied", tools: 1 },
  bash: { failure: null, text: '"verdict":"COMPLETE"', tools: 1 },
  // Ended by our limit: not its own failure.
  drop: { failure: null },
  e400: { failure: "request_refused" },
  e401: { failure: "auth" },
  e500: { failure: null },
  flaky: { failure: null, text: VERDICT, tools: 0 },
  happy: { failure: null, text: VERDICT, tools: 1 },
  "mcp-http": { failure: null, text: "Verdict submitted", tools: 1 },
  "mcp-stdio": { failure: null, text: "Verdict submitted", tools: 1 },
  resume: { failure: null, tools: 0 },
  "resume-missing": { failure: "session_lost" },
  "sess-1": { failure: null, tools: 1 },
  sigint: { failure: "agent_crashed" },
  "sigint-tool": { failure: "agent_crashed" },
  "sigkill-tool": { failure: "agent_crashed" },
  sigterm: { failure: "agent_crashed" },
  "sigterm-tool": { failure: "agent_crashed" },
  steps: { failure: null, tools: 3 },
};

const read = (name: string) => {
  const end = ENDS[name];
  if (end === undefined) throw new Error(`no end of ${name}`);
  const reader = createOpencodeReader("fake/fake-model");
  const events: AgentEvent[] = [];
  for (const line of readFileSync(new URL(`${name}.jsonl`, FOLDER), "utf8").split("\n")) {
    if (line !== "") events.push(...reader.read(line));
  }
  return { events, over: reader.over, ...reader.conclude(end) };
};

describe("recorded runs of opencode", () => {
  test("every recording is in the table", () => {
    const names = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl"));
    expect(names.map((name) => name.slice(0, -".jsonl".length)).toSorted()).toEqual(Object.keys(TRACES).toSorted());
  });

  test.each(Object.entries(TRACES))("R-X-08: %s", (name, expected) => {
    const { conversation, finalText, events } = read(name);
    expect(conversation.failure?.kind ?? null).toBe(expected.failure);
    if (expected.text !== undefined) expect(finalText).toContain(expected.text);
    if (expected.tools !== undefined) expect(conversation.toolCalls).toBe(expected.tools);
    expect(events.filter((event) => event.type === "unknown")).toEqual([]);
  });

  test("R-X-08: cost and tokens are those of all steps together", () => {
    const { conversation, over } = read("happy");
    expect(conversation).toMatchObject({ turns: 2, model: "fake/fake-model", session: { totals: null } });
    expect(conversation.usage).toEqual({
      usd: expect.closeTo(0.025731 + 0.026004, 9),
      inputTokens: 8_312 + 8_408,
      outputTokens: 53 + 52,
      cachedTokens: 0,
    });
    expect(over).toBe(true);
  });

  test("S05: what was refused is told and recorded", () => {
    const { conversation, events } = read("ask");
    const line = "bash: echo tool-was-here > bash.txt && cat bash.txt";
    expect(conversation.denials).toEqual([line]);
    expect(events).toContainEqual({ type: "notice", kind: "denied", text: line });
  });

  test("S15: noise, strange types and unknown events are tolerated", () => {
    const reader = createOpencodeReader(null);
    for (const line of ["", "x", "[1]", "null", '{"type":7}', '{"type":"text","part":{"text":5}}'])
      expect(reader.read(line)).toEqual([]);
    expect(reader.read('{"type":"novelty"}')).toEqual([{ type: "unknown", name: "novelty" }]);
  });
});

test("a request that it repeats in silence is told by its log: as a limit, or as a provider that fails", () => {
  const line = (words: string, small = false) =>
    `timestamp=2026-11-17T23:14:54.246Z level=ERROR message="stream error" small=${small} error.error="AI_APICallError: ${words}"`;
  const cut = { reason: "idle_timeout", exitCode: null, signal: null, stderrTail: "" } as const;
  const failure = (...lines: readonly string[]) => {
    const reader = createOpencodeReader(null);
    for (const each of lines) reader.readError?.(each);
    return { parks: reader.parkInMs, ...reader.conclude(cut).conversation.failure };
  };
  expect(failure(line("This request would exceed your rate limit."))).toMatchObject({ kind: "quota", parks: 30_000 });
  expect(failure(line("Rate limit reached. Please try again in 20s."))).toMatchObject({
    kind: "rate_limit",
    resetsAt: expect.any(String),
  });
  expect(failure(line("the model is on fire"))).toMatchObject({ kind: "server_error", parks: null });
  // The request for a title is not the work.
  expect(failure(line("rate limit", true))).toEqual({ parks: null });
  const resumed = createOpencodeReader(null);
  resumed.readError?.(line("rate limit"));
  resumed.read('{"type":"step_start"}');
  expect([resumed.parkInMs, resumed.conclude(cut).conversation.failure]).toEqual([null, null]);
});
