import { expect, test } from "vitest";
import { issueText } from "./issue-text.ts";

test("R-000-39: an issue reads as one line, whatever form an agent gave it", () => {
  expect(issueText("no tests")).toBe("no tests");
  expect(issueText({ severity: "high", file: "a.ts", line: 3, description: "leaks" })).toBe("[high] a.ts:3: leaks");
  expect(issueText({ message: "slow" })).toBe("slow");
  expect(issueText({ code: 7 })).toBe('{"code":7}');
  expect(issueText(null)).toBe("null");
});
