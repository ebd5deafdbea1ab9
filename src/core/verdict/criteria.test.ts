import { describe, expect, test } from "vitest";
import type { CheckResult } from "../flow/check-result.ts";
import { citedIn } from "./cited.ts";
import { citedPaths, criteriaIn, isGap, verified } from "./criteria.ts";

const CHECK: CheckResult = {
  name: "test",
  command: "npm test",
  state: "passed",
  exitCode: 0,
  commit: "abcdef0123456789",
  tree: "t1",
  startedAt: "",
  endedAt: "",
  log: "",
};
const LINES = new Map<string, number | null>([
  ["src/a.ts", 10],
  ["src/gone.ts", null],
]);
const known = { linesOf: (path: string) => LINES.get(path) ?? null, checks: [CHECK], commit: "abcdef0123456789" };
const row = (evidence: string, mark = "✓") => criteriaIn({ dod: [{ mark, row: "it works", evidence }] });
const state = (evidence: string, mark?: string) => verified(row(evidence, mark), known)[0];

describe("R-002-15: what a row cites", () => {
  test.each([
    ["src/a.ts:3", "reported", "what it cites is in the commit"],
    ["`src/a.ts:3-9`, see there.", "reported", "what it cites is in the commit"],
    ["src/a.ts:11", "missing", "src/a.ts has 10 lines, not 11"],
    ["src/a.ts:0", "missing", "src/a.ts has 10 lines, not 0"],
    ["src/gone.ts:1", "missing", "src/gone.ts is not in the commit"],
    ["src/a.ts:1 and src/gone.ts", "missing", "src/gone.ts is not in the commit"],
    ["`npm test` exit 0", "run", "Passrail ran test"],
    ["`test`", "run", "Passrail ran test"],
    ["`npm test` exit 1", "missing", "Passrail ran test itself, and it ended with 0"],
    ["`make all` exited with 0", "reported", ""],
    ["src/a.ts:1 in commit abcdef0", "reported", "what it cites is in the commit"],
    ["src/a.ts:1 in commit 0000000", "missing", "it is about commit 0000000, and the work is abcdef012345"],
    ["", "missing", "no evidence"],
    ["Node.js does it, and/or the framework", "missing", "it cites no file and no command"],
    ["../../etc/passwd:1", "missing", "it cites no file and no command"],
    ["/etc/passwd:1", "missing", "it cites no file and no command"],
  ])("%s is %s", (evidence, wanted, why) => {
    expect(state(evidence)).toMatchObject({ state: wanted, why });
  });

  test("rows that are not met, or another stage's, are no gaps", () => {
    for (const mark of ["✗", "⚠️", "⚠️ Tester scope"]) {
      const found = state("", mark);
      expect(found === undefined ? true : isGap(found)).toBe(false);
    }
    const met = state("");
    expect(met === undefined ? false : isGap(met)).toBe(true);
  });

  test("a structured report cites by fields", () => {
    const criteria = criteriaIn({
      criteria: [
        { criterion: "a", met: true, evidence: { command: "npm test", exit_code: 0 } },
        { criterion: "b", met: true, evidence: { path: "src/a.ts", line: 99 } },
        { criterion: "c", met: true, evidence: 7 },
        "junk",
      ],
    });
    expect(verified(criteria, known).map((each) => each.state)).toEqual(["run", "missing", "missing"]);
  });

  test("a red check proves nothing, and files that nobody could look up stay a report", () => {
    const red = { ...known, checks: [{ ...CHECK, state: "failed" as const, exitCode: 1 }] };
    expect(verified(row("`npm test` exit 0"), red)[0]).toMatchObject({ state: "missing" });
    const blind = { linesOf: () => undefined, checks: [], commit: null };
    expect(verified(row("src/gone.ts:1"), blind)[0]).toMatchObject({ state: "reported", why: "" });
  });
});

test("hostile evidence is read in linear time, and names few paths", () => {
  const texts = [
    "a/".repeat(500_000),
    "a.b:1 ".repeat(200_000),
    "`".repeat(500_000),
    `${"x".repeat(299)}/`.repeat(3000),
  ];
  for (const text of texts) {
    const { paths, commands } = citedIn(text);
    expect(paths.length).toBeLessThanOrEqual(10);
    expect(commands.length).toBeLessThanOrEqual(5);
  }
  const many = {
    dod: Array.from({ length: 5000 }, (_, index) => ({ mark: "✓", row: "r", evidence: `f${index}.ts:1` })),
  };
  expect(criteriaIn(many)).toHaveLength(200);
  expect(citedPaths(criteriaIn(many))).toHaveLength(200);
});
