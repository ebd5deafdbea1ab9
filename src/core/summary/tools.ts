// The summaries of test tools, linters and compilers, each read as its tool prints it.

import type { CheckCounts } from "../flow/check-result.ts";
import { countsByWord, countsOf, toCount } from "./counts.ts";

/** `      Tests  1 failed | 3 passed | 1 skipped | 1 todo (6)`, the last one. Its own lines begin with blanks. */
export function vitestCounts(lines: readonly string[]): CheckCounts | undefined {
  const files = lines.findLastIndex((line) => /^ {0,20}Test Files {2}/u.test(line));
  const last = lines.slice(Math.max(files, 0)).find((line) => /^ {0,20}Tests {2}/u.test(line));
  if (files === -1 || last === undefined) return undefined;
  const tests = countsByWord(last.slice(last.indexOf("Tests") + "Tests".length));
  const broken = countsByWord((lines[files] ?? "").replace(/^ *Test Files/u, "")).get("failed") ?? 0;
  const errors = lines.slice(files).find((line) => /^ {0,20}Errors {2}/u.test(line));
  return countsOf({
    passed: tests.get("passed") ?? 0,
    // A file that cannot be loaded has no tests to count.
    failed: Math.max(tests.get("failed") ?? 0, broken),
    skipped: (tests.get("skipped") ?? 0) + (tests.get("todo") ?? 0),
    errors: toCount(/(\d{1,12}) error/u.exec(errors ?? "")?.[1]),
  });
}

/** `Tests:       1 failed, 1 skipped, 2 passed, 4 total`. */
export function jestCounts(lines: readonly string[]): CheckCounts | undefined {
  const line = lines.findLast((each) => each.startsWith("Tests:"));
  if (line === undefined) return undefined;
  const tests = countsByWord(line.slice("Tests:".length));
  const suites = lines.findLast((each) => each.startsWith("Test Suites:")) ?? "";
  const broken = countsByWord(suites.slice("Test Suites:".length)).get("failed") ?? 0;
  return countsOf({
    passed: tests.get("passed") ?? 0,
    failed: Math.max(tests.get("failed") ?? 0, broken),
    skipped: (tests.get("skipped") ?? 0) + (tests.get("todo") ?? 0),
  });
}

/** `ℹ pass 3` of the spec reporter, `# pass 3` of the TAP reporter. */
export function nodeCounts(lines: readonly string[]): CheckCounts | undefined {
  const begin = lines.findLastIndex((line) => /^[ℹ#] tests \d/u.test(line));
  if (begin === -1) return undefined;
  const found = new Map<string, number>();
  for (const line of lines.slice(begin, begin + 10)) {
    const read = /^[ℹ#] ([a-z]{1,20}) (\d{1,12})$/u.exec(line);
    if (read?.[1] !== undefined) found.set(read[1], toCount(read[2]));
  }
  return countsOf({
    passed: found.get("pass") ?? 0,
    failed: (found.get("fail") ?? 0) + (found.get("cancelled") ?? 0),
    skipped: (found.get("skipped") ?? 0) + (found.get("todo") ?? 0),
  });
}

/** `===== 1 failed, 2 passed, 1 warning, 1 error in 4.07s =====`, without the marks with -q. */
export function pytestCounts(lines: readonly string[]): CheckCounts | undefined {
  const line = lines.findLast((each) => /^(?:=+ )?(?:\d+ [a-z]+|no tests ran).{0,200} in [\d.]+s/u.test(each));
  if (line === undefined) return undefined;
  const said = countsByWord(line.replace(/^=+ /u, ""));
  return countsOf({
    passed: (said.get("passed") ?? 0) + (said.get("xfailed") ?? 0),
    failed: said.get("failed") ?? 0,
    skipped: (said.get("skipped") ?? 0) + (said.get("deselected") ?? 0),
    errors: (said.get("error") ?? 0) + (said.get("errors") ?? 0),
    warnings: (said.get("warning") ?? 0) + (said.get("warnings") ?? 0),
  });
}

/** Tests where the tool names them (-v, or failed ones), packages otherwise. */
export function goCounts(lines: readonly string[]): CheckCounts | undefined {
  const count = (shape: RegExp): number => lines.filter((line) => shape.test(line)).length;
  const packages = { ok: count(/^ok\s+\S/u), failed: count(/^FAIL\s+\S/u) };
  const tests = { ok: count(/^--- PASS: /u), failed: count(/^--- FAIL: /u), skipped: count(/^--- SKIP: /u) };
  if (packages.ok + packages.failed + tests.ok + tests.failed === 0 && count(/^\?\s+\S.*\[no test files\]$/u) === 0)
    return undefined;
  return countsOf({
    passed: tests.ok > 0 ? tests.ok : packages.ok,
    failed: Math.max(tests.failed, packages.failed),
    skipped: tests.skipped,
  });
}

/** One line per test program: `test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.38s`. */
export function cargoCounts(lines: readonly string[]): CheckCounts | undefined {
  const results = lines.filter((line) => /^test result: (?:ok|FAILED)\. /u.test(line));
  const broken = lines.filter(
    (line) => /^error(?:\[E\d{1,6}\])?: /u.test(line) && !/test failed|target.{0,3} failed/u.test(line),
  );
  if (results.length === 0 && broken.length === 0) return undefined;
  const sum = (word: string): number =>
    results.reduce((all, line) => all + (countsByWord(line.slice(line.indexOf(".") + 1)).get(word) ?? 0), 0);
  return countsOf({ passed: sum("passed"), failed: sum("failed"), skipped: sum("ignored"), errors: broken.length });
}

/** `a.ts(1,7): error TS2322: …`, or `a.ts:1:7 - error TS2322: …`; a clean run prints nothing. */
export function tscCounts(lines: readonly string[]): CheckCounts | undefined {
  const errors = lines.filter((line) => /(?:^|\): | - )error TS\d{1,6}: /u.test(line)).length;
  const found = lines.findLast((line) => /^Found \d{1,9} errors?\b/u.test(line));
  const said = toCount(/^Found (\d{1,9})/u.exec(found ?? "")?.[1]);
  return countsOf({ errors: Math.max(errors, said) });
}

/** `✖ 3 problems (2 errors, 1 warning)`; a clean run prints nothing. */
export function eslintCounts(lines: readonly string[]): CheckCounts | undefined {
  const line = lines.findLast((each) => /^✖ \d{1,9} problems? \(/u.test(each));
  if (line === undefined) return lines.every((each) => each.trim() === "") ? countsOf({}) : undefined;
  const said = /\((\d{1,9}) errors?, (\d{1,9}) warnings?\)/u.exec(line);
  return countsOf({ errors: toCount(said?.[1]), warnings: toCount(said?.[2]) });
}

/** Test points at the left edge; those of subtests are indented and count in their parent. */
export function tapCounts(lines: readonly string[]): CheckCounts | undefined {
  let [passed, failed, skipped] = [0, 0, 0];
  let plan: number | undefined;
  for (const line of lines) {
    const isOk = /^ok\b/u.test(line);
    if (isOk || /^not ok\b/u.test(line)) {
      if (/ # (?:skip|todo)\b/iu.test(line)) skipped += 1;
      else if (isOk) passed += 1;
      else failed += 1;
    } else if (/^1\.\.\d{1,9}/u.test(line)) plan = toCount(/^1\.\.(\d{1,9})/u.exec(line)?.[1]);
  }
  if (plan === undefined && passed + failed + skipped === 0) return undefined;
  const bailed = lines.some((line) => line.startsWith("Bail out!")) ? 1 : 0;
  // Points that the plan promises and the output lacks.
  const missing = Math.max(0, (plan ?? 0) - passed - failed - skipped);
  return countsOf({ passed, failed: failed + missing, skipped, errors: bailed });
}
