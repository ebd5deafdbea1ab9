import { expect, test } from "vitest";
import { tokensOf } from "./tokens.ts";

const told = (path: string, line: string) =>
  tokensOf(path, line)
    ?.filter(({ kind }) => kind !== "plain")
    .map(({ kind, text }) => [kind, text]);

test("strings, comments, keywords and numbers are told apart", () => {
  expect(told("src/a.ts", 'const a = "x // y" + 12; // why')).toEqual([
    ["keyword", "const"],
    ["string", '"x // y"'],
    ["number", "12"],
    ["comment", "// why"],
  ]);
  expect(told("a.py", "def f(x): # it's")).toEqual([
    ["keyword", "def"],
    ["comment", "# it's"],
  ]);
  expect(told("a.go", "x := `a` /* b */ + y")).toEqual([
    ["string", "`a`"],
    ["comment", "/* b */"],
  ]);
  expect(told("a.sh", "echo $# 'a'")).toEqual([["string", "'a'"]]);
});

test("the middle of a long comment is known by its star, and a word that holds a keyword is none", () => {
  expect(told("a.ts", "   * returns const")).toEqual([["comment", "   * returns const"]]);
  expect(told("a.ts", "constant + newer + $new")).toEqual([]);
});

test("an escaped quote closes nothing, and an open string ends with its line", () => {
  expect(told("a.js", String.raw`f("a\"b", 'c`)).toEqual([
    ["string", String.raw`"a\"b"`],
    ["string", "'c"],
  ]);
});

test("nothing of the text is lost, whatever it is; what is not known, and very long lines, stay plain", () => {
  for (const line of ["<script>alert(1)</script>", "a\u202eb '\u200b", "", "/*/*/* \\", '"\\', "`${`${1}`}`"])
    expect(
      tokensOf("x.ts", line)
        ?.map(({ text }) => text)
        .join(""),
    ).toBe(line);
  expect(tokensOf("README", "const a")).toBeUndefined();
  expect(tokensOf("a.constructor", "const a")).toBeUndefined();
  expect(tokensOf("a.ts", "x".repeat(2000))).toBeUndefined();
});

test("hostile lines cost no more than their length", () => {
  const begin = performance.now();
  for (const piece of ['"', "/*", "*", " ", "\\", "#", "'`"])
    for (let turn = 0; turn < 200; turn++) tokensOf("a.ts", piece.repeat(990 / piece.length));
  expect(performance.now() - begin).toBeLessThan(2000);
});
