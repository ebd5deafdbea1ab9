import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { factPathsOf, holds, parseCondition } from "./condition.ts";
import type { Json } from "../json.ts";

const facts: Readonly<Record<string, Json>> = {
  "plan.new_infra": true,
  "plan.complexity": "standard",
  "plan.count": 3,
  "plan.zero": 0,
  "plan.empty": "",
  "plan.list": [],
  "ticket.workflow": "oneshot",
  "last.dev-test.open_questions": 2,
};
const lookup = (path: readonly string[]) => facts[path.join(".")];

describe("what holds", () => {
  test.each([
    ["plan.new_infra", true],
    ["not plan.new_infra", false],
    ["not input.agent", true],
    ["input.agent", false],
    ["plan.complexity == 'standard'", true],
    ['plan.complexity == "simple"', false],
    ["plan.complexity != 'simple'", true],
    ["plan.complexity in [none, 'standard']", true],
    ["plan.missing in [none, 'standard']", true],
    ["plan.complexity not in ['simple', 'complex']", true],
    ["plan.missing == none", true],
    ["plan.missing != none", false],
    ["plan.missing < 3", false],
    ["plan.missing >= 0", false],
    ["not plan.missing < 3", true],
    ["plan.count > 2 and plan.count <= 3", true],
    ["plan.count < -1.5", false],
    ["plan.count == '3'", false],
    ["plan.complexity < 'z'", false],
    ["plan.zero", false],
    ["plan.empty", false],
    ["plan.list", false],
    ["last('dev-test').open_questions > 0", true],
    ["last('nobody').open_questions > 0", false],
    ["false or true and false", false],
    ["(false or true) and true", true],
    ["ticket.workflow == 'oneshot' or config.backlog_entry == 'oneshot'", true],
  ])("%s is %s", (text, expected) => {
    expect(holds(text, lookup)).toBe(expected);
  });

  test("and, or look no further than needed", () => {
    const asked: string[] = [];
    holds("a or b", (path) => {
      asked.push(path.join("."));
      return true;
    });
    expect(asked).toEqual(["a"]);
  });
});

describe("what is refused, with the column", () => {
  test.each([
    ["", 1],
    ["plan.x ==", 10],
    ["plan.x = 1", 8],
    ["a && b", 3],
    ["plan.", 6],
    ["'open", 1],
    ["a b", 3],
    ["(a", 3],
    ["a)", 2],
    ["a in b", 6],
    ["a in [1", 8],
    ["last('x')", 10],
    ["last(x).f", 6],
    ["last('x').a.b", 14],
    ["a.__proto__.b", 3],
    ["constructor", 1],
    ["process.exit()", 13],
    ["and", 1],
    ["a not b", 7],
    ["`x`", 1],
  ])("%s at column %i", (text, column) => {
    const result = parseCondition(text);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(result.error.code).toBe("invalid_condition");
    expect(result.error.message).toContain(`at column ${column}:`);
    expect(result.error.hint).toContain("last('stage').field");
  });

  test("more than 500 characters, more than 20 levels", () => {
    expect(parseCondition(`a${" or a".repeat(100)}`).ok).toBe(false);
    expect(parseCondition(`${"(".repeat(20)}a${")".repeat(20)}`).ok).toBe(true);
    expect(parseCondition(`${"(".repeat(21)}a${")".repeat(21)}`).ok).toBe(false);
    expect(parseCondition(`${"not ".repeat(21)}a`).ok).toBe(false);
  });

  test("a text that does not parse is not silently false", () => {
    expect(() => holds("a ==", () => null)).toThrow("not understood");
  });
});

test("the facts of a condition are named", () => {
  expect(factPathsOf("plan.new_infra and last('dev-test').open_questions > 0 or a in [b, 'c']")).toEqual([
    ["plan", "new_infra"],
    ["last", "dev-test", "open_questions"],
    ["a"],
    ["b"],
  ]);
  expect(factPathsOf("a ==")).toEqual([]);
});

test("no text makes the parser throw, and what parses can be evaluated", () => {
  const piece = fc.constantFrom(
    "a",
    ".",
    "b",
    "'x'",
    '"',
    "(",
    ")",
    "[",
    "]",
    ",",
    "and",
    "or",
    "not",
    "in",
    "==",
    "<",
    "1",
    "-2.5",
    "last",
    "none",
    " ",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ maxLength: 600 }),
        fc.array(piece, { maxLength: 60 }).map((p) => p.join(" ")),
      ),
      (text) => {
        const result = parseCondition(text);
        return !result.ok || typeof holds(text, () => undefined) === "boolean";
      },
    ),
    { numRuns: 2000 },
  );
});
