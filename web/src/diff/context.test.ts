import { expect, test } from "vitest";
import { withContext } from "./context.ts";
import { type FileDiff, parseDiff } from "./parse.ts";

const head = "diff --git a/a b/a\n--- a/a\n+++ b/a\n";
const same = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => ` line ${from + at}\n`).join("");
/** A file of 40 lines; 10 and 30 changed. */
const cut = `${head}@@ -7,7 +7,7 @@ one()\n${same(7, 9)}-ten\n+10\n${same(11, 13)}@@ -27,7 +27,7 @@\n${same(27, 29)}-thirty\n+30\n${same(31, 33)}`;
const all = `${head}@@ -1,40 +1,40 @@\n${same(1, 9)}-ten\n+10\n${same(11, 29)}-thirty\n+30\n${same(31, 40)}`;
const fileOf = (text: string): FileDiff => {
  const [file] = parseDiff(text).files;
  if (file === undefined) throw new Error("no file");
  return file;
};
const file = fileOf(cut);
const whole = fileOf(all).hunks[0]?.lines ?? [];
const shape = ({ hunks, below }: FileDiff) => [
  ...hunks.map(({ gap, hidden, lines }) => [gap, hidden, lines[0]?.new, lines.at(-1)?.new]),
  below,
];

test("a diff says how much it hides above each change; below the last nobody knows yet", () => {
  expect(shape(file)).toEqual([[0, 6, 7, 13], [1, 13, 27, 33], null]);
  expect(withContext(file, undefined)).toBe(file);
});

test("lines are opened next to the change that they are above, and below the last one", () => {
  expect(shape(withContext(file, { whole, gaps: {} }))).toEqual([[0, 6, 7, 13], [1, 13, 27, 33], 7]);
  expect(shape(withContext(file, { whole, gaps: { 0: 2, 1: 5, 2: 3 } }))).toEqual([[0, 4, 5, 13], [1, 8, 22, 36], 4]);
});

test("changes without anything between them become one, and every line is there once", () => {
  const open = withContext(file, { whole, gaps: { 0: 99, 1: 13, 2: 99 } });
  expect(shape(open)).toEqual([[0, 0, 1, 40], 0]);
  expect(open.hunks[0]?.lines).toEqual(whole);
});

test("a text that is not that of the diff any more is shown whole", () => {
  const other = whole.slice(20);
  expect(withContext(file, { whole: other, gaps: {} }).hunks.map(({ lines }) => lines)).toEqual([other]);
});
