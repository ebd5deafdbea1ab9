// The pages for contributors are true: the table of layers is the law's own, and every path that they name exists.
// After a change of the law: npx vitest run test/architecture-docs.test.ts -u

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { layerTable } from "./architecture.ts";

const ROOT = join(import.meta.dirname, "..");
const PAGE = join(ROOT, "docs/ARCHITECTURE.md");
const BEGIN = "<!-- layers -->";
const END = "<!-- /layers -->";

test("the table of folders in ARCHITECTURE.md is the law of test/architecture.ts", async () => {
  const text = readFileSync(PAGE, "utf8");
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  expect(begin).toBeGreaterThan(0);
  expect(end).toBeGreaterThan(begin);
  const expected = `${text.slice(0, begin)}${BEGIN}\n\n${layerTable()}\n\n${text.slice(end)}`;
  await expect(expected).toMatchFileSnapshot(PAGE);
});

describe("every path in a page for contributors exists", () => {
  test.each(["AGENTS.md", "CONTRIBUTING.md", "docs/ARCHITECTURE.md", "docs/reliability.md"])("%s", (page) => {
    const paths = pathsIn(readFileSync(join(ROOT, page), "utf8"));
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test("a path that does not exist is found", () => {
    expect(pathsIn("See `src/nowhere/x.ts`, `core/run` and `src/core/`.")).toEqual(["src/nowhere/x.ts", "src/core/"]);
  });
});

/** Whole code spans that begin with a folder of the repository. Patterns (`*`) and placeholders (`<run>`) are no paths. */
function pathsIn(text: string): string[] {
  const spans = [...text.matchAll(/`((?:src|web|test|scripts|bench|docs)\/[\w./-]+)`/gu)];
  return spans.map(([, path = ""]) => path);
}
