import { expect, test } from "vitest";
import { between, toggled } from "./use-selection.ts";

test("a range makes everything in it what the clicked row becomes, in either direction", () => {
  const shown = ["a", "b", "c", "d"];
  expect(between(shown, "d", "b")).toEqual(["b", "c", "d"]);
  expect(between(shown, "gone", "b")).toEqual(["b"]);
  expect([...toggled(new Set(["d"]), between(shown, "d", "b"), "b")].toSorted()).toEqual(["b", "c", "d"]);
  expect([...toggled(new Set(["b", "c", "d"]), ["b", "c"], "c")]).toEqual(["d"]);
});
