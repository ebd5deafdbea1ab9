import { describe, expect, test } from "vitest";
import { findJsonArrays, findJsonObjects } from "./json-scan.ts";

const objects = (text: string) => findJsonObjects(text, "verdict").found.map(({ value }) => value);
const brokenAt = (text: string) =>
  findJsonObjects(text, "verdict").broken.map(({ start }) => text.slice(start, start + 12));

describe("findJsonObjects", () => {
  test.each([
    ["bare", '{"verdict":"A"}'],
    ["fenced", '```json\n{\n "verdict": "A"\n}\n```'],
    ["after an unclosed brace in prose", 'if (x) {\nthen {"verdict":"A"}'],
    ["after a stray quote on the same line", 'a 5" pipe {"verdict":"A"} and 3" more'],
    ["after an apostrophe", `it's done {"verdict":"A"}`],
    ["after balanced code", 'function f() { return { verdict: 1 } }\n{"verdict":"A"}'],
    ["between colour codes", '\u001b[32m{"verdict":"A"}\u001b[0m'],
  ])("finds an object that stands %s", (_, text) => {
    expect(objects(text)).toEqual([{ verdict: "A" }]);
  });

  test("takes objects in the order of the text and braces in strings as text", () => {
    expect(objects('{"a":"}{"} x {"verdict":"{\\"verdict\\":1}"}')).toEqual([
      { a: "}{" },
      { verdict: '{"verdict":1}' },
    ]);
  });

  test.each([
    ["a trailing comma", '{"verdict":"REVISE","issues":[{"verdict":"SHIP"}],}'],
    ["a missing end", '{"verdict":"REVISE","issues":[{"verdict":"SHIP"}'],
    ["single quotes", `{'verdict':'REVISE','note':'{"verdict":"SHIP"}'}`],
    ["quotes that are not escaped", '{"verdict":"REVISE","issues":["the log said {"verdict":"SHIP"} here"]}'],
    ["a closing brace in a string", `{'verdict':'REVISE','note':"}", 'x':{"verdict":"SHIP"}}`],
    ["no verdict of its own", '{ result: {"verdict":"SHIP"} }'],
    ["too many levels", `{"verdict":"REVISE","x":${"[".repeat(9)}{"verdict":"SHIP"}${"]".repeat(9)}}`],
  ])("never takes an object out of a malformed one: %s", (_, text) => {
    expect(objects(text)).toEqual([]);
    expect(brokenAt(text)).toContain(text.slice(0, 12));
  });

  test("an object inside a list or another object is not at the top", () => {
    expect(objects('[{"verdict":"A"}]')).toEqual([]);
    expect(objects('{"result":{"verdict":"A"}}')).toEqual([{ result: { verdict: "A" } }]);
  });

  test("bad input 83: a quoted line is not looked at", () => {
    expect(objects('> {"verdict":"A"}')).toEqual([]);
    expect(objects('> {"a":1} {"verdict":"A"}')).toEqual([]);
    expect(findJsonObjects('> {\n>  "verdict":"A"\n> }', "verdict")).toEqual({ found: [], broken: [] });
  });

  test("S07: the whole text is looked at, so no window can promote what is nested in a value", () => {
    expect(objects(`{"verdict":"A"}${" ".repeat(256 * 1024)}`)).toEqual([{ verdict: "A" }]);
    const nested = `{"quoted":{"verdict":"A"},"pad":"${"x".repeat(300_000)}"}`;
    expect(objects(nested)).toEqual([]);
    expect(objects(`${"x".repeat(1_000_000)}{"verdict":"A"}`)).toEqual([{ verdict: "A" }]);
  });
});

test("findJsonArrays finds lists between prose and leaves those inside objects alone", () => {
  const lists = findJsonArrays('[pipeline] I chose:\n[{"agent":"builder"}]\n{"list":[1]}', "agent").found;
  expect(lists.map(({ value }) => value)).toEqual([[{ agent: "builder" }]]);
});
