// The acceptance list and its proof, without files: reads statements from Markdown; a test proves the numbers in its full name. People
// judge whether it is a good test.

import type { TestRecord, TestReport } from "./report.ts";

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
/** Looks like a statement; a line that matches but is none was mistyped and would get lost. */
const STATEMENT_LIKE = /^\s*[-*] .{0,6}\*{0,2}R-[0-9A-Za-z]+-\d/;

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

/** Wider than a valid number, so that a mistyped one is reported. */
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

/** The lines of a Markdown text, those inside code fences blanked: examples are not statements. */
function unfenced(text: string): string[] {
  let fenced = false;
  return text.split("\n").map((line) => {
    const fence = line.startsWith("```");
    if (fence) fenced = !fenced;
    return fence || fenced ? "" : line;
  });
}
