import { expect, test } from "vitest";
import { isSafeGlob, matchesGlob, mayHold } from "./glob.ts";

test.each([
  ["specs/*.md", "specs/a.md", true],
  ["specs/*.md", "specs/deep/a.md", false],
  ["specs/**/*.md", "specs/deep/er/a.md", true],
  ["specs/**/*.md", "specs/a.md", true],
  ["**/*.ts", "a.ts", true],
  ["**", "a/b/c", true],
  ["a/**", "a/b/c", true],
  ["a/**/z", "a/b/c/y", false],
  ["?.md", "ab.md", false],
  ["a*b*c.md", "aXbYbZc.md", true],
  ["*.md", ".hidden.md", false],
  [".github/*.yml", ".github/a.yml", true],
  ["[a].md", "[a].md", true],
])("%s and %s: %s", (glob, path, expected) => {
  expect(matchesGlob(glob, path)).toBe(expected);
});

test("a walk goes where something can match and nowhere else", () => {
  expect(mayHold("specs/*.md", "specs")).toBe(true);
  expect(mayHold("specs/*.md", "specs/deep")).toBe(false);
  expect(mayHold("specs/**/*.md", "specs/deep/er")).toBe(true);
  expect(mayHold("specs/**/*.md", "src")).toBe(false);
  expect(mayHold("*.md", "src")).toBe(false);
});

test.each([["../x"], ["/etc/*"], ["a/../b"], ["a//b"], ["a\\b"], ["./a"]])(
  "%s leads out of the project or is unclear",
  (glob) => {
    expect(isSafeGlob(glob)).toBe(false);
  },
);

test("a hostile pattern is not slow", () => {
  const begin = performance.now();
  expect(matchesGlob(`${"*a".repeat(140)}b`, "a".repeat(4000))).toBe(false);
  expect(matchesGlob(Array(100).fill("**/x").join("/"), Array(500).fill("x").join("/") + "/y")).toBe(false);
  expect(performance.now() - begin).toBeLessThan(1000);
});
