import { expect, test } from "vitest";
import { piecesOf, withoutColours } from "./ansi.ts";

test("colours and weights are classes of ours", () => {
  expect(piecesOf("a \u001b[31mred\u001b[0m and \u001b[1;92mbold\u001b[0m")).toEqual([
    { text: "a ", className: "" },
    { text: "red", className: "ansi-red" },
    { text: " and ", className: "" },
    { text: "bold", className: "ansi-bright-green font-semibold" },
  ]);
});

test("a colour of one's own choice is left out, so that it cannot hide words", () => {
  expect(
    piecesOf("\u001b[38;2;255;255;255mhidden\u001b[0m \u001b[38;5;15mtoo\u001b[8mx").map((piece) => piece.className),
  ).toEqual(expect.not.arrayContaining([expect.stringContaining("true")]));
  expect(withoutColours("\u001b[38;2;255;255;255mhidden")).toBe("hidden");
});

test.each([
  ["moving and clearing", "a\u001b[2K\u001b[1;1Hb\u001b[?25lc", "abc"],
  ["a title", "\u001b]0;owned\u0007text", "text"],
  ["a link", "\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\", "click"],
  ["a device string", "\u001bP1;2|payload\u001b\\after", "after"],
  ["eight-bit forms", "\u009b31mred\u009b2J", "red"],
  ["one that never ends", "before\u001b]0;never", "before"],
  ["a lone escape", "x\u001b", "x"],
  ["markup", "<img src=x onerror=alert(1)>\u001b[1m<b>", "<img src=x onerror=alert(1)><b>"],
])("S16: %s is no more than text", (_, line, text) => {
  expect(withoutColours(line)).toBe(text);
});

test("thousands of escapes take no time", () => {
  const begin = performance.now();
  withoutColours("\u001b[".repeat(4000));
  withoutColours("\u001b]".repeat(4000));
  expect(performance.now() - begin).toBeLessThan(1000);
});
