// `session.ts`, started in a copy of the sources: one vitest for all planted bugs. A vitest per bug would start, read and translate
// everything anew forty times. It prints a line of JSON per result: of the copy as it is, then of each bug.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createVitest, type TestModule, type TestSpecification, type Vitest } from "vitest/node";
import { rebuildCrashDriver } from "../harness/build-program.ts";
import { type Mutant, MUTANTS } from "./mutants.ts";

/** Names of the tests that passed and that failed; `broken` when a file did not even load. */
export type Outcome = {
  /** The planted bug; "" for the copy without one. */
  readonly name: string;
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly broken: string;
};

if (import.meta.main) await tryAll(process.cwd());

async function tryAll(copy: string): Promise<void> {
  const vitest = await createVitest({
    root: copy,
    watch: false,
    maxWorkers: 1,
    // What a bug changed must never come from a cache of another run.
    fsModuleCache: false,
    reporters: [{}],
  });
  const every = MUTANTS.flatMap(({ tests }) => tests);
  const all = await vitest.globTestSpecifications();
  const run = (tests: Mutant["tests"]): Promise<Result> => runTests(vitest, copy, all, tests);
  tell({ name: "", ...(await run(every)) });
  // One change may break several promises: it is planted once, and each promise has its own tests.
  for (const same of Map.groupBy(MUTANTS, changeOf).values()) {
    const result = await tryMutant(vitest, copy, together(same), run);
    for (const { name, tests } of same)
      tell({ ...result, name, passed: namedBy(tests, result.passed), failed: namedBy(tests, result.failed) });
  }
  await vitest.close();
}

function changeOf({ file, find, replace, startDriver }: Mutant): string {
  return JSON.stringify([file, find, replace, startDriver]);
}

function together(same: readonly Mutant[]): Mutant {
  const [first] = same;
  if (first === undefined) throw new Error("a group of bugs is empty");
  return { ...first, tests: same.flatMap(({ tests }) => tests) };
}

function namedBy(tests: Mutant["tests"], titles: readonly string[]): string[] {
  return titles.filter((title) => tests.some(([, name]) => title.includes(name)));
}

type Result = Omit<Outcome, "name">;

async function tryMutant(
  vitest: Vitest,
  copy: string,
  { file, find, replace, tests, startDriver }: Mutant,
  run: (tests: Mutant["tests"]) => Promise<Result>,
): Promise<Result> {
  const path = join(copy, file);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (text.split(find).length !== 2)
    return { passed: [], failed: [], broken: `the text to change does not stand exactly once in ${file}` };
  const change = (content: string): void => {
    writeFileSync(path, content);
    vitest.invalidateFile(path);
  };
  // A function, because a text in its place would give "$&" a meaning.
  change(text.replace(find, () => replace));
  try {
    if (startDriver === true) await rebuildCrashDriver();
    return await run(tests);
  } finally {
    change(text);
  }
}

async function runTests(
  vitest: Vitest,
  copy: string,
  all: readonly TestSpecification[],
  tests: Mutant["tests"],
): Promise<Result> {
  const files = [...new Set(tests.map(([file]) => join(copy, file)))];
  const names = tests.map(([, name]) => name.replaceAll(/[.*+?^${}()|[\]\\]/gu, "\\$&"));
  vitest.setGlobalTestNamePattern(new RegExp(names.join("|"), "u"));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    all.filter(({ moduleId }) => files.includes(moduleId)),
  );
  const ran = testModules.filter(({ moduleId }) => files.includes(moduleId));
  const missing = files.filter((file) => !ran.some(({ moduleId }) => moduleId === file));
  const faults = [...ran.flatMap((module) => module.errors()), ...unhandledErrors].map(messageOf);
  return {
    passed: named(ran, "passed"),
    failed: named(ran, "failed"),
    broken: [...missing.map((file) => `${file} did not run`), ...faults].join("\n"),
  };
}

function named(modules: readonly TestModule[], state: "passed" | "failed"): string[] {
  return modules.flatMap(({ children }) => [...children.allTests(state)].map(({ fullName }) => fullName));
}

function messageOf(error: unknown): string {
  return (error as { message?: string }).message ?? String(error);
}

function tell(outcome: Outcome): void {
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
