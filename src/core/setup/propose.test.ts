import { expect, test } from "vitest";
import { type ProjectTexts, propose } from "./propose.ts";

const NONE: ProjectTexts = {
  "package.json": undefined,
  Makefile: undefined,
  "pyproject.toml": undefined,
  "go.mod": undefined,
  "Cargo.toml": undefined,
};
const found = (texts: Partial<ProjectTexts>, ...locks: readonly string[]) => propose({ ...NONE, ...texts }, locks);
const commands = (texts: Partial<ProjectTexts>, ...locks: readonly string[]) =>
  found(texts, ...locks).checks.map(({ name, run, parse }) => `${name}: ${run.join(" ")}${parse ? ` (${parse})` : ""}`);

const scripts = (all: object): Partial<ProjectTexts> => ({ "package.json": JSON.stringify({ scripts: all }) });

test("an empty folder has nothing to propose", () => {
  expect(found({})).toEqual({ managers: [], checks: [], setup: [] });
});

test.each([
  ["package-lock.json", "npm", "npm ci"],
  ["pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"],
  ["yarn.lock", "yarn", "yarn install --frozen-lockfile"],
  ["bun.lock", "bun", "bun install --frozen-lockfile"],
])("%s means %s for scripts and setup", (lock, manager, setup) => {
  const texts = scripts({ test: "vitest run", lint: "eslint .", typecheck: "tsc --noEmit", build: "vite build" });
  expect(commands(texts, lock)).toEqual([
    `test: ${manager} test (vitest)`,
    `lint: ${manager} run lint (eslint)`,
    `types: ${manager} run typecheck (tsc)`,
  ]);
  expect(found(texts, lock).setup.map((words) => words.join(" "))).toEqual([setup]);
});

test("the script that npm init writes is no test, and two names of one check count once", () => {
  expect(commands(scripts({ test: 'echo "Error: no test specified" && exit 1' }))).toEqual([]);
  expect(commands(scripts({ types: "tsc", "type-check": "tsc" }))).toEqual(["types: npm run types (tsc)"]);
});

test("Python, Go, Rust and make", () => {
  const python = { "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n" };
  expect(commands(python)).toEqual(["test: pytest (pytest)", "lint: ruff check ."]);
  expect(commands(python, "uv.lock")).toEqual(["test: uv run pytest (pytest)", "lint: uv run ruff check ."]);
  expect(commands({ "go.mod": "module x\n" })).toEqual(["test: go test ./..."]);
  expect(commands({ "Cargo.toml": "[package]\n" })).toEqual(["test: cargo test (cargo)"]);
  expect(commands({ Makefile: "test := no\nlint:\n\tx\ncheck : lint\n" })).toEqual([
    "lint: make lint",
    "check: make check",
  ]);
});

test.each([["not JSON"], ["[]"], ['{"scripts": 7}'], ['{"scripts": {"test": ["rm", "-rf"]}}'], ["null"]])(
  "a package.json that says %s proposes nothing and is no error",
  (text) => {
    expect(commands({ "package.json": text })).toEqual([]);
  },
);
