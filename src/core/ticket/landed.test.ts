import { expect, test } from "vitest";
import { type Landed, landedPayload, landedRecord } from "./landed.ts";

const commit = "a".repeat(40);
const landed: Landed = { commit, approved: commit, branch: "feat/AGI-1", target: "main", how: "land", pr: null };
const attempt = (endedAt: string, work: Landed, facts = {}) => ({
  endedAt,
  outcome: { payload: landedPayload(work) },
  facts,
});

test("the newest record is where the work went", () => {
  const later = { ...landed, commit: "b".repeat(40) };
  expect(landedRecord([attempt("2026-01-02", later), attempt("2026-01-01", landed)])).toEqual(later);
  expect(landedRecord([])).toBeUndefined();
});

test("S08: what an agent writes into its own payload is no record", () => {
  const forged = attempt("2026-01-02", { ...landed, how: "merged" }, { runner: "command" });
  expect(landedRecord([attempt("2026-01-01", landed), forged])).toEqual(landed);
  expect(landedRecord([forged])).toBeUndefined();
});

test("a record without a commit is none", () => {
  expect(landedRecord([attempt("2026-01-01", { ...landed, commit: "HEAD" })])).toBeUndefined();
});
