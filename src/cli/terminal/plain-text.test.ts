import { expect, test } from "vitest";
import { oneLine, plainText } from "./plain-text.ts";

test.each([
  ["plain text, tabs\tand\nlines stay", "plain text, tabs\tand\nlines stay"],
  ["title \u001b]0;owned\u0007 end", "title  end"],
  ["link \u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\", "link text"],
  ["clear \u001b[2J up \u001b[1A", "clear  up "],
  ["red \u001b[31mred\u001b[0m", "red red"],
  ["bell \u0007 back \b null \u0000", "bell ␇ back ␈ null ␀"],
  ["over\rwritten", "over␍written"],
  ["windows\r\nline", "windows\nline"],
  ["\u202eevil\u2066", "<U+202E>evil<U+2066>"],
  ["zero\u200bwidth\ufeff", "zero<U+200B>width<U+FEFF>"],
  ["c1 \u009b31m", "c1 \ufffd31m"],
  ["open \u001b]0;never closed", "open ␛]0;never closed"],
  ["tag \u{e0041}", "tag <U+E0041>"],
  ["emoji 👍 stays", "emoji 👍 stays"],
])("%j becomes %j", (given, shown) => {
  expect(plainText(given)).toBe(shown);
});

test("colours are kept only where they are asked for, and nothing else is", () => {
  const text = "\u001b[1;31mred\u001b[0m \u001b[2J\u001b[?25l\u001b[31;\u0007m";
  expect(plainText(text, true)).toBe("\u001b[1;31mred\u001b[0m ␛[31;␇m");
});

test("long hostile text takes linear time", () => {
  const text = "\u001b[".repeat(500_000) + "\u001b]".repeat(2000);
  const begun = performance.now();
  plainText(text);
  expect(performance.now() - begun).toBeLessThan(3000);
});

test("one line is cut by characters, not in the middle of one", () => {
  expect(oneLine("a\nb\tc", 10)).toBe("a b c");
  expect(oneLine("👍👍👍👍", 3)).toBe("👍👍…");
});
