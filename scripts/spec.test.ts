// Runs the command as a process on a small repository: a copy of the scripts, one list, one report.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
let repository: string;

beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), "passrail-spec-"));
  for (const script of ["spec.ts", "acceptance.ts", "report.ts"]) {
    cpSync(join(root, "scripts", script), join(repository, "scripts", script));
  }
  mkdirSync(join(repository, "docs/spec"), { recursive: true });
  mkdirSync(join(repository, "node_modules/.cache/passrail"), { recursive: true });
  symlinkSync(join(root, "node_modules/zod"), join(repository, "node_modules/zod"));
  writeFileSync(join(repository, "package.json"), `{ "type": "module" }`);
  writeFileSync(
    listPath(),
    "# List\n\n- [x] **R-000-01** S First.\n- [ ] **R-000-02** E Second.\n- [ ] **R-000-03** P Third.\n",
  );
});
afterEach(() => rmSync(repository, { recursive: true, force: true }));

const listPath = () => join(repository, "docs/spec/000.md");

function leaveReport(tests: Record<string, string>): void {
  const assertionResults = Object.entries(tests).map(([fullName, status]) => ({ fullName, status }));
  const report = { testResults: [{ name: join(repository, "src/a.test.ts"), status: "passed", assertionResults }] };
  writeFileSync(join(repository, "node_modules/.cache/passrail/test-report.json"), JSON.stringify(report));
}

function spec(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/spec.ts", ...args], {
    cwd: repository,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("the list shows who proves what, and the totals last", () => {
  leaveReport({ "R-000-01: it holds": "passed" });
  const { status, stdout } = spec();
  expect(status).toBe(0);
  expect(stdout).toContain("passed: src/a.test.ts: R-000-01: it holds");
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("3 statements: 1 proven, 0 failing, 2 open; 1 marked");
});

test("--open shows only what is not proven", () => {
  leaveReport({ "R-000-01: it holds": "passed" });
  const { stdout } = spec("--open");
  expect(stdout).toContain("R-000-02");
  expect(stdout).not.toContain("R-000-01");
});

test("--check passes when every mark has its test, and names what could be marked", () => {
  leaveReport({ "R-000-01, R-000-02: they hold": "passed" });
  const { status, stdout } = spec("--check");
  expect(stdout).toContain("could be marked (npm run spec -- --write): R-000-02");
  expect(status).toBe(0);
});

test("--check fails on a mark without a test, on an unknown number and without a report", () => {
  expect(spec("--check").status).toBe(1);
  leaveReport({ "no number": "passed" });
  expect(spec("--check")).toMatchObject({ status: 1, stdout: expect.stringContaining("R-000-01 is marked [x]") });
  leaveReport({ "R-000-01: fine": "passed", "R-009-01: strange": "passed" });
  expect(spec("--check")).toMatchObject({ status: 1, stdout: expect.stringContaining("R-009-01 is not in the") });
});

test("--write marks what is proven and leaves the rest of the file as it was", () => {
  leaveReport({ "R-000-01, R-000-02: they hold": "passed", "R-000-03: not yet": "failed" });
  const before = readFileSync(listPath(), "utf8");
  expect(spec("--write")).toMatchObject({ status: 0, stdout: "marked R-000-02\n" });
  expect(readFileSync(listPath(), "utf8")).toBe(before.replace("- [ ] **R-000-02**", "- [x] **R-000-02**"));
});

test("--json gives every statement with its status and tests", () => {
  leaveReport({ "R-000-03: broken": "failed" });
  const { statements, problems } = JSON.parse(spec("--json").stdout);
  expect(statements.map((statement: { status: string }) => statement.status)).toEqual(["open", "open", "failing"]);
  expect(problems).toHaveLength(1);
});

test("an unknown option is a usage error", () => {
  expect(spec("--bogus")).toMatchObject({ status: 2, stderr: expect.stringContaining("--open") });
});

test("the acceptance list of this repository is whole: 282 statements, numbered without gaps", () => {
  const { stdout } = spawnSync(process.execPath, ["scripts/spec.ts", "--json"], { cwd: root, encoding: "utf8" });
  const { statements } = JSON.parse(stdout) as { statements: readonly { readonly number: string }[] };
  const sizes: Record<string, number> = { "000": 44, "001": 44, "002": 60, "003": 51, "004": 67, X: 16 };
  const expected = Object.entries(sizes).flatMap(([source, size]) =>
    Array.from({ length: size }, (_, index) => `R-${source}-${String(index + 1).padStart(2, "0")}`),
  );
  expect(statements.map(({ number }) => number)).toEqual(expected);
});
