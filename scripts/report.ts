// The report of the last test run: its place, its reader, and its one-line summary. It does not run tests (test.ts) and does not know the
// acceptance list (spec.ts).

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const REPORT_PATH = fileURLToPath(new URL("../node_modules/.cache/passrail/test-report.json", import.meta.url));
/** The report of the failed files, run again alone. */
export const AGAIN_PATH = fileURLToPath(new URL("../node_modules/.cache/passrail/test-again.json", import.meta.url));

const vitestReport = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      startTime: z.number().optional(),
      endTime: z.number().optional(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).optional() }),
      ),
    }),
  ),
});

export type TestStatus = "passed" | "failed" | "skipped";
export type TestRecord = {
  readonly file: string;
  readonly name: string;
  readonly status: TestStatus;
  readonly message?: string;
};
export type TestReport = {
  readonly tests: readonly TestRecord[];
  /** Test files that failed without a failing test in them: they did not load, or a hook threw. */
  readonly brokenFiles: readonly string[];
  readonly durations: readonly FileDuration[];
};

export type FileDuration = { readonly file: string; readonly ms: number };

/** The report of the last run, merged with the repeated files; null if it is missing or cut off. */
export function loadReport(): TestReport | null {
  const first = readReport(REPORT_PATH);
  const again = readReport(AGAIN_PATH);
  return first === null || again === null ? first : replaceFiles(first, again);
}

/** The files of the later report replace those of the earlier one. */
export function replaceFiles(first: TestReport, again: TestReport): TestReport {
  const files = new Set([...again.tests.map(({ file }) => file), ...again.brokenFiles]);
  return {
    tests: [...first.tests.filter(({ file }) => !files.has(file)), ...again.tests],
    brokenFiles: [...first.brokenFiles.filter((file) => !files.has(file)), ...again.brokenFiles],
    // From the whole run: a repeated file ran alone.
    durations: first.durations,
  };
}

export function readReport(path: string): TestReport | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return null;
  }
  return parseReport(text);
}

/** Reads vitest's JSON report. A status we do not know counts as failed. */
export function parseReport(text: string): TestReport | null {
  const raw = vitestReport.safeParse(parseJson(text));
  if (!raw.success) return null;
  const tests: TestRecord[] = [];
  const brokenFiles: string[] = [];
  const durations: FileDuration[] = [];
  for (const result of raw.data.testResults) {
    const file = result.name.startsWith(ROOT) ? result.name.slice(ROOT.length) : result.name;
    const own = result.assertionResults.map((test) => {
      const [message] = test.failureMessages ?? [];
      const record = { file, name: test.fullName, status: toStatus(test.status) };
      return message === undefined ? record : { ...record, message };
    });
    tests.push(...own);
    durations.push({ file, ms: (result.endTime ?? 0) - (result.startTime ?? 0) });
    if (result.status === "failed" && !own.some((test) => test.status === "failed")) brokenFiles.push(file);
  }
  return { tests, brokenFiles, durations };
}

export type Tally = { readonly passed: number; readonly failed: number; readonly skipped: number };

/** A broken file counts as one failure: the tests in it never ran. */
export function tally(report: TestReport): Tally {
  const count = (status: TestStatus) => report.tests.filter((test) => test.status === status).length;
  return { passed: count("passed"), failed: count("failed") + report.brokenFiles.length, skipped: count("skipped") };
}

/** The last line of `npm test` and of `npm run check`. */
export function summaryLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** The title and the slowest files, slowest first. */
export function slowestFiles({ durations }: TestReport, count: number): readonly string[] {
  const slowest = durations.toSorted((one, other) => other.ms - one.ms).slice(0, count);
  return [SLOWEST, ...slowest.map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`)];
}

export const SLOWEST = "slowest test files:";

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function toStatus(status: string): TestStatus {
  if (status === "passed") return "passed";
  return ["skipped", "pending", "todo", "disabled"].includes(status) ? "skipped" : "failed";
}
