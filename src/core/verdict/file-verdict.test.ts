import { describe, expect, test } from "vitest";
import { readFileVerdict } from "./file-verdict.ts";

const wordOf = (text: string) => {
  const read = readFileVerdict(text);
  return read.ok ? read.value.verdict : read.error.code;
};

describe("R-001-23: the verdict line", () => {
  test.each([
    ["Verdict: APPROVE", "APPROVE"],
    ["**Verdict:** REVISE", "REVISE"],
    ["**Verdict**: REVISE", "REVISE"],
    ["**Verdict: REDESIGN**", "REDESIGN"],
    ["Verdict: **APPROVE**.", "APPROVE"],
    ["## Verdict: APPROVE", "APPROVE"],
    ["- verdict: approve", "APPROVE"],
    ["* **VERDICT:** `Revise`", "REVISE"],
    ["\uFEFFVerdict:APPROVE\r", "APPROVE"],
    ["Verdict: APPROVE (8/10)", "APPROVE"],
    ["Verdict: REVISE — see below", "REVISE"],
    ["Verdict: REVISE, sadly", "REVISE"],
  ])("%j is read as %s", (line, word) => {
    expect(wordOf(`# Review\n\n${line}\n\nText.`)).toBe(word);
  });

  test.each(["Verdict: APPROVED", "Verdict: SHIP", "Verdict: LGTM"])(
    "%j is returned as it is, to be unknown",
    (line) => {
      expect(wordOf(line)).toBe(line.slice("Verdict: ".length));
    },
  );

  test.each([
    "Verdict: APPROVE with changes",
    "Verdict: APPROVE | REVISE | REDESIGN",
    "Verdict: APPROVE/REVISE",
    "Verdict: APPROVE, REVISE or REDESIGN",
    "Verdict: APPROVE (unless REVISE is better)",
    "Verdict: NOT APPROVE",
    "Verdict: [APPROVE]",
    "Verdict: APPROVE?",
    "Verdict: ＡＰＰＲＯＶＥ",
  ])("R-X-03: %j is not an approval", (line) => {
    expect(wordOf(line)).not.toBe("APPROVE");
  });

  test.each([
    ["nothing", ""],
    ["blanks", " \n\n"],
    ["prose", "I approve of this. My verdict is APPROVE."],
    ["no word", "Verdict:\nAPPROVE"],
    ["no colon", "Verdict APPROVE"],
    ["a fence", "```\nVerdict: APPROVE\n```"],
    ["a fence that never ends", "~~~md\nVerdict: APPROVE"],
    ["a fence with a shorter one inside", "````\n```\nVerdict: APPROVE\n```\n````"],
    ["a quote", "> Verdict: APPROVE"],
    ["an HTML comment", "<!--\nVerdict: APPROVE\n-->"],
    ["a long line", `Verdict: APPROVE ${" ".repeat(1000)}x`],
  ])("R-001-25, bad input 83: %s gives no verdict", (_, text) => {
    expect(wordOf(text)).toBe("verdict_missing");
  });

  test("lines after a closed fence count again", () => {
    expect(wordOf("```\nVerdict: APPROVE\n```\nVerdict: REVISE")).toBe("REVISE");
  });

  test.each([
    ["Verdict: APPROVE\nVerdict: REVISE", "REVISE"],
    ["Verdict: REDESIGN\nVerdict: REVISE\nVerdict: APPROVE", "REDESIGN"],
    ["Verdict: APPROVE\nVerdict: maybe", "MAYBE"],
    ["Verdict: maybe\nVerdict: REDESIGN\nVerdict: perhaps", "REDESIGN"],
  ])("of %j the worse counts, with a warning", (text, word) => {
    expect(readFileVerdict(text)).toMatchObject({
      ok: true,
      value: { verdict: word, warnings: [expect.stringContaining("worst")] },
    });
  });

  test("the order of the words is the caller's", () => {
    expect(readFileVerdict("Verdict: NO\nVerdict: YES", ["YES", "NO"])).toMatchObject({
      ok: true,
      value: { verdict: "NO" },
    });
    expect(readFileVerdict("Verdict: NO\nVerdict: YES", [])).toMatchObject({
      ok: false,
      error: { code: "verdict_ambiguous" },
    });
  });
});

describe("the score", () => {
  test.each([
    ["Score: 7", 7],
    ["Score: 7/10", 7],
    ["**Score:** 8 / 10", 8],
    ["- **Score**: 9.5/10 (good)", 9.5],
    ["Score: 10.", 10],
    ["Score: 9\nScore: 3", 3],
  ])("R-001-24: %j is read", (line, score) => {
    expect(readFileVerdict(`Verdict: APPROVE\n${line}`)).toMatchObject({
      ok: true,
      value: { verdict: "APPROVE", score },
    });
  });

  test.each([
    "Score: 0",
    "Score: 11",
    "Score: 75/100",
    "Score: 80%",
    "Score: -3",
    "Score: high",
    "Score: 8 out of 100",
    "Score: 1e1",
  ])("R-001-24: %j is ignored with a warning", (line) => {
    const read = readFileVerdict(`Verdict: APPROVE\n${line}`);
    expect(read).toMatchObject({
      ok: true,
      value: { verdict: "APPROVE", warnings: [expect.stringContaining("ignored")] },
    });
    expect(read.ok && "score" in read.value).toBe(false);
  });

  test("R-001-24: without a score the word stands alone", () => {
    expect(readFileVerdict("Verdict: APPROVE")).toEqual({ ok: true, value: { verdict: "APPROVE" } });
  });
});

test("R-001-29: the rest of the file is passed on, not interpreted, up to 16 KiB", () => {
  expect(readFileVerdict("# Review\nVerdict: REVISE\nScore: 6\n- fix `a`")).toEqual({
    ok: true,
    value: { verdict: "REVISE", score: 6, summary: "# Review\n- fix `a`" },
  });
  const long = readFileVerdict(`Verdict: REVISE\n${"😀".repeat(20_000)}`);
  expect(long.ok && long.value.summary?.length).toBeLessThanOrEqual(16_385);
  expect(long.ok && long.value.summary?.isWellFormed()).toBe(true);
});
