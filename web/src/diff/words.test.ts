import { assert, property, string } from "fast-check";
import { expect, test } from "vitest";
import { parseDiff } from "./parse.ts";
import { changedWords, compareWords } from "./words.ts";

const parts = (text: string, ranges: readonly { from: number; to: number }[]) =>
  ranges.map(({ from, to }) => text.slice(from, to));

test("the changed words of a line are found on both sides, whole words and not letters", () => {
  const [before, after] = ["return greet(name, 12);", "return greetAll(names, 12, true);"];
  const found = compareWords(before, after);
  expect([parts(before, found?.removed ?? []), parts(after, found?.added ?? [])]).toEqual([
    ["greet", "name"],
    ["greetAll", "names", ", true"],
  ]);
});

test("lines without anything in common, and generated ones, are not compared", () => {
  expect(compareWords("const a = 1;", "throw new Error(text)")).toBeNull();
  expect(compareWords("x".repeat(601), "x".repeat(601))).toBeNull();
  expect(compareWords("", "")).toBeNull();
});

test("what is left of both lines is the same text", () => {
  const line = string({ maxLength: 30 });
  assert(
    property(line, line, (before, after) => {
      const found = compareWords(before, after);
      if (found === null) return;
      const without = (text: string, ranges: readonly { from: number; to: number }[]) =>
        ranges.toReversed().reduce((left, { from, to }) => left.slice(0, from) + left.slice(to), text);
      expect(without(before, found.removed)).toBe(without(after, found.added));
    }),
  );
});

test("a line is compared with the one in its place, and one without such has no marks", () => {
  const text =
    "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n same\n-say hello to all\n+say hello to some\n+more\n";
  const [file] = parseDiff(text).files;
  const lines = file?.hunks[0]?.lines ?? [];
  const marks = lines.map((line) => (file === undefined ? [] : parts(line.text, changedWords(file, line))));
  expect(marks).toEqual([[], ["all"], ["some"], []]);
});
