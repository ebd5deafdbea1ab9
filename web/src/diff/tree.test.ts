import { expect, test } from "vitest";
import type { FileDiff } from "./parse.ts";
import { treeRows } from "./tree.ts";

const filesOf = (...paths: readonly string[]) => paths.map((path) => ({ path }) as FileDiff);
const shown = (paths: readonly string[], closed: readonly string[] = []) =>
  treeRows(filesOf(...paths), new Set(closed)).map(({ name, depth }) => `${"  ".repeat(depth)}${name}`);

const PATHS = ["README.md", "src/app/a.ts", "src/app/b/c.ts", "src/core/deep/er/d.ts", "web/src/diff/e.ts"];

test("folders hold their files, and those that hold one folder only share its row", () => {
  expect(shown(PATHS)).toEqual([
    "README.md",
    "src/",
    "  app/",
    "    a.ts",
    "    b/",
    "      c.ts",
    "  core/deep/er/",
    "    d.ts",
    "web/src/diff/",
    "  e.ts",
  ]);
});

test("what is in a closed folder is hidden, the folder itself is not", () => {
  expect(shown(PATHS, ["src/app/", "web/src/diff/"])).toEqual([
    "README.md",
    "src/",
    "  app/",
    "  core/deep/er/",
    "    d.ts",
    "web/src/diff/",
  ]);
});

test("a path of a thousand folders is one row", () => {
  const path = `${"a/".repeat(1000)}b.ts`;
  expect(
    shown([path])
      .map((row) => row.trim())
      .join(""),
  ).toBe(path);
});
