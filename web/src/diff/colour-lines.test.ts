import { expect, test } from "vitest";
import { colourLines } from "./colour-lines.ts";
import { unpack } from "./token.ts";

const told = async (path: string, ...lines: string[]) =>
  (await colourLines(path, lines))?.map((packed, at) =>
    unpack(packed, lines[at] ?? "")
      .filter(({ kind }) => kind !== "plain")
      .map(({ kind, text }) => [kind, text.trim()]),
  );

test("strings, comments, keywords, numbers and names are told apart", async () => {
  expect(await told("src/a.ts", 'const a = f("x // y", 12); // why')).toEqual([
    [
      ["keyword", "const"],
      ["name", "f"],
      ["string", '"x // y"'],
      ["number", "12"],
      ["comment", "// why"],
    ],
  ]);
  expect((await told("a.py", "def f(x): # it's"))?.[0]).toEqual([
    ["keyword", "def"],
    ["name", "f"],
    ["comment", "# it's"],
  ]);
});

test("a comment and a text over several lines are known on each of them", async () => {
  expect(await told("a.ts", "/* const", "let */", "`a", "if b`")).toEqual([
    [["comment", "/* const"]],
    [["comment", "let */"]],
    [["string", "`a"]],
    [["string", "if b`"]],
  ]);
});

test("nothing of the text is lost, whatever it is; what is not known, and very long lines, stay plain", async () => {
  const lines = [
    "<script>alert(1)</script>",
    "a\u202eb '\u200b",
    "",
    "/*/*/* \\",
    '"\\',
    "`${`${1}`}`",
    "x".repeat(2000),
  ];
  const packed = (await colourLines("x.ts", lines)) ?? [];
  expect(
    packed.map((each, at) =>
      unpack(each, lines[at] ?? "")
        .map(({ text }) => text)
        .join(""),
    ),
  ).toEqual(lines);
  expect(unpack([1, 2], "abc")).toEqual([
    { kind: "comment", text: "ab" },
    { kind: "plain", text: "c" },
  ]);
  expect(await colourLines("README", ["const a"])).toBeUndefined();
  expect(await colourLines("a.constructor", ["const a"])).toBeUndefined();
});

test("every grammar can be loaded", async () => {
  for (const path of [
    "a.tsx",
    "a.js",
    "a.json",
    "a.md",
    "a.css",
    "a.html",
    "a.go",
    "a.rs",
    "a.sh",
    "a.yml",
    "Dockerfile",
  ])
    expect([path, (await colourLines(path, ["a: 1", "# b"]))?.length]).toEqual([path, 2]);
});
