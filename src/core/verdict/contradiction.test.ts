import { describe, expect, test } from "vitest";
import type { Issue } from "../flow/outcome.ts";
import { contradictionOf } from "./contradiction.ts";

const judge = { expectsVerdict: true };
const worker = { expectsVerdict: false };

describe("a pass is contradicted by", () => {
  test.each<[string, Issue]>([
    ["the severity", { severity: "Critical", description: "x" }],
    ["a label", "critical: x"],
    ["brackets", "[critical] x"],
    ["emphasis", "**Critical**: x"],
  ])("a critical finding, told by %s", (_, issue) => {
    expect(contradictionOf(judge, { verdict: "APPROVED", issues: [issue] })).toContain("critical finding");
    expect(contradictionOf(worker, { issues: [issue] })).toBeUndefined();
  });

  test("rows that are not met, gaps and failures, for every role", () => {
    const payload = { dod: [{ mark: "✗", row: "r" }, null, "✗"], open_gaps: 2, open_failures: 1 };
    const said = contradictionOf(worker, { health: "complete", payload });
    expect(said).toBe("The report says complete, but a row of the DoD coverage is ✗ (r), and 2 more.");
  });
});

test("words that only begin alike, other severities and other marks contradict nothing", () => {
  const issues: Issue[] = ["critical path is slow", "criticality: low", { severity: "minor", description: "x" }];
  const payload = {
    dod: [
      { mark: "✓", row: "r" },
      { mark: "⚠️", row: "s" },
    ],
    open_gaps: 0,
    open_failures: "3",
  };
  expect(contradictionOf(judge, { verdict: "APPROVED", issues, payload })).toBeUndefined();
});
