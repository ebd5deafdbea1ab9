// Tests of the tests: in a copy of the sources one bug is planted, and the tests that stand for that promise must fail there.
// They must pass in the copy without it, or their failure would mean nothing.

import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Mutant, MUTANTS } from "./mutants.ts";

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
];
const AT_ONCE = 2;
const PATIENCE_MS = 120_000;
/** For all tests of all mutants together. */
const ALL_PATIENCE_MS = 600_000;

/** Names of the tests that passed and that failed; `broken` when a file did not even load. */
type Outcome = { readonly passed: readonly string[]; readonly failed: readonly string[]; readonly broken: string };

const copies: string[] = [];
const outcomes = new Map<string, Outcome>();
let untouched: Outcome = { passed: [], failed: [], broken: "nothing has run" };

beforeAll(async () => {
  for (let index = 0; index < AT_ONCE; index++) copies.push(copySources());
  const jobs = [
    async (copy: string) =>
      void (untouched = await runTests(
        copy,
        MUTANTS.flatMap(({ tests }) => tests),
        ALL_PATIENCE_MS,
      )),
  ];
  for (const mutant of MUTANTS)
    jobs.push(async (copy) => void outcomes.set(mutant.name, await tryMutant(copy, mutant)));
  await Promise.all(
    copies.map(async (copy) => {
      for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await job(copy);
    }),
  );
}, PATIENCE_MS * MUTANTS.length);

afterAll(() => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
});

test("R22: there are at least twelve planted bugs, each in its place", () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(12);
  const misplaced = MUTANTS.filter(({ file, find }) => readFileSync(join(ROOT, file), "utf8").split(find).length !== 2);
  expect(misplaced.map(({ name, file }) => `${name}: its text does not stand exactly once in ${file}`)).toEqual([]);
});

test("R22: without a planted bug the same tests pass", () => {
  expect(untouched).toMatchObject({ failed: [], broken: "" });
  const unmatched = MUTANTS.flatMap(({ tests }) => tests).filter(
    ([, name]) => !untouched.passed.some((title) => title.includes(name)),
  );
  expect(unmatched).toEqual([]);
});

for (const { name } of MUTANTS) {
  test(`R22: it is noticed when ${name}`, () => {
    expect(outcomes.get(name)).toMatchObject({ broken: "" });
    expect(outcomes.get(name)?.failed.length).toBeGreaterThan(0);
  });
}

async function tryMutant(copy: string, { file, find, replace, tests }: Mutant): Promise<Outcome> {
  const path = join(copy, file);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (text.split(find).length !== 2)
    return { passed: [], failed: [], broken: `the text to change does not stand exactly once in ${file}` };
  // A function, because a text in its place would give "$&" a meaning.
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  try {
    return await runTests(copy, tests);
  } finally {
    writeFileSync(path, text);
  }
}

async function runTests(copy: string, tests: Mutant["tests"], patienceMs = PATIENCE_MS): Promise<Outcome> {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const files = [...new Set(tests.map(([file]) => file))];
  const names = tests.map(([, name]) => name.replaceAll(/[.*+?^${}()|[\]\\]/gu, "\\$&")).join("|");
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const args = [
    vitest,
    "run",
    ...files,
    "-t",
    names,
    "--reporter=json",
    `--outputFile.json=${report}`,
    "--no-cache",
    "--maxWorkers=1",
  ];
  const output = await finish(args, copy, patienceMs);
  try {
    return readOutcome(JSON.parse(readFileSync(report, "utf8")) as Report);
  } catch (cause) {
    return { passed: [], failed: [], broken: `vitest left no report (${String(cause)}): ${output}` };
  }
}

type Report = {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
};

function readOutcome({ testResults }: Report): Outcome {
  const named = (status: string): string[] =>
    testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter((each) => each.status === status).map(({ fullName }) => fullName),
    );
  return {
    passed: named("passed"),
    failed: named("failed"),
    broken: testResults.map(({ message }) => message).join(""),
  };
}

/** Runs to the end, or is ended when it hangs: a bug that hangs the tests is noticed, too, but not by a test. */
function finish(args: readonly string[], cwd: string, timeout: number): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, VITEST: "" },
    timeout,
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(output.slice(-4000)));
  });
}

function copySources(): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "passrail-mutants-")));
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}
