import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WorkStage } from "../core/flow/flow.ts";
import { checkHandoff, missingFiles, stampRequired } from "./required-files.ts";
import { TamperedError } from "./tampered.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-required-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const stage = { writes: ["plan.md"], result: {} } as unknown as WorkStage;
const stamps = () => stampRequired(dir, dir, stage);

test("R-001-26, R-001-27: rewriting the same text counts as written, leaving it does not", () => {
  const path = join(dir, "plan.md");
  expect(missingFiles(stage, stamps(), stamps(), true)).toEqual(["plan.md"]);
  writeFileSync(path, "same");
  const before = stamps();
  expect(missingFiles(stage, before, stamps(), true)).toEqual(["plan.md"]);
  rmSync(path);
  writeFileSync(path, "same");
  expect(missingFiles(stage, before, stamps(), true)).toEqual([]);
});

test("R-001-26: setting the old time again does not hide that it was written", () => {
  const path = join(dir, "plan.md");
  writeFileSync(path, "one");
  const old = new Date("2026-01-01T00:00:00Z");
  utimesSync(path, old, old);
  const before = stamps();
  writeFileSync(path, "two");
  utimesSync(path, old, old);
  expect(missingFiles(stage, before, stamps(), true)).toEqual([]);
});

test("S13: a link is no file that a stage wrote, and no handoff", () => {
  mkdirSync(join(dir, "other"));
  writeFileSync(join(dir, "other", "plan.md"), "mine");
  symlinkSync(join(dir, "other", "plan.md"), join(dir, "plan.md"));
  expect(stamps).toThrow(TamperedError);
  expect(checkHandoff(dir, dir, { path: "plan.md" })).toMatchObject({ cause: "worktree_tampered" });
  expect(checkHandoff(dir, dir, { path: "none.md" }).warnings).toHaveLength(1);
});
