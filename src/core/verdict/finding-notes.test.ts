import { expect, test } from "vitest";
import { findingLines, findingsSection, noteOf, withNotes } from "./finding-notes.ts";

test.each([
  ["F1: fixed — the check is back", { id: "F1", state: "fixed", said: "the check is back" }],
  ["**F12**: not fixed: src/a.ts:3 is as it was", { id: "F12", state: "not_fixed", said: "src/a.ts:3 is as it was" }],
  ["`F2` — withdrawn. It was wrong", { id: "F2", state: "withdrawn", said: "It was wrong" }],
  ["F3 (major): NOT_FIXED - no", { id: "F3", state: "not_fixed", said: "no" }],
  ["F4: moved the check into open()", { id: "F4", said: "moved the check into open()" }],
  ["F5: fixed", { id: "F5", state: "fixed", said: "" }],
])("%s speaks of a finding", (text, note) => {
  expect(noteOf(text)).toEqual(note);
});

test.each(["F0: fixed", "F1 is a key on the keyboard", "the F1: key", "f1: fixed", "F1fixed", ""])(
  "%j is a finding of its own",
  (text) => {
    expect(noteOf(text)).toBeUndefined();
  },
);

test("statements among the issues stand apart, and nothing else moves", () => {
  const issues = ["F1: fixed — seen", { severity: "major", description: "F2: not_fixed — no" }, "new one"];
  expect(withNotes({ verdict: "REVISE", issues })).toEqual({
    verdict: "REVISE",
    issues: ["new one"],
    findings: [
      { id: "F1", state: "fixed", said: "seen" },
      { id: "F2", state: "not_fixed", said: "no" },
    ],
  });
  const plain = { verdict: "SHIP", issues: ["new one"] };
  expect(withNotes(plain)).toBe(plain);
});

test("a review file has its findings below a heading, outside code", () => {
  const text =
    "Verdict: REVISE\n\n## Findings\n\n### Critical\n\n1. a hole\n\n### Minor\n\n- a name\n\n```\n- no finding\n```\n\n## Not checked\n\n- speed\n";
  expect(findingsSection(text)).toMatchObject([
    { severity: "critical", description: "a hole" },
    { severity: "minor", description: expect.stringContaining("a name") },
  ]);
});

test("a WORK_RESULT value is a line each", () => {
  expect(findingLines("F1: fixed — seen\n- new one\n\nNone\n")).toEqual(["F1: fixed — seen", "new one"]);
});
