// `npm run spec`: which statements of the acceptance list (docs/spec) the last test run proves, and which are open.
// The rules are in acceptance.ts; this is the command.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mark, type Proof, type Proven, prove, readStatements, type StatementList } from "./acceptance.ts";
import { loadReport, REPORT_PATH, ROOT } from "./report.ts";

const SPEC_DIR = join(ROOT, "docs/spec");

const HELP = `npm run spec -- [options]
  (none)    every statement with the tests that prove it, then the totals
  --open    only the statements that are not proven
  --json    the same for programs
  --check   fail when a statement is marked [x] without a passing test, or a test names an unknown number
  --write   mark [x] what a passing test names`;

process.exitCode = main(process.argv.slice(2));

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
  const proof = prove(list.statements, report ?? { tests: [], brokenFiles: [], durations: [] });
  const problems = [...list.problems, ...proof.problems, ...(report ? [] : ["there is no report of a test run"])];

  if (values.write) return writeMarks(proof);
  if (values.json) console.log(JSON.stringify({ ...proof, problems }, null, 2));
  else if (values.check) printCheck(proof, problems);
  else printList(proof, problems, values.open);
  return values.check && problems.length > 0 ? 1 : 0;
}

function loadList(): StatementList {
  const files = readdirSync(SPEC_DIR).filter((file) => file.endsWith(".md"));
  const lists = files
    .sort()
    .map((file) => readStatements(`docs/spec/${file}`, readFileSync(join(SPEC_DIR, file), "utf8")));
  return { statements: lists.flatMap((list) => list.statements), problems: lists.flatMap((list) => list.problems) };
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
    if (onlyOpen && status === "proven") continue;
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
