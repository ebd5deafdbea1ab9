import * as fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { agentOptionKeys } from "./agent-options.ts";
import { RUNNERS } from "./runner-names.ts";
import { storedOptions } from "./stored-options.ts";

/** The same keys by the schema that files are checked with. */
const schema = z.object({
  ...agentOptionKeys,
  model: z.string().optional(),
  command: z.array(z.string()).optional(),
  max_turns: z.int().min(1).max(10_000).optional(),
});

function bySchema(value: unknown): unknown {
  const parsed = schema.safeParse(value);
  return parsed.success ? Object.fromEntries(Object.entries(parsed.data).filter(([, item]) => item !== undefined)) : {};
}

const word = fc.constantFrom("", "a", "native", "low", "read", "fresh", "ask", "x".repeat(201));
const server = fc.record(
  {
    command: fc.array(word, { maxLength: 2 }),
    env: fc.dictionary(word, fc.oneof(word, fc.integer()), { maxKeys: 1 }),
    url: fc.constantFrom("https://example.org/mcp", "http://localhost:1", "ftp://example.org", "none", 7),
    headers: fc.dictionary(word, word, { maxKeys: 1 }),
    other: word,
  },
  { requiredKeys: [] },
);
const anything = fc.oneof(word, fc.boolean(), fc.double(), fc.integer({ min: -1, max: 10_001 }), fc.constant(null));
const rung = fc.oneof(
  fc.constantFrom("claude", "codex", "gemini", "opencode", "command"),
  fc.record({
    runner: fc.constantFrom("claude", "codex", "outside"),
    model: fc.constantFrom(undefined, "opus", "", "x".repeat(101)),
    effort: fc.constantFrom(undefined, "high", "huge"),
  }),
);
const options = fc.record(
  {
    runner: fc.oneof(fc.constantFrom(...RUNNERS), word, fc.array(rung, { maxLength: 9 })),
    transport: fc.oneof(fc.constantFrom("acp", "native"), anything),
    effort: fc.oneof(fc.constantFrom("minimal", "max"), anything),
    tools: fc.oneof(fc.array(word, { maxLength: 3 }), anything),
    deny_tools: fc.array(fc.constant("Bash"), { minLength: 199, maxLength: 201 }),
    permission: fc.oneof(fc.constantFrom("full", "ask"), anything),
    max_cost: anything,
    system_prompt: fc.oneof(word, fc.constantFrom("x".repeat(50_000), "x".repeat(50_001))),
    mcp: fc.dictionary(fc.constantFrom("github", "Bad name", "a-1"), fc.oneof(server, anything), { maxKeys: 2 }),
    teams: anything,
    session: fc.oneof(fc.constantFrom("clean", "resume"), anything),
    questions: fc.oneof(fc.constantFrom("deny"), anything),
    model: anything,
    command: fc.oneof(fc.array(anything, { maxLength: 2 }), anything),
    max_turns: anything,
    unknown: anything,
  },
  { requiredKeys: [] },
);
/** Of many keys one would nearly always be wrong. */
const few = fc
  .tuple(options, fc.integer({ min: 0, max: 14 }))
  .map(([all, first]) => Object.fromEntries(Object.entries(all).slice(first, first + 2)));

test("options that are stored are read as the schema of the files reads them", () => {
  fc.assert(
    fc.property(few, (value) => {
      expect(storedOptions(value)).toEqual(bySchema(value));
    }),
    { numRuns: 2000 },
  );
  for (const value of [null, undefined, 7, "text", [], ["claude"], { runner: undefined }])
    expect(storedOptions(value)).toEqual(bySchema(value));
});

test("each key is read", () => {
  const all = {
    runner: "claude",
    transport: "acp",
    effort: "high",
    tools: ["Read"],
    deny_tools: ["Bash"],
    permission: "read",
    max_cost: 2.5,
    system_prompt: "Be short.",
    mcp: { files: { command: ["mcp"], env: { A: "b" } }, web: { url: "https://example.org/mcp", headers: { A: "b" } } },
    teams: true,
    session: "resume",
    questions: "deny",
    model: "large",
    command: ["claude", "--flag"],
    max_turns: 9,
  };
  expect(Object.keys(all).toSorted()).toEqual(Object.keys(schema.shape).toSorted());
  expect(storedOptions(all)).toEqual(all);
});
