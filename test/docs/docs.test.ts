// The pages are true: every command on them is executed, in order, and prints what the page shows.

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { differences } from "./compare.ts";
import { LIMIT, NEVER_CALLED, NOT_RUN } from "./not-run.ts";
import { type Fence, flowsOf, readFences, type Step, spansOf, stepsOf } from "./pages.ts";
import { openPlace, type Place, ROOT } from "./place.ts";
import { SETUPS } from "./setups.ts";
import { callsIn, commandOf, problemsOf, usageIn } from "./usage.ts";

vi.setConfig({ testTimeout: 240_000 });

/** What only tests read: it executes what the pages name with placeholders. */
const TOUR = "test/docs/tour.md";
const PAGES = [...globSync(["*.md", "docs/*.md"], { cwd: ROOT }).sort(), TOUR];
const KINDS = new Set(["console", "sh", "usage", "yaml", "json", "markdown", "text", ""]);

const fencesBy = new Map(PAGES.map((page) => [page, readFences(ROOT, page)]));
const runnable = PAGES.filter((page) => executed(page).length > 0);

let place: Place | undefined;
afterEach(() => {
  place?.remove();
  place = undefined;
});

test.each(runnable)("every command of %s does what the page says", async (page) => {
  place = await openPlace();
  for (const [name, text] of flowsOf(fencesOf(page))) place.write(`.passrail/flows/${name}.yaml`, text);
  const before = (await SETUPS[page]?.(place, fencesOf(page))) ?? "";
  expect(differences(page, await place.run(before, executed(page)))).toEqual([]);
});

describe("what is not executed", () => {
  test.each(PAGES)("%s names no command and no flag that the program does not have", async (page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const lines = fencesOf(page).flatMap(({ info, lines: all }) => (info === "usage" ? all : []));
    const named = [
      ...[...lines, ...spansOf(text)].map(usageIn),
      ...steps(page).flatMap(({ command }) => callsIn(command).map((call) => [call])),
    ];
    const problems = await Promise.all(named.map(problemsOf));
    expect(problems.flat()).toEqual([]);
  });

  test.each(PAGES)("every block of %s says what it is, and a block of commands is executed or parsed", (page) => {
    const unknown = fencesOf(page).filter(({ info }) => !KINDS.has(info));
    const unmarked = fencesOf(page).filter(
      ({ info, lines }) => info === "" && lines.some((line) => /^(\$ |passrail |npm |curl |git )/u.test(line)),
    );
    expect([...unknown, ...unmarked].map(({ line, info }) => `${page}:${line} ${info}`)).toEqual([]);
  });

  test("every command that a synopsis names is executed on some page", async () => {
    const calls = PAGES.flatMap((page) => executed(page).flatMap(({ command }) => callsIn(command)));
    const called = new Set(await Promise.all(calls.map(commandOf)));
    const lines = PAGES.flatMap((page) =>
      fencesOf(page).flatMap(({ info, lines: all }) => (info === "usage" ? all : [])),
    );
    const named = new Set(await Promise.all(lines.flatMap(usageIn).map(commandOf)));
    expect([...named].filter((command) => !called.has(command)).sort()).toEqual(Object.keys(NEVER_CALLED).sort());
  });

  test("the list of commands that no test executes only shrinks, and names nothing that is gone", () => {
    const idle = NOT_RUN.filter(({ page, begins }) => !steps(page).some(({ command }) => command.startsWith(begins)));
    expect(idle).toEqual([]);
    expect(NOT_RUN).toHaveLength(LIMIT);
  });

  test.each(PAGES)("every link of %s to a file of the repository leads somewhere", (page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/gu)].map(([, link = ""]) => link);
    expect(links.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
  });

  test("every npm script that a page names is in package.json", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
    const named = PAGES.flatMap((page) =>
      [...readFileSync(join(ROOT, page), "utf8").matchAll(/\bnpm run ([a-z:-]+)/gu)].map(([, name = ""]) => name),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});

function fencesOf(page: string): readonly Fence[] {
  return fencesBy.get(page) ?? [];
}

function steps(page: string): Step[] {
  return fencesOf(page).flatMap(stepsOf);
}

function executed(page: string): Step[] {
  const left = NOT_RUN.filter((each) => each.page === page);
  return steps(page).filter(({ command }) => !left.some(({ begins }) => command.startsWith(begins)));
}
