import { expect, test } from "vitest";
import { mergeWay } from "./merge-rule.ts";

test("R-004-46: auto opens a pull request for the last ticket of a chain and pushes the others", () => {
  expect(mergeWay("pr if terminal else push", true)).toBe("pr");
  expect(mergeWay("pr if terminal else push", false)).toBe("push");
});

test("R-004-46: one word is the same way for every ticket", () => {
  for (const way of ["pr", "push", "land"] as const) {
    expect(mergeWay(way, true)).toBe(way);
    expect(mergeWay(way, false)).toBe(way);
  }
});

test("what is not understood is no way at all", () => {
  for (const rule of ["", "merge", "pr if last else push", "pr if terminal", "pr if terminal else", "push "])
    expect(mergeWay(rule, false)).toBeUndefined();
  expect(mergeWay("nothing if terminal else push", true)).toBeUndefined();
});
