// The page of threats names tests: each of them exists, and the attacks that worked once name a test by its title.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const PAGE = readFileSync(join(ROOT, "docs/threat-model.md"), "utf8");
const TESTS = ["src", "test"]
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
  )
  .filter((path) => /\.(?:test|testsuite)\.ts$/u.test(path) && !path.includes("node_modules"));

test("every test file that the page names exists, by its path or by a name that only one has", () => {
  const named = [...PAGE.matchAll(/`([\w./-]+\.(?:test|testsuite)\.ts)`/gu)].map((match) => match[1] ?? "");
  expect(named.length).toBeGreaterThan(50);
  const unknown = named.filter(
    (path) => !TESTS.includes(path) && TESTS.filter((known) => basename(known) === path).length !== 1,
  );
  expect([...new Set(unknown)]).toEqual([]);
});

test("every row of a table of threats names a test", () => {
  const rows = PAGE.split("\n## ").filter((section) => /^\| .* \| test \|$/mu.test(section));
  const bare = rows.flatMap((section) =>
    section
      .split("\n")
      .slice(section.split("\n").findIndex((line) => line.startsWith("|---")) + 1)
      .filter((line) => line.startsWith("| ") && !line.includes(".ts`")),
  );
  // The list of ways out names the places in the code instead.
  expect(bare.filter((line) => !PAGE.slice(PAGE.indexOf("### Every way out")).includes(line))).toEqual([]);
});

test("every attack that worked once has a test with this title", () => {
  const section = PAGE.slice(PAGE.indexOf("## Attacks that worked once"));
  const rows = [...section.matchAll(/^\| [^|]+ \| `([^`]+)` \| (.+) \|$/gmu)];
  expect(rows.length).toBeGreaterThan(30);
  const missing = rows.filter(([, file = "", title = ""]) => !textOf(join(ROOT, file)).includes(title));
  expect(missing.map(([, file, title]) => `${file}: ${title}`)).toEqual([]);
});

function textOf(file: string): string {
  return readFileSync(file, "utf8").replaceAll('\\"', '"');
}
