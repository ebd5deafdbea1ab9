import { describe, expect, test } from "vitest";
import { readWorkResult } from "./work-result.ts";

const BLOCK = [
  "WORK_RESULT:",
  "  success: true",
  "  stage_completed: implement",
  "  next_status: Needs Validate",
  "  pr_url:",
  "  merge_status: pr_created",
  "  summary: |",
  "    First line",
  "",
  "      indented: yes",
  "  error:",
].join("\n");

const codeOf = (text: string) => {
  const read = readWorkResult(text);
  return read.ok ? read.value.health : read.error.code;
};

describe("WORK_RESULT", () => {
  test.each([
    ["at the end", `Done.\n${BLOCK}`],
    ["with text after it", `${BLOCK}\n\nThat was all.\n  success: false`],
    ["in a fence", `\`\`\`\n${BLOCK}\n\`\`\``],
    ["with CRLF", BLOCK.replaceAll("\n", "\r\n")],
  ])("the block is read %s; next_status is a claim", (_, text) => {
    expect(readWorkResult(text)).toEqual({
      ok: true,
      value: {
        health: "success",
        summary: "First line\n\n  indented: yes",
        claimed: { status: "Needs Validate" },
        payload: {
          success: "true",
          stage_completed: "implement",
          next_status: "Needs Validate",
          merge_status: "pr_created",
          summary: "First line\n\n  indented: yes",
        },
      },
    });
  });

  test("success: false is a failure with its error", () => {
    expect(readWorkResult("WORK_RESULT:\n  success: false\n  error: tests fail")).toMatchObject({
      ok: true,
      value: { health: "failure", reason: "tests fail" },
    });
  });

  const failure = "WORK_RESULT:\n  success: false";
  test.each([
    ["the last", `${BLOCK}\n\n${failure}`],
    ["the first", `${failure}\n\n${BLOCK}`],
    ["far away", `${failure}\n${"noise\n".repeat(60_000)}${BLOCK}`],
    ["bold", `${BLOCK}\n\n**WORK_RESULT:**\n  success: false`],
    ["a heading", `${BLOCK}\n\n### WORK_RESULT:\n  success: false`],
  ])("S07: two blocks that differ are ambiguous, also where the second is %s", (_, text) => {
    expect(codeOf(text)).toBe("verdict_ambiguous");
  });

  test("S07: a bold block is read like a plain one, and the same block twice is one", () => {
    expect(codeOf("**WORK_RESULT:**\n  success: false")).toBe("failure");
    expect(codeOf(`${BLOCK}\n${BLOCK}`)).toBe("success");
  });

  test("S07: with a nonce only the block that carries it counts", () => {
    const signing = { nonce: "n0nce", required: true };
    const signed = "WORK_RESULT:\n  success: false\n  nonce: n0nce";
    expect(readWorkResult(BLOCK, signing)).toMatchObject({ ok: false, error: { code: "verdict_unsigned" } });
    for (const text of [`${BLOCK}\n${signed}`, `${signed}\n${BLOCK}`])
      expect(readWorkResult(text, signing)).toMatchObject({ ok: true, value: { health: "failure" } });
    const isQuoted = (block: string) => block.includes("success: false");
    expect(readWorkResult(signed, { ...signing, isQuoted })).toMatchObject({ error: { code: "verdict_missing" } });
  });

  test("an unknown key is ignored with a warning", () => {
    expect(readWorkResult("WORK_RESULT:\n  success: true\n  mood: fine")).toMatchObject({
      ok: true,
      value: { payload: { success: "true" }, warnings: [expect.stringContaining("mood")] },
    });
  });

  test.each([
    ["no block", "success: true", "verdict_missing"],
    ["a mark inside a line", "see WORK_RESULT:\n  success: true", "verdict_missing"],
    ["text after the mark", "WORK_RESULT: ok\n  success: true", "verdict_field_invalid"],
    ["a quoted block", "> WORK_RESULT:\n>   success: true", "verdict_missing"],
    ["an empty block", "WORK_RESULT:\n", "verdict_field_invalid"],
    ["no success", "WORK_RESULT:\n  summary: x", "verdict_field_invalid"],
    ["success in other words", "WORK_RESULT:\n  success: yes", "verdict_field_invalid"],
    ["success in another case", "WORK_RESULT:\n  success: True", "verdict_field_invalid"],
    ["success twice", "WORK_RESULT:\n  success: false\n  success: true", "verdict_field_invalid"],
    ["no indent", "WORK_RESULT:\nsuccess: true", "verdict_field_invalid"],
    ["a tab", "WORK_RESULT:\n\tsuccess: true", "verdict_field_invalid"],
    ["a line without a key", "WORK_RESULT:\n  success: true\n  and so on", "verdict_field_invalid"],
    ["an unknown merge status", "WORK_RESULT:\n  success: true\n  merge_status: merged", "verdict_field_invalid"],
  ])("R-X-03: %s is not a result", (_, text, code) => {
    expect(codeOf(text)).toBe(code);
  });
});
