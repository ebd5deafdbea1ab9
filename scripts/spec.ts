// `npm run spec`: which statements of the acceptance list (docs/spec) the last test run proves, and which are open.
// A test proves the numbers that its full name contains. It does not judge whether the test is a good one: people do.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadReport, REPORT_PATH, ROOT, type TestRecord, type TestReport } from "./report.ts";

const SPEC_DIR = join(ROOT, "docs/spec");

const HELP = `npm run spec -- [options]
  (none)    every statement with the tests that prove it, then the totals
  --open    only the statements that no passing test names
  --json    the same for programs
  --check   fail when a statement is marked [x] without a passing test, or a test names an unknown number
  --write   mark [x] what a passing test names`;

if (import.meta.main) process.exitCode = main(process.argv.slice(2));

function main(args: string[]): number {
  const flag = { type: "boolean", default: false } as const;
  const options = { open: flag, json: flag, check: flag, write: flag, help: flag };
  let values: Record<keyof typeof options, boolean>;
  try {
    values = parseArgs({ args, options }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n${HELP}`);
    return 2;
  }
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const list = loadList();
  const report = loadReport();
  if (!report) console.error(`no report of a test run at ${REPORT_PATH.slice(ROOT.length)}; run npm test first`);
  const proof = prove(list.statements, report ?? { tests: [], brokenFiles: [] });
  const problems = [...list.problems, ...proof.problems, ...(report ? [] : ["there is no report of a test run"])];

  if (values.write) return writeMarks(proof);
  if (values.json) console.log(JSON.stringify({ ...proof, problems }, null, 2));
  else if (values.check) printCheck(proof, problems);
  else printList(proof, problems, values.open);
  return values.check && problems.length > 0 ? 1 : 0;
}

export type Statement = {
  readonly number: string;
  /** S, P, E or U; empty for statements across the sources. */
  readonly tag: string;
  readonly text: string;
  readonly marked: boolean;
  readonly file: string;
};

export type StatementList = { readonly statements: readonly Statement[]; readonly problems: readonly string[] };

const STATEMENT = /^- \[([ x])\] \*\*(R-(?:\d{3}|X)-\d{2})\*\* (?:([SPEU]) )?(\S.*)$/;
/** Begins like a statement; if it is none, it was mistyped and would be lost in silence. */
const STATEMENT_LIKE = /^\s*[-*] .{0,6}\*{0,2}R-[0-9A-Za-z]+-\d/;

/** Reads the statements of one file of docs/spec. */
export function readStatements(file: string, text: string): StatementList {
  const statements: Statement[] = [];
  const problems: string[] = [];
  for (const [index, line] of unfenced(text).entries()) {
    const [, mark, number, tag = "", words] = STATEMENT.exec(line) ?? [];
    if (number !== undefined && words !== undefined) {
      statements.push({ number, tag, text: words, marked: mark === "x", file });
    } else if (STATEMENT_LIKE.test(line)) {
      problems.push(`${file}:${index + 1} looks like a statement but is not written as "- [ ] **R-000-01** S …"`);
    }
  }
  return { statements, problems };
}

export type Proven = Statement & {
  readonly status: "proven" | "failing" | "open";
  readonly tests: readonly TestRecord[];
};

export type Proof = {
  readonly statements: readonly Proven[];
  /** Proven, but still marked [ ]. */
  readonly markable: readonly string[];
  readonly problems: readonly string[];
};

/** Wider than a valid number, so that a mistyped one is reported and not overlooked. */
const NUMBER = /\bR-[0-9A-Za-z]+-\d+\b/g;

/** A statement is proven when a passing test names it and no failing one does. */
export function prove(statements: readonly Statement[], report: TestReport): Proof {
  const problems: string[] = [];
  const testsOf = new Map<string, TestRecord[]>();
  for (const { number } of statements) {
    if (testsOf.has(number)) problems.push(`${number} is in the acceptance list twice`);
    testsOf.set(number, []);
  }
  for (const test of report.tests) {
    for (const number of new Set(test.name.match(NUMBER))) {
      const tests = testsOf.get(number);
      if (tests) tests.push(test);
      else problems.push(`${number} is not in the acceptance list, but ${test.file} names it: "${test.name}"`);
    }
  }
  const proven = statements.map((statement): Proven => {
    const tests = testsOf.get(statement.number) ?? [];
    return { ...statement, status: statusOf(tests), tests };
  });
  for (const { number, marked, status, file } of proven) {
    if (marked && status === "open") problems.push(`${number} is marked [x] in ${file}, but no passing test names it`);
    if (marked && status === "failing")
      problems.push(`${number} is marked [x] in ${file}, but a test that names it fails`);
  }
  const markable = proven.filter(({ marked, status }) => !marked && status === "proven").map(({ number }) => number);
  return { statements: proven, markable, problems };
}

function statusOf(tests: readonly TestRecord[]): Proven["status"] {
  if (tests.some((test) => test.status === "failed")) return "failing";
  return tests.some((test) => test.status === "passed") ? "proven" : "open";
}

/** The text with these numbers marked [x]; nothing else changes. */
export function mark(text: string, numbers: ReadonlySet<string>): string {
  return text
    .split("\n")
    .map((line) => (numbers.has(STATEMENT.exec(line)?.[2] ?? "") ? line.replace("- [ ]", "- [x]") : line))
    .join("\n");
}

/** The acceptance list of this repository. */
export function loadList(): StatementList {
  const files = readdirSync(SPEC_DIR).filter((file) => file.endsWith(".md"));
  const lists = files
    .sort()
    .map((file) => readStatements(`docs/spec/${file}`, readFileSync(join(SPEC_DIR, file), "utf8")));
  return { statements: lists.flatMap((list) => list.statements), problems: lists.flatMap((list) => list.problems) };
}

/** The lines of a Markdown text, those inside code fences blanked: examples are not statements. */
function unfenced(text: string): string[] {
  let fenced = false;
  return text.split("\n").map((line) => {
    const fence = line.startsWith("```");
    if (fence) fenced = !fenced;
    return fence || fenced ? "" : line;
  });
}

function writeMarks({ statements, markable }: Proof): number {
  const numbers = new Set(markable);
  for (const file of new Set(
    statements.filter(({ number }) => numbers.has(number)).map((statement) => statement.file),
  )) {
    const path = join(ROOT, file);
    writeFileSync(path, mark(readFileSync(path, "utf8"), numbers));
  }
  console.log(markable.length === 0 ? "nothing to mark" : `marked ${markable.join(", ")}`);
  return 0;
}

function printCheck(proof: Proof, problems: readonly string[]): void {
  for (const problem of problems) console.log(problem);
  printMarkable(proof);
  console.log(totals(proof));
}

function printList(proof: Proof, problems: readonly string[], onlyOpen: boolean): void {
  for (const { number, tag, text, status, marked, tests } of proof.statements) {
    if (onlyOpen && status !== "open") continue;
    console.log(`${status.padEnd(7)} [${marked ? "x" : " "}] ${number} ${tag.padEnd(1)} ${clip(text, 90)}`);
    for (const test of tests) console.log(`              ${test.status}: ${test.file}: ${test.name}`);
  }
  console.log("");
  for (const problem of problems) console.log(`problem: ${problem}`);
  printMarkable(proof);
  console.log(totals(proof));
}

function printMarkable({ markable }: Proof): void {
  if (markable.length > 0) console.log(`could be marked (npm run spec -- --write): ${markable.join(", ")}`);
}

function totals({ statements }: Proof): string {
  const count = (status: Proven["status"]) => statements.filter((statement) => statement.status === status).length;
  const marked = statements.filter((statement) => statement.marked).length;
  return `${statements.length} statements: ${count("proven")} proven, ${count("failing")} failing, ${count("open")} open; ${marked} marked`;
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
