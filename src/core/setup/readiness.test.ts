import { expect, test } from "vitest";
import { type ReadinessFacts, readinessOf } from "./readiness.ts";

const NOTHING: ReadinessFacts = { files: [], checks: [], hasSetup: false, testFiles: null };
const pointsOf = (facts: Partial<ReadinessFacts>, name: string) =>
  readinessOf({ ...NOTHING, ...facts }).items.find((item) => item.name === name)?.points;

test("everything that agents need gives 100, and each missing thing says how to get its points", () => {
  const files = ["package.json", "package-lock.json", "AGENTS.md", ".gitignore", "README.md", "src/a.test.ts"];
  const full = readinessOf({ files, checks: ["test"], hasSetup: true, testFiles: null });
  expect(full.score).toBe(100);
  expect(full.items.every(({ fix }) => fix === "")).toBe(true);
  const none = readinessOf(NOTHING);
  expect(none.items.filter(({ points }) => points === 0).every(({ fix }) => fix !== "")).toBe(true);
  expect(none.items.reduce((sum, { of }) => sum + of, 0)).toBe(100);
});

test("a manifest asks for a lock file and a setup; the project's own names of tests count", () => {
  expect(pointsOf({ files: ["package.json"] }, "lock file")).toBe(0);
  expect(pointsOf({ files: ["package.json", "pnpm-lock.yaml"] }, "lock file")).toBe(10);
  expect(pointsOf({ files: ["main.c"] }, "setup")).toBe(10);
  const spec = readinessOf({ ...NOTHING, files: ["spec/a.rb"], testFiles: ["spec/**"] });
  expect(spec.items.find(({ name }) => name === "tests")?.points).toBe(20);
});
