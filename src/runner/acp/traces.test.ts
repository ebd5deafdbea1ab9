import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bench, openBench } from "../../../test/fixtures/agents/try-agent.ts";
import type { AgentEvent, AttemptEnd, Session } from "../runner.ts";
import { createAcpRunner } from "./runner.ts";
import { optional } from "../../core/optional.ts";

const FOLDER = new URL("../../../test/fixtures/traces/acp/", import.meta.url);
const VERDICT = '"verdict":"APPROVED"';

type Expected = {
  readonly failure: string | null;
  readonly text?: string;
  readonly tools?: number;
  readonly usage?: object | null;
  readonly version: string;
  readonly session?: Session;
};

const tokens = (inputTokens: number, outputTokens: number, usd: number | null = null) => ({
  usd,
  inputTokens,
  outputTokens,
  cachedTokens: 0,
});

/** The expected result of every recorded conversation. */
const TRACES: Readonly<Record<string, Expected>> = {
  "claude-401": { failure: "auth", version: "0.99.1" },
  // The recorded client canceled; the test does not.
  "claude-cancel": { failure: "agent_crashed", version: "0.99.1" },
  "claude-happy": { failure: null, text: VERDICT, tools: 1, usage: tokens(23_186, 106, 0.100072), version: "0.99.1" },
  "claude-load": {
    failure: null,
    text: "Just text, no tool. Said: SCENARIO:text again",
    tools: 0,
    usage: tokens(11_782, 12, 0.152712 - 0.100072),
    version: "0.99.1",
    session: {
      id: "c4e64f71-6b5f-4b33-9a5f-fef5f385e193",
      totals: { usd: 0.100072, inputTokens: null, outputTokens: null, cachedTokens: null },
    },
  },
  "claude-mcp": { failure: null, text: "Verdict submitted", tools: 1, version: "0.99.1" },
  "codex-401": { failure: "auth", version: "2.6.0" },
  "codex-cancel": { failure: "agent_crashed", version: "2.6.0" },
  "codex-happy": { failure: null, text: VERDICT, tools: 1, usage: tokens(21_567, 112), version: "2.6.0" },
  "codex-mcp": { failure: null, text: "Verdict submitted", tools: 1, version: "2.6.0" },
  "codexzed-happy": { failure: null, text: VERDICT, tools: 1, usage: null, version: "0.16.0" },
  "gemini-401": { failure: "auth", version: "0.61.0" },
  "gemini-cancel": { failure: "agent_crashed", version: "0.61.0" },
  "gemini-happy": { failure: null, text: VERDICT, tools: 1, version: "0.61.0" },
  "gemini-mcp": { failure: null, text: "Verdict submitted", tools: 1, version: "0.61.0" },
  "opencode-401": { failure: "auth", version: "1.18.33" },
  "opencode-happy": { failure: null, text: VERDICT, tools: 1, version: "1.18.33" },
  "opencode-mcp": { failure: null, text: "Verdict submitted", tools: 1, version: "1.18.33" },
};

let bench: Bench;
beforeAll(() => {
  bench = openBench();
});
afterAll(() => bench.close());

const replay = async (name: string, session?: Session): Promise<AttemptEnd & { events: AgentEvent[] }> => {
  const events: AgentEvent[] = [];
  const file = (path: string): string => fileURLToPath(new URL(path, FOLDER));
  const spec = bench.spec({
    argv: [process.execPath, file("replay.mjs"), file(`${name}.jsonl`)],
    agent: {
      options: { permission: "edit", mcpServers: {}, teams: false },
      scratch: bench.folder,
      folders: [],
      repositorySettings: false,
      ...optional({ session }),
    },
  });
  const end = await createAcpRunner().run(spec, {
    signal: new AbortController().signal,
    onEvent: (event) => events.push(event),
  });
  return { ...end, events };
};

describe("recorded conversations over the protocol", () => {
  test("every recording is in the table", () => {
    const names = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl"));
    expect(names.map((name) => name.slice(0, -".jsonl".length)).toSorted()).toEqual(Object.keys(TRACES).toSorted());
  });

  test.each(Object.entries(TRACES))("R-X-08: %s", async (name, expected) => {
    const end = await replay(name, expected.session);
    const { conversation } = end;
    expect(conversation?.failure?.kind ?? null).toBe(expected.failure);
    expect(conversation?.version).toBe(expected.version);
    expect(conversation?.session?.id).toEqual(expect.any(String));
    if (expected.text !== undefined) expect(end.stdoutTail).toContain(expected.text);
    if (expected.tools !== undefined) {
      expect(conversation?.toolCalls).toBe(expected.tools);
      expect(end.events.filter((event) => event.type === "tool.called").length).toBe(expected.tools);
      expect(end.events.filter((event) => event.type === "tool.returned").length).toBe(expected.tools);
      expect(end.stdoutTail).not.toContain("I will write the file first.");
    }
    if (expected.usage !== undefined) {
      const usage = expected.usage as { usd: number | null } | null;
      expect(conversation?.usage).toEqual(
        usage === null || usage.usd === null ? usage : { ...usage, usd: expect.closeTo(usage.usd, 9) },
      );
    }
    expect(end.events.filter((event) => event.type === "unknown")).toEqual([]);
  });
});
