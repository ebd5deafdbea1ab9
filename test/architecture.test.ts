import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { importsOf, isSource, violations } from "./architecture.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

test("imports point one way: core ← adapters ← engine ← cli ← compose", () => {
  const paths = globSync(["src/**/*.{ts,tsx}", "web/src/**/*.{ts,tsx}"], { cwd: root }).filter(isSource);
  expect(paths.length, "no source file was found, so nothing was checked").toBeGreaterThan(0);
  const files = new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
  expect(violations(files)).toEqual([]);
});

describe("a planted violation is found", () => {
  const planted = (path: string, text: string) => violations(new Map([[path, text]]));

  test.each([
    ["src/core/run/run.ts", `import { readFileSync } from "node:fs";`, "it is pure"],
    ["src/core/run/run.ts", `import { readFileSync } from "fs";`, "it is pure"],
    ["src/core/verdict/tail.ts", `import type { Stats } from "node:fs";`, "it is pure"],
    ["src/api/runs.ts", `const fs = await import("node:fs/promises");`, "it is pure"],
    ["src/core/run/run.ts", `import { parse } from "yaml";`, "it knows only the packages of the table"],
    ["src/core/run/run.ts", `import type { Store } from "../store/store.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `export * from "../engine/engine.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `export type { Engine } from "../engine/engine.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `import "../engine/engine.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `type E = typeof import("../engine/engine.ts");`, "the direction is wrong"],
    ["src/store/sqlite/store.ts", `import { open } from "../../workspace/worktree.ts";`, "the direction is wrong"],
    [
      "src/store/sqlite/store.ts",
      `import {\n  a, // why\n  type B,\n} from "../../agents/runner.ts";`,
      "the direction is wrong",
    ],
    ["src/engine/engine.ts", `import { openSqlite } from "../store/sqlite/store.ts";`, "the direction is wrong"],
    ["src/engine/engine.ts", `import { loadFlow } from "../catalog/flows.ts";`, "only its types may be imported"],
    ["src/core/run/run.ts", `import{a}from"../engine/engine.ts"`, "the direction is wrong"],
    ["src/core/run/run.ts", `import * as a /* ** why */ from "../engine/engine.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `export * as a from "../engine/engine.ts";`, "the direction is wrong"],
    [
      "src/core/run/run.ts",
      `export interface A {}\nimport { b } from "../engine/engine.ts";`,
      "the direction is wrong",
    ],
    ["src/core/run/run.ts", `const fs = require("fs");`, "it is pure"],
    ["src/engine/engine.ts", `await import(name);`, "a computed path cannot be checked"],
    ["src/engine/engine.ts", "await import(`./${name}.ts`);", "a computed path cannot be checked"],
    ["src/engine/engine.ts", `import { main } from "../cli/main.ts";`, "the direction is wrong"],
    ["src/cli/main.ts", `import { fake } from "../../test/fake.ts";`, "it is outside of the source"],
    ["src/cli/main.ts", `import { suite } from "../core/run.test.ts";`, "it is outside of the source"],
    ["web/src/app.tsx", `import { app } from "../../src/http/server/app.ts";`, "the direction is wrong"],
  ])("%s: %s", (path, text, reason) => {
    expect(planted(path, `// head\n${text}\n`)).toEqual([expect.stringContaining(reason)]);
  });

  test("a folder that is not in the table", () => {
    expect(planted("src/utils/text.ts", "")).toEqual([expect.stringContaining(`"utils" is not in the table`)]);
  });

  test("one among many lines, without hiding the others", () => {
    const text = `import { z } from "zod";
import { ok } from "../result.ts";
export const a = 1
export function f() {}
import type { X } from "../../agents/runner.ts";
import { y } from "../../forge/git.ts";
`;
    expect(planted("src/core/verdict/tail.ts", text)).toHaveLength(2);
  });
});

test.each([
  ["src/core/verdict/tail.ts", `import { z } from "zod";\nimport type { Report } from "../outcome.ts";`],
  ["src/store/store.ts", `import { DatabaseSync } from "node:sqlite";\nimport type { Run } from "../core/run.ts";`],
  [
    "src/engine/engine.ts",
    `import type { Store } from "../store/store.ts";\nimport type { Catalog } from "../catalog/catalog.ts";`,
  ],
  ["src/compose.ts", `import { x } from "./agents/claude.ts";\nawait import(name);`],
  ["src/cli/commands/demo.ts", `import { demo } from "../../demo/demo.ts";`],
  ["src/core/run/run.ts", `const text = "from 'somewhere'";\nimport.meta.url;\nexport const from = "node:fs";`],
])("what the table allows passes: %s", (path, text) => {
  expect(violations(new Map([[path, text]]))).toEqual([]);
});

test("an import of types is told from one of values", () => {
  expect(importsOf(`import type { A } from "./a.ts";\nimport { type B } from "./b.ts";`)).toEqual([
    { from: "./a.ts", typeOnly: true },
    { from: "./b.ts", typeOnly: false },
  ]);
});
