import { describe, expect, test } from "vitest";
import { readStated } from "./stated.ts";

const COMPLEXITY = { fact: "plan.complexity", labels: ["Complexity"], oneOf: ["simple", "standard", "complex"] };
const INFRA = { fact: "plan.new_infra", labels: ["New infrastructure", "New infra"], oneOf: "yes-no" as const };

describe("R-002-02: the plan's complexity", () => {
  test.each([
    "## Complexity: simple",
    "Complexity: simple",
    "complexity: Simple",
    "**Complexity:** simple",
    "**Complexity**: `simple`",
    "__Complexity:__ simple.",
    "- Complexity: simple",
    "1. Complexity: simple",
    "| Complexity | simple |",
    "## Complexity\n\nsimple",
    "## Complexity ##\n\n**Simple**",
    "**Complexity:**\nsimple",
    "---\ncomplexity: simple\n---\n# Plan",
    "Complexity: simple (one typo)",
    "Complexity: simple — copy edit",
    "Complexity: simple\n\n## Complexity\nsimple",
    "# Plan\r\n## Complexity: simple\r\n",
  ])("%j says simple", (text) => {
    expect(readStated(text, COMPLEXITY)).toEqual({ ok: true, value: "simple" });
  });

  test.each([
    "",
    "# Plan\nThe complexity is low.",
    "```\nComplexity: simple\n```",
    "> Complexity: simple",
    "<!-- Complexity: simple -->",
    "Time complexity: linear",
    "complexity simple",
  ])("%j says nothing", (text) => {
    expect(readStated(text, COMPLEXITY)).toEqual({ ok: true, value: undefined });
  });

  test.each([
    ["Complexity: epic", 'says "Complexity: epic"; it must be simple, standard or complex'],
    ["Complexity: simple | standard | complex", "it must be simple, standard or complex"],
    ["Complexity: simple, maybe complex", "it must be simple, standard or complex"],
    ["Complexity: simple or standard", "it must be simple, standard or complex"],
    ["Complexity: not simple", "it must be"],
    ["Complexity: simpleton", "it must be"],
    ["Complexity: constructor", "it must be"],
    ["## Complexity\n\n## Next", "it must be"],
    ["## Complexity", "it must be"],
    ["Complexity: simple\nComplexity: complex", "says two things under Complexity: simple and complex"],
    [`Complexity: ${"x".repeat(5000)}`, "…"],
    ["Complexity: \u001b[31msimple", "it must be"],
  ])("%j is refused with a sentence", (text, sentence) => {
    const read = readStated(text, COMPLEXITY);
    expect(read.ok).toBe(false);
    expect(read.ok ? "" : read.error).toContain(sentence);
    expect(read.ok ? "" : read.error).not.toMatch(/\p{Cc}/u);
  });
});

test.each([
  ["New infrastructure: yes", true],
  ["New infra: Yes, a queue", true],
  ["## New infrastructure\nno", false],
  ["New infrastructure: none", false],
  ["New infrastructure: n/a", false],
  ["**New infrastructure:** No.", false],
  ["# Plan", undefined],
])("R-002-08: %j says %s about new infrastructure", (text, value) => {
  expect(readStated(text, INFRA)).toEqual({ ok: true, value });
});

test.each(["New infrastructure: a Redis cluster", "New infrastructure: yes or no", "## New infrastructure\n- Redis"])(
  "R-002-08: %j is neither yes nor no",
  (text) => expect(readStated(text, INFRA)).toMatchObject({ ok: false, error: expect.stringContaining("yes or no") }),
);

test("a long hostile text is read in linear time", () => {
  const text = `${"|".repeat(200_000)}\n${"#".repeat(200_000)}\n${"Complexity".repeat(20_000)}:\n${"*".repeat(200_000)}`;
  const start = process.cpuUsage().user;
  expect(readStated(text, COMPLEXITY).ok).toBe(true);
  expect(process.cpuUsage().user - start).toBeLessThan(2_000_000);
});
