import { expect, test } from "vitest";
import { parseReport, replaceFiles, SLOWEST, slowestFiles, summaryLine, tally } from "./report.ts";

const file = (status: string, ...statuses: string[]) => ({
  name: "/elsewhere/a.test.ts",
  status,
  assertionResults: statuses.map((each, index) => ({ fullName: `test ${index}`, status: each })),
});
const parse = (...testResults: ReturnType<typeof file>[]) => {
  const report = parseReport(JSON.stringify({ testResults }));
  if (!report) throw new Error("the report was not read");
  return report;
};

test("the summary counts passed and failed tests, and skipped ones only when there are any", () => {
  expect(summaryLine(tally(parse(file("failed", "passed", "failed", "passed"))))).toBe("2 passed, 1 failed");
  expect(summaryLine(tally(parse(file("passed", "passed", "skipped", "todo"))))).toBe("1 passed, 0 failed, 2 skipped");
});

test("a file that did not load counts as one failure", () => {
  const report = parse(file("failed"), file("passed", "passed"));
  expect(report.brokenFiles).toEqual(["/elsewhere/a.test.ts"]);
  expect(summaryLine(tally(report))).toBe("1 passed, 1 failed");
});

test("a status that is not known counts as failed", () => {
  expect(tally(parse(file("passed", "brilliant")))).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test("a report that is cut off is no report", () => {
  expect(parseReport('{"testResults":[{"na')).toBeNull();
  expect(parseReport("{}")).toBeNull();
});

test("files that were run again replace what they were before, and only they", () => {
  const named = (name: string, status: string, ...statuses: string[]) => ({ ...file(status, ...statuses), name });
  const first = parse(
    named("/a", "failed", "failed", "passed"),
    named("/b", "passed", "passed"),
    named("/c", "failed"),
  );
  const again = parse(named("/a", "passed", "passed", "passed"), named("/c", "failed", "failed"));
  expect(tally(replaceFiles(first, again))).toEqual({ passed: 3, failed: 1, skipped: 0 });
});

test("the slowest files are named, slowest first", () => {
  const timed = (name: string, ms: number) => ({
    ...file("passed", "passed"),
    name,
    startTime: 1000,
    endTime: 1000 + ms,
  });
  const report = parse(timed("/a", 1500), timed("/b", 20_000), timed("/c", 10));
  expect(slowestFiles(report, 2)).toEqual([SLOWEST, "   20.0 s  /b", "    1.5 s  /a"]);
});
