import { describe, expect, test } from "vitest";
import type { Report } from "../flow/outcome.ts";
import { readHandoffFile } from "./handoff-file.ts";

const report = (text: string): Report => {
  const read = readHandoffFile(text);
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
};
const healthOf = (text: string) => report(text).health;

test("a flow can name the headings that decide", () => {
  const read = readHandoffFile("## Stand\nblocked\n\n## Grund\nx\n\n## Fragen\n- which?\n", {
    health: "## Stand",
    reason: "## Grund",
    questions: "## Fragen",
  });
  expect(read).toMatchObject({ ok: true, value: { health: "blocked", reason: "x", questions: ["which?"] } });
});

describe("## Status", () => {
  test.each([
    ["complete", "complete"],
    ["`complete`", "complete"],
    ["**Complete**", "complete"],
    ["Status: blocked", "blocked"],
    ["**Status:** `FAILED`.", "failed"],
    ["incomplete.", "incomplete"],
    ["\n\n  complete  \r", "complete"],
    ["mostly complete", "mostly complete"],
    ["complete | blocked | failed | incomplete", "complete | blocked | failed | incomplete"],
    ["complete, I think", "complete, i think"],
    ["- complete", "- complete"],
    ["> complete", "> complete"],
    ["done", "done"],
    ["bloc\u212Aed", "bloc\u212Aed"],
  ])("R-002-44: %j gives the word %j", (line, word) => {
    expect(healthOf(`## Status\n${line}\n\n## Status reason\nx\n`)).toBe(word);
  });

  test.each([
    ["no section", "# Handoff\n\nStatus: complete"],
    ["an empty section", "## Status\n\n## Status reason\n"],
    ["only in a fence", "```\n## Status\ncomplete\n```"],
    ["the word in a fence", "## Status\n```\ncomplete\n```"],
    ["a deeper heading", "### Status\ncomplete"],
    ["a heading with the word", "## Status: complete"],
    ["another heading", "## Status of things\ncomplete"],
    ["in a comment", "## Status\n<!-- complete -->"],
    ["an empty file", ""],
  ])("%s gives a report without health, for the flow to fail", (_, text) => {
    expect(healthOf(text)).toBe(undefined);
  });

  test("R-002-44: the first heading outside fences counts", () => {
    expect(healthOf("```\n## Status\ncomplete\n```\n## Status\nfailed\n## Status\ncomplete")).toBe("failed");
  });

  test("S07: a second status that differs takes `complete` away", () => {
    expect(readHandoffFile("## Status\ncomplete\n## Status\nfailed")).toMatchObject({
      ok: false,
      error: { code: "verdict_ambiguous" },
    });
    expect(healthOf("## Status\ncomplete\n## Status\nComplete.")).toBe("complete");
  });

  test("S07: a second Abstract or Verdict section that differs makes the verdict ambiguous", () => {
    const twice = "## Status\ncomplete\n## Abstract\nverdict: APPROVED\n## Abstract\nverdict: REQUEST_CHANGES";
    expect(readHandoffFile(twice)).toMatchObject({ ok: false, error: { code: "verdict_ambiguous" } });
  });

  test("R-002-46: a missing reason is flagged when the status is not complete", () => {
    expect(report("## Status\nfailed\n## Status reason\nDisk full")).toEqual({ health: "failed", reason: "Disk full" });
    expect(report("## Status\nfailed\n## Status reason\nn/a").warnings).toEqual(["no reason given for status failed"]);
    expect(report("## Status\ncomplete\n## Status reason\n").warnings).toBe(undefined);
  });
});

describe("the verdict", () => {
  test("R-002-45: it is read beside the status, whatever that is", () => {
    expect(report("## Status\ncomplete\n## Abstract\nverdict: BLOCKED")).toMatchObject({
      health: "complete",
      verdict: "BLOCKED",
    });
    expect(report("## Status\nblocked\n## Abstract\nverdict: APPROVED")).toMatchObject({
      health: "blocked",
      verdict: "APPROVED",
    });
  });

  test.each([
    ["verdict: APPROVED", "APPROVED"],
    ["- **verdict**: `REQUEST_CHANGES`", "REQUEST_CHANGES"],
    ["```yaml\nverdict: n/a\n```", "n/a"],
    ['verdict: "BLOCKED"  ', "BLOCKED"],
    ["verdict: APPROVED # final", "APPROVED"],
    ["verdict: APPROVED|REQUEST_CHANGES|BLOCKED|n/a", "APPROVED|REQUEST_CHANGES|BLOCKED|n/a"],
    ["verdict:", undefined],
    ["> verdict: APPROVED", undefined],
  ])("the Abstract's %j gives %j", (lines, word) => {
    expect(report(`## Status\ncomplete\n## Abstract\n${lines}\n`).verdict).toBe(word);
  });

  test("the section Verdict is the fallback", () => {
    expect(report("## Status\ncomplete\n## Verdict\n\n**APPROVED**.\n").verdict).toBe("APPROVED");
    expect(
      report("## Status\ncomplete\n## Abstract\nverdict: REQUEST_CHANGES\n## Verdict\nRequest changes").verdict,
    ).toBe("REQUEST_CHANGES");
  });

  test.each([
    "## Abstract\nverdict: APPROVED\n## Verdict\nBLOCKED",
    "## Abstract\nverdict: APPROVED\nverdict: BLOCKED",
  ])("bad input 76: two different verdicts are ambiguous, unless the status decides alone: %j", (text) => {
    expect(readHandoffFile(`## Status\ncomplete\n${text}`)).toMatchObject({
      ok: false,
      error: { code: "verdict_ambiguous" },
    });
    expect(report(`## Status\nblocked\n${text}`)).toMatchObject({
      health: "blocked",
      warnings: [expect.anything(), expect.stringContaining("none was taken")],
    });
    expect(report(`## Status\nblocked\n${text}`).verdict).toBe(undefined);
  });
});

describe("the sections", () => {
  test.each([
    ["None", 0],
    ["- None.", 0],
    ["N/A", 0],
    ["-", 0],
    ["—", 0],
    ["", 0],
    ["- Which port?\n- And the host?", 2],
    ["1. Which port?\n   (8080?)\n2) And the host?", 2],
    ["Which port?\nOr which pipe?\n\nAnd the host?", 2],
  ])("R-002-31: Open Questions %j has %i items", (text, count) => {
    expect(report(`## Status\ncomplete\n## Open Questions\n${text}\n`).questions?.length ?? 0).toBe(count);
  });

  test("R-002-40: questions are kept verbatim, with their further lines", () => {
    expect(
      report("## Open Questions\n- Use `a` or **b**?\n  - a is fast\n\n  b is small\n\nThank you.").questions,
    ).toEqual(["Use `a` or **b**?\n  - a is fast\n\n  b is small"]);
  });

  test("R-002-12: findings, gaps and failures are issues, verbatim and in order", () => {
    const text =
      "## Findings\nSummary first.\n\n### Major\n- a.ts:3 leak (R1)\n### Other\n- style\n## Gaps\n1. ✗ row one\n\n## Failures\nNone";
    expect(report(text).issues).toEqual([{ severity: "major", description: "a.ts:3 leak (R1)" }, "style", "✗ row one"]);
  });

  test("the Abstract is read, and disagreement with the sections is flagged", () => {
    const text = [
      "## Status\ncomplete\n## Abstract\noutcome: Added login\nfiles: 2 created, 0 modified, 1 deleted\nnext_phase: reviewer\nopen_questions: 1\nblame: be, fe",
      "## Iteration\niter 2\n## Files Created\n- `src/a.ts` — login\n- src/b.ts new\n## Files Modified\nNone\n## Files Deleted\n",
    ].join("\n");
    expect(report(text)).toEqual({
      health: "complete",
      summary: "Added login",
      blame: ["be", "fe"],
      claimed: { loop: 1, next: "reviewer" },
      payload: {
        abstract: {
          outcome: "Added login",
          files: "2 created, 0 modified, 1 deleted",
          next_phase: "reviewer",
          open_questions: "1",
          blame: "be, fe",
        },
        iteration: 2,
        files: { created: ["src/a.ts", "src/b.ts"], modified: [], deleted: [] },
      },
      warnings: [
        "the Abstract says open_questions: 1, the section has 0",
        "the Abstract says 1 files deleted, the section lists 0",
      ],
    });
  });

  test("R-002-29: the section Blame names the tracks", () => {
    expect(report("## Blame\n- be\n- `fe`").blame).toEqual(["be", "fe"]);
    expect(report("## Blame\nnone").blame).toBe(undefined);
  });

  test("R-002-52: each line of Quality-Gate Results is a gate", () => {
    const text =
      "## Quality-Gate Results\n\n- PHPStan level 9: 0 errors\n```\nPHPUnit: 1 failure\n```\nlooks OK to me\n";
    expect(report(text).payload?.gates).toEqual([
      { name: "PHPStan level 9", line: "PHPStan level 9: 0 errors", clean: true },
      { name: "PHPUnit", line: "PHPUnit: 1 failure", clean: false },
      { name: "looks OK to me", line: "looks OK to me", clean: false },
    ]);
    expect(report("## Status\ncomplete").payload).toBe(undefined);
  });

  test("rows of DoD coverage have mark, row and evidence, and are counted; an unreadable mark counts as missing", () => {
    const text = [
      "## DoD coverage",
      "### Backend",
      "- ✓ Endpoint returns 404 — src/a.php:12",
      "- ✗ Log line",
      "- [x] ⚠ Index — not needed: table is small",
      "- maybe Cache — later",
      "### Tester scope",
      "- ⚠️ Tester scope Unit tests — tester",
      "- ⚠️ Tester scope — E2E tests",
    ].join("\n");
    const { payload, warnings } = report(text);
    expect(payload?.dod).toEqual([
      { mark: "✓", row: "Endpoint returns 404", evidence: "src/a.php:12", scope: "Backend" },
      { mark: "✗", row: "Log line", evidence: "", scope: "Backend" },
      { mark: "⚠️", row: "Index", evidence: "not needed: table is small", scope: "Backend" },
      { mark: "✗", row: "maybe Cache", evidence: "later", scope: "Backend" },
      { mark: "⚠️ Tester scope", row: "Unit tests", evidence: "tester", scope: "Tester scope" },
      { mark: "⚠️ Tester scope", row: "E2E tests", evidence: "", scope: "Tester scope" },
    ]);
    expect(payload?.dod_counts).toEqual({ met: 1, missing: 2, tester: 2, other: 1 });
    expect(warnings).toEqual(["1 DoD rows have no readable mark and count as missing (✗)"]);
  });

  test.each([
    ["too many issues", `## Findings\n${"- x\n".repeat(201)}`, "verdict_field_invalid"],
    ["a long issue", `## Findings\n- ${"x".repeat(4097)}`, "verdict_field_invalid"],
    ["too many gates", `## Quality-Gate Results\n${"a: OK\n".repeat(1001)}`, "verdict_field_invalid"],
    ["a huge file", "x".repeat(1024 * 1024 + 1), "verdict_too_large"],
  ])("bad input 79: %s is refused", (_, text, code) => {
    expect(readHandoffFile(`## Status\ncomplete\n${text}`)).toMatchObject({ ok: false, error: { code } });
  });
});
