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

  test("the last block counts, with a warning", () => {
    expect(readWorkResult(`${BLOCK}\n\nWORK_RESULT:\n  success: false`)).toMatchObject({
      ok: true,
      value: { health: "failure", warnings: [expect.stringContaining("several")] },
    });
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
    ["text after the mark", "WORK_RESULT: ok\n  success: true", "verdict_missing"],
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
