import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { yamlText, yamlValue } from "./yaml-value.ts";

test("any text, in any quotes, is read back as the same text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom("", "'", '"'), (text, quotes) => {
      const written = yamlValue(text, quotes);
      expect(parse(`key: ${written} # beside\n`)).toEqual({ key: text });
      expect(written).not.toMatch(/[\n\r\u2028\u2029\u007f]/u);
    }),
    { numRuns: 1000 },
  );
});

test("any text with line ends is read back as the same text, and no line of it begins at the margin", () => {
  const lines = fc.array(fc.oneof(fc.string(), fc.constantFrom("---", "...", "# a", "- b", "k: v", "  in", "\tx", "")));
  fc.assert(
    fc.property(
      fc.oneof(
        lines.map((each) => each.join("\n")),
        fc.string({ unit: "binary" }),
      ),
      (text) => {
        const written = yamlText(text);
        expect(parse(`key: ${written}\nnext: 1\n`)).toEqual({ key: text, next: 1 });
        expect(
          written
            .split("\n")
            .slice(1)
            .every((line) => line === "" || line.startsWith("  ")),
        ).toBe(true);
      },
    ),
    { numRuns: 1000 },
  );
});

test.each(["Needs Plan", "feat/a.b", "x (y)"])("%s is written plain", (text) => {
  expect(yamlValue(text)).toBe(text);
});

test.each(["yes", "Null", "on", "", " x", "x ", "1", "a: b", "a #b", "- a", "@a"])("%j is put in quotes", (text) => {
  expect(yamlValue(text)).toBe(JSON.stringify(text));
});

test("characters that must not stand in a file as they are", () => {
  const text = "\u007f\u0085\u2028\u2029\ufeff\u0000\n";
  expect(yamlValue(text)).toBe('"\\u007f\\u0085\\u2028\\u2029\\ufeff\\u0000\\n"');
  expect(parse(yamlValue(text))).toBe(text);
});

test("numbers and lists", () => {
  expect(yamlValue(3)).toBe("3");
  expect(yamlValue(["AGI-1", "a, b"])).toBe('[AGI-1, "a, b"]');
});
