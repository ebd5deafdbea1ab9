import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../json.ts";
import { parseStrictJson, readJsonAt } from "./json-text.ts";

const codeOf = (text: string) => {
  const read = parseStrictJson(text);
  return read.ok ? "ok" : read.error.code;
};

describe("parseStrictJson", () => {
  test("agrees with JSON.parse on every value within the limits", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value, null, 1);
        const read = parseStrictJson(text);
        // Keys that would change a prototype and strings that no database stores are refused on purpose.
        const isRefusedText = text.includes("__proto__") || text.includes("\\u0000") || text.includes("\\ud");
        return isRefusedText || (read.ok && canonicalJson(read.value) === canonicalJson(JSON.parse(text)));
      }),
    );
  });

  test("accepts nothing that JSON.parse refuses", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      ":",
      ",",
      "a",
      "\\",
      "1",
      "-",
      ".",
      "e",
      " ",
      "\n",
      "null",
      "'",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
        const text = parts.join("");
        const read = parseStrictJson(text);
        return !read.ok || canonicalJson(read.value) === canonicalJson(JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["truncated object", '{"verdict":"SHIP"'],
    ["truncated string", '{"verdict":"SHI'],
    ["trailing comma in an object", '{"a":1,}'],
    ["trailing comma in a list", "[1,]"],
    ["single quotes", "{'verdict':'SHIP'}"],
    ["bare key", "{verdict:1}"],
    ["line comment", '{"a":1 // yes\n}'],
    ["block comment", '{/* x */"a":1}'],
    ["NaN", '{"score":NaN}'],
    ["Infinity", '{"score":Infinity}'],
    ["a number without a finite value", '{"score":1e999}'],
    ["leading zero", '{"score":01}'],
    ["plus sign", '{"score":+1}'],
    ["raw line break in a string", '{"a":"x\ny"}'],
    ["unknown escape", String.raw`{"a":"\x41"}`],
    ["half an escape", String.raw`{"a":"\u00"}`],
    ["NUL", String.raw`{"a":"\u0000"}`],
    ["half a surrogate pair", String.raw`{"a":"\ud800"}`],
    ["two values", '{"a":1} {"a":2}'],
    ["nothing", "  "],
    ["undefined", "undefined"],
  ])("bad input 78: %s is refused, never repaired", (_, text) => {
    expect(codeOf(text)).toBe("verdict_invalid_json");
  });

  test("S07: a key that comes twice is refused, also when one of the two is escaped", () => {
    expect(codeOf('{"verdict":"REVISE","verdict":"SHIP"}')).toBe("verdict_invalid_json");
    expect(codeOf(String.raw`{"verdict":"REVISE","verd\u0069ct":"SHIP"}`)).toBe("verdict_invalid_json");
    expect(codeOf('{"a":{"x":1,"x":1}}')).toBe("verdict_invalid_json");
    expect(codeOf('{"a":{"x":1},"b":{"x":1}}')).toBe("ok");
  });

  test("__proto__ is refused as a key", () => {
    expect(codeOf('{"__proto__":{"verdict":"SHIP"}}')).toBe("verdict_invalid_json");
  });

  test("the message names line and column of the fault", () => {
    const read = parseStrictJson('{\n  "verdict": "SHIP",\n}');
    expect(read).toMatchObject({ ok: false, error: { message: expect.stringContaining("line 3, column 1") } });
  });

  test("S07: eight levels are read, nine are too deep", () => {
    expect(codeOf(`${"[".repeat(8)}${"]".repeat(8)}`)).toBe("ok");
    expect(codeOf(`${"[".repeat(9)}${"]".repeat(9)}`)).toBe("verdict_too_large");
  });

  test("S07: the limit of 64 KiB counts bytes, not characters", () => {
    const ofBytes = (bytes: number, letter: string) =>
      `"${letter.repeat((bytes - 2) / new TextEncoder().encode(letter).length)}"`;
    expect(codeOf(ofBytes(65_536, "a"))).toBe("ok");
    expect(codeOf(ofBytes(65_537, "a"))).toBe("verdict_too_large");
    expect(codeOf(ofBytes(65_536, "é"))).toBe("ok");
    expect(codeOf(ofBytes(65_538, "é"))).toBe("verdict_too_large");
    expect(codeOf(ofBytes(65_538, "😀"))).toBe("verdict_too_large");
  });
});

test("readJsonAt says where a value in a text ends", () => {
  expect(readJsonAt('see {"a":[1]} there', 4)).toEqual({ ok: true, value: { a: [1] }, end: 13 });
});
