// Tests of the tests: in a copy of the sources one bug is planted, and the tests that stand for that promise must fail there.
// They must pass in the copy without it, or their failure would mean nothing.

import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";
import type { Outcome } from "./session.ts";

const ROOT = join(import.meta.dirname, "../..");
const COPIED = [
  "src",
  "test",
  "flows",
  "agents",
  "prompts",
  "scripts",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
  // Last, so that it is newer than the source it was made of.
  "dist/program",
];
/** The real agent CLIs: large, and no planted bug needs them. */
const LEFT_OUT = join(ROOT, "test/contract/node_modules");
/** For all planted bugs together: a bug may hang the tests of its promise. */
const PATIENCE_MS = 900_000;

const copy = copySources();
const outcomes = new Map<string, Outcome>();
let output = "";

beforeAll(async () => {
  await trySession();
}, PATIENCE_MS + 60_000);

afterAll(() => {
  rmSync(copy, { recursive: true, force: true });
});

test("R22: there are at least twelve planted bugs, each in its place", () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(12);
  const misplaced = MUTANTS.filter(({ file, find }) => readFileSync(join(ROOT, file), "utf8").split(find).length !== 2);
  expect(misplaced.map(({ name, file }) => `${name}: its text does not stand exactly once in ${file}`)).toEqual([]);
});

test("R22: without a planted bug the same tests pass", () => {
  const untouched = outcomeOf("");
  expect(untouched).toMatchObject({ failed: [], broken: "" });
  const unmatched = MUTANTS.flatMap(({ tests }) => tests).filter(
    ([, name]) => !untouched.passed.some((title) => title.includes(name)),
  );
  expect(unmatched).toEqual([]);
});

for (const { name } of MUTANTS) {
  test(`R22: it is noticed when ${name}`, () => {
    expect(outcomeOf(name)).toMatchObject({ broken: "" });
    expect(outcomeOf(name).failed.length).toBeGreaterThan(0);
  });
}

function outcomeOf(name: string): Outcome {
  return outcomes.get(name) ?? { name, passed: [], failed: [], broken: `the session said nothing of it: ${output}` };
}

/** Runs to the end, or is ended when it hangs: a bug that hangs the tests is noticed, too, but not by a test. */
function trySession(): Promise<void> {
  const child = spawn(process.execPath, [join(copy, "test/mutants/session.ts")], {
    cwd: copy,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, VITEST: "" },
    timeout: PATIENCE_MS,
    killSignal: "SIGKILL",
  });
  const keep = (text: string): void => void (output = `${output}${text}`.slice(-4000));
  child.stderr.setEncoding("utf8").on("data", keep);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const outcome = line.startsWith("{") ? (JSON.parse(line) as Outcome) : undefined;
    if (outcome === undefined) keep(`${line}\n`);
    else outcomes.set(outcome.name, outcome);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve());
  });
}

function copySources(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "passrail-mutants-")));
  const filter = (source: string): boolean => source !== LEFT_OUT;
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}
