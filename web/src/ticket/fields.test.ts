import { expect, test } from "vitest";
import { idsIn } from "./fields.ts";
import { shellWord } from "../../../src/core/shell-word.ts";

test("ids are taken apart at commas and spaces, each once", () => {
  expect(idsIn(" AGI-1, AGI-2 AGI-1,,\n AGI-3 ")).toEqual(["AGI-1", "AGI-2", "AGI-3"]);
  expect(idsIn("")).toEqual([]);
});

test("a title is one word of the shell, whatever it says", () => {
  expect(shellWord("it's $(rm -rf) `x`")).toBe("'it'\\''s $(rm -rf) `x`'");
});
