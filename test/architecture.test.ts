import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  cycles,
  type Files,
  importsOf,
  isSource,
  repeatedTypeNames,
  schemasInPages,
  violations,
} from "./architecture.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

function source(): Files {
  const paths = globSync(["src/**/*.{ts,tsx}", "web/src/**/*.{ts,tsx}"], { cwd: root }).filter(isSource);
  expect(paths.length, "no source file was found, so nothing was checked").toBeGreaterThan(0);
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

test("imports point one way, layer by layer, and no folder has a cycle inside", () => {
  expect(violations(source())).toEqual([]);
});

test("S03: no page of the dashboard loads a schema, which would compile code", () => {
  expect(schemasInPages(source())).toEqual([]);
  const planted = new Map([
    ["web/src/run/words.ts", `import { sentence } from "../../../src/core/view/sentence.ts";`],
    ["src/core/view/sentence.ts", `import { parse } from "../flow/options.ts";`],
    ["src/core/flow/options.ts", `import { z } from "zod";`],
  ]);
  expect(schemasInPages(planted)).toEqual([
    "web/src/run/words.ts → src/core/view/sentence.ts → src/core/flow/options.ts",
  ]);
  expect(schemasInPages(new Map([...planted, ["web/src/run/words.ts", "export {};"]]))).toEqual([]);
});

test("an exported type name exists once", () => {
  expect(repeatedTypeNames(source())).toEqual([]);
});

describe("a planted violation is found", () => {
  const planted = (path: string, text: string) => violations(new Map([[path, text]]));

  test.each([
    ["src/core/run/run.ts", `import { readFileSync } from "node:fs";`, "it is pure"],
    ["src/core/run/run.ts", `import { readFileSync } from "fs";`, "it is pure"],
    ["src/core/verdict/tail.ts", `import type { Stats } from "node:fs";`, "it is pure"],
    ["src/http/contract/runs.ts", `const fs = await import("node:fs/promises");`, "it is pure"],
    ["src/http/client/client.ts", `import { parse } from "yaml";`, "it knows only the packages of the table"],
    ["src/core/run/run.ts", `import { parse } from "yaml";`, "it knows only the packages of the table"],
    ["src/core/run/run.ts", `import type { Store } from "../../store/store.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `export * from "../../engine/engine.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `export type { Engine } from "../../engine/engine.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `import "../../engine/engine.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `type E = typeof import("../../engine/engine.ts");`, "the direction is wrong"],
    ["src/store/sqlite/open.ts", `import { open } from "../../workspace/worktree.ts";`, "the direction is wrong"],
    [
      "src/store/sqlite/open.ts",
      `import {\n  a, // why\n  type B,\n} from "../../runner/runner.ts";`,
      "the direction is wrong",
    ],
    ["src/workspace/clone.ts", `import { x } from "../runner/runner.ts";`, "the direction is wrong"],
    ["src/engine/engine.ts", `import { startRun } from "../app/start-run.ts";`, "the direction is wrong"],
    [
      "src/engine/engine.ts",
      `import { openSqliteStore } from "../store/sqlite/open.ts";`,
      "only its port is known here",
    ],
    ["src/attempt/run-stage.ts", `import type { Store } from "../store/store.ts";`, "only its port is known here"],
    ["src/app/app.ts", `import { call } from "../http/client/client.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `import{a}from"../../engine/engine.ts"`, "the direction is wrong"],
    ["src/core/run/run.ts", `import * as a /* ** why */ from "../../engine/engine.ts";`, "the direction is wrong"],
    ["src/core/run/run.ts", `export * as a from "../../engine/engine.ts";`, "the direction is wrong"],
    [
      "src/core/run/run.ts",
      `export interface A {}\nimport { b } from "../../engine/engine.ts";`,
      "the direction is wrong",
    ],
    ["src/core/run/run.ts", `const fs = require("fs");`, "it is pure"],
    ["src/engine/engine.ts", `await import(name);`, "a computed path cannot be checked"],
    ["src/engine/engine.ts", "await import(`./${name}.ts`);", "a computed path cannot be checked"],
    ["src/engine/engine.ts", `import { main } from "../cli/main.ts";`, "the direction is wrong"],
    ["src/cli/main.ts", `import { fake } from "../../test/fake.ts";`, "it is outside of the source"],
    ["src/cli/main.ts", `import { suite } from "../core/run/run.test.ts";`, "it is outside of the source"],
    ["web/src/main.tsx", `import { app } from "../../src/http/server/app.ts";`, "the direction is wrong"],
    ["web/src/base/api.ts", `import { Button } from "../ui/button.tsx";`, "the direction is wrong"],
    ["web/src/ui/button.tsx", `import { Run } from "../run/page.tsx";`, "the direction is wrong"],
    ["web/src/run/page.tsx", `import { layout } from "../frame/layout.tsx";`, "the direction is wrong"],
    ["web/src/run/page.tsx", `import { readFileSync } from "node:fs";`, "it runs in a browser"],
  ])("%s: %s", (path, text, reason) => {
    expect(planted(path, `// head\n${text}\n`)).toEqual([expect.stringContaining(reason)]);
  });

  test("a folder that is in no layer", () => {
    expect(planted("src/utils/text.ts", "")).toEqual([expect.stringContaining(`"utils" is in no layer`)]);
  });

  test("one among many lines, without hiding the others", () => {
    const text = `import { z } from "zod";
import { ok } from "../result.ts";
export const a = 1
export function f() {}
import type { X } from "../../runner/runner.ts";
import { y } from "../../forge/forge.ts";
`;
    expect(planted("src/core/verdict/tail.ts", text)).toHaveLength(2);
  });
});

describe("a planted cycle is found", () => {
  const files = (...entries: readonly (readonly [string, string])[]): Files =>
    new Map(entries.map(([path, target]) => [path, `import type { X } from "${target}";\n`]));

  test.each([
    ["two files", files(["src/core/run/a.ts", "./b.ts"], ["src/core/run/b.ts", "./a.ts"])],
    ["two folders of one room", files(["src/core/run/a.ts", "../flow/b.ts"], ["src/core/flow/b.ts", "../run/a.ts"])],
    [
      "two folders through different files",
      new Map([
        ...files(["src/core/run/a.ts", "../flow/b.ts"], ["src/core/flow/c.ts", "../run/d.ts"]),
        ["src/core/flow/b.ts", ""],
        ["src/core/run/d.ts", ""],
      ]),
    ],
    ["two folders of web", files(["web/src/run/a.tsx", "../board/b.ts"], ["web/src/board/b.ts", "../run/a.tsx"])],
  ])("%s", (_, planted) => {
    expect(cycles(planted)).toEqual([expect.stringContaining("cycle")]);
  });

  test("a port at the top, an adapter in a folder and the file that opens it are no cycle", () => {
    const adapter = files(["src/forge/open.ts", "./github/forge.ts"], ["src/forge/github/forge.ts", "../forge.ts"]);
    expect(cycles(new Map([...adapter, ["src/forge/forge.ts", ""]]))).toEqual([]);
  });
});

test("a type name that is exported twice is found", () => {
  const planted: Files = new Map([
    ["src/core/a.ts", "export type Place = { readonly a: 1 };\n"],
    ["src/git/b.ts", "export interface Place {}\nexport type Other = 1;\n"],
  ]);
  expect(repeatedTypeNames(planted)).toEqual(["Place: src/core/a.ts, src/git/b.ts"]);
});

test.each([
  ["src/core/verdict/tail.ts", `import { z } from "zod";\nimport type { Report } from "../flow/outcome.ts";`],
  ["src/store/store.ts", `import { DatabaseSync } from "node:sqlite";\nimport type { Run } from "../core/run/run.ts";`],
  ["src/engine/engine.ts", `import type { Store } from "../store/store.ts";`],
  ["src/compose.ts", `import { x } from "./runner/open.ts";`],
  ["src/cli/commands/demo/dashboard.ts", `import { demo } from "../../../demo/demo.ts";`],
  ["src/core/run/run.ts", `const text = "from 'somewhere'";\nimport.meta.url;\nexport const from = "node:fs";`],
  [
    "web/src/run/page.tsx",
    `import { api } from "../base/api.ts";\nimport type { Run } from "../../../src/core/run/run.ts";`,
  ],
])("what the law allows passes: %s", (path, text) => {
  expect(violations(new Map([[path, text]]))).toEqual([]);
});

test("an import of types is told from one of values", () => {
  expect(importsOf(`import type { A } from "./a.ts";\nimport { type B } from "./b.ts";`)).toEqual([
    { from: "./a.ts", typeOnly: true },
    { from: "./b.ts", typeOnly: false },
  ]);
});
