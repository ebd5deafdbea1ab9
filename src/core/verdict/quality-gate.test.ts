import { expect, test } from "vitest";
import { isCleanGateLine } from "./quality-gate.ts";

test.each([
  "PHPStan level 9: 0 errors",
  "PHPStan: [OK] No errors",
  "PHPUnit: OK (42 tests, 87 assertions)",
  "PHPUnit: Tests: 42, Assertions: 87, Failures: 0.",
  "ESLint: 0 errors, 0 warnings",
  "ESLint: 0 errors and warnings",
  "ESLint: Errors: 0",
  "npm audit: found 0 vulnerabilities",
  "npm audit: 0 high severity vulnerabilities",
  "php-cs-fixer: 0 of 96 files fixable",
  "php-cs-fixer: 0/96 files are fixable",
  "Vitest: 42 passed",
  "Vitest: Tests: 42 passed, 42 total",
  "Vitest: 42/42 tests passed",
  "pytest: 42 passed, 3 skipped in 1.2s",
  "node --test: pass 42, fail 0",
  "go test: 100% passed",
  "tsc: passed with 0 warnings",
  "**biome**: `OK`",
])("R-002-54: %j is clean", (line) => {
  expect(isCleanGateLine(line)).toBe(true);
});

test.each([
  "PHPStan level 9: 3 errors",
  "PHPStan level 0: errors found",
  "PHPStan: 1,000 errors",
  "PHPStan: 1 000 errors",
  "PHPStan: 10 errors",
  "PHPUnit: FAILURES! Tests: 42, Failures: 1.",
  "PHPUnit: OK, but incomplete, skipped, or risky tests!",
  "PHPUnit: not OK",
  "ESLint: 0 errors, 3 warnings",
  "ESLint: 0 errors with warnings",
  "ESLint: 0 errors (3 fixable)",
  "ESLint: errors (3)",
  "ESLint: Errors: 2",
  "npm audit: 2 high severity vulnerabilities",
  "npm audit: 0 critical, 3 high",
  "php-cs-fixer: 1 of 96 files fixable",
  "php-cs-fixer: 5/96 files are fixable",
  "Vitest: 41 passed, 1 failed",
  "Vitest: 41/42 passed",
  "Vitest: 0 passed",
  "Vitest: 80% passed",
  "Vitest: should be passed",
  "Vitest: passed in most cases, some failing",
  "build: failed",
  "build: OK, exit code 1",
  "build: 0x10 errors",
  "build: done",
  "build: skipped",
  "build: exit 0",
  "build: n/a",
  "build:",
  "",
  `build: OK ${"x".repeat(1000)}`,
])("R-002-54: %j is not clean", (line) => {
  expect(isCleanGateLine(line)).toBe(false);
});
