import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isSource } from "./architecture.ts";
import { measure, type Oversized } from "./sizes.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const shown = ({ file, line, name, size }: Oversized): string => `${file}:${line} ${name} (${size})`;

test("a function has at most 80 lines, and a closure at most five names that change", () => {
  const paths = globSync(["src/**/*.{ts,tsx}", "web/src/**/*.{ts,tsx}"], { cwd: root }).filter(isSource);
  expect(paths.length, "no source file was found, so nothing was checked").toBeGreaterThan(0);
  const sizes = measure(new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")])));
  expect({
    long: sizes.longFunctions.map(shown),
    full: sizes.fullClosures.map(shown),
  }).toEqual({ long: [], full: [] });
});

test("a planted long function and a planted full closure are found", () => {
  const long = `export function long() {\n${"  // a line\n".repeat(80)}}\n`;
  const full = `function full() {\n  let a = 1, b = 2, c = 3;\n  const d = new Map();\n  const e = [];\n  const f = new Set();\n  return { a: () => a };\n}\n`;
  const sizes = measure(new Map([["src/planted.ts", long + full]]));
  expect(sizes.longFunctions.map(shown)).toEqual(["src/planted.ts:1 long (82)"]);
  expect(sizes.fullClosures.map(shown)).toEqual(["src/planted.ts:83 full (6)"]);
});
