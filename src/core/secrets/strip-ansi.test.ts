import { expect, test } from "vitest";
import { stripAnsi } from "./strip-ansi.ts";

test.each([
  ["plain\ttext\n", "plain\ttext\n"],
  ["\u001b[31mred\u001b[0m and \u001b[1;38;5;200mmore\u001b[m", "red and more"],
  ["\u001b]0;a title\u0007after", "after"],
  ["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
  ["50%\r100%\r\n", "50%100%\n"],
  ["\u001b[2K\u001b[1Gline\u001b(B\u001bM", "line"],
  ["\u009b31mx\u0000y\u0008", "xy"],
  ["ends with \u001b", "ends with "],
  ["ends with \u001b[3", "ends with "],
  ["\u001b]never closed\nnext line", "\nnext line"],
])("R-004-55: ANSI codes are stripped from %j", (text, plain) => {
  expect(stripAnsi(text)).toBe(plain);
});

test("a text full of beginnings is not slow", () => {
  const begin = performance.now();
  expect(stripAnsi("\u001b[".repeat(300_000))).toBe("");
  expect(performance.now() - begin).toBeLessThan(2000);
});
