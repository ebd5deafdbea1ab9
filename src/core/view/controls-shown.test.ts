import { expect, test } from "vitest";
import { controlsShown } from "./controls-shown.ts";

test.each([
  ["rm -rf build\n\tx", "rm -rf build\n\tx"],
  ["ls \u001b[2K\rrm", "ls \\u{1b}[2K\\u{d}rm"],
  ["a\u202eb\u200bc\u2066d", "a\\u{202e}b\\u{200b}c\\u{2066}d"],
  ["ä 漢 😀", "ä 漢 😀"],
  ["\ud800x", "\\u{d800}x"],
  ["\u{e0041}\u0085\u2028", "\\u{e0041}\\u{85}\\u{2028}"],
])("%j is shown as %j", (text, shown) => {
  expect(controlsShown(text)).toBe(shown);
});
