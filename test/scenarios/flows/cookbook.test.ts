// Every recipe of the cookbook as a person uses it: begun with `flow new`, checked, and its cases played. The page lists them all.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listRecipes, newFlow } from "../../../src/app/set-up/new-flow.ts";
import { shippedDir } from "../../../src/settings/site.ts";
import { type Bench, openBench } from "../cli/bench.ts";

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "passrail-cookbook-"));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const recipes = listRecipes(shippedDir);

test("every recipe becomes a flow without errors and warnings under another name, and its cases pass", async () => {
  expect(recipes.length).toBeGreaterThanOrEqual(20);
  const bench: Bench = openBench();
  try {
    const names = recipes.map(({ name }) => `my-${name}`);
    for (const { name } of recipes)
      expect(newFlow(shippedDir, bench.project, `my-${name}`, name)).toMatchObject({ ok: true });
    const checked = await bench.passrail(["flow", "check", ...names]);
    expect(checked.out + checked.err).toContain(`${names.length} flows checked: 0 errors, 0 warnings`);
    const tested = await bench.passrail(["flow", "test"]);
    expect(tested).toMatchObject({ code: 0 });
    expect(new Set(tested.out.split("\n").flatMap((line) => line.split("\t")[1] ?? []))).toEqual(new Set(names));
  } finally {
    bench.remove();
  }
});

test("nothing is replaced, and a name or a recipe that is not one is refused", () => {
  expect(newFlow(shippedDir, project, "fix", "bug-fix").ok).toBe(true);
  const before = readFileSync(join(project, ".passrail/flows/fix.yaml"), "utf8");
  expect(newFlow(shippedDir, project, "fix", "one-agent")).toMatchObject({ error: { code: "file_exists" } });
  expect(readFileSync(join(project, ".passrail/flows/fix.yaml"), "utf8")).toBe(before);
  expect(newFlow(shippedDir, project, "../../escape", "bug-fix")).toMatchObject({ error: { code: "invalid_name" } });
  const misspelt = newFlow(shippedDir, project, "other", "bugfix");
  expect(misspelt).toMatchObject({ error: { code: "unknown_recipe", hint: expect.stringContaining('"bug-fix"') } });
});

test("the page of the cookbook lists every recipe with its own words", () => {
  const page = readFileSync(join(shippedDir, "docs", "cookbook.md"), "utf8");
  const [, table = ""] = /<!-- recipes -->\n([\s\S]*)<!-- \/recipes -->/u.exec(page) ?? [];
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows).toEqual(recipes.map(({ name, about }) => `| \`${name}\` | ${about} |`));
});
