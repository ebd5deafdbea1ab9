import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { type Phase, phaseLine, phasesOf, phaseTable } from "./phase-line.ts";

const review: Phase = {
  number: 4,
  total: 6,
  role: "reviewer",
  iteration: 2,
  status: "REQUEST_CHANGES",
  model: "sonnet",
  toolUses: 12,
  tokens: 12_400,
  durationMs: 65_400,
  next: "developer",
};

test("one line per phase, with status, tokens, duration and what comes next", () => {
  expect(phaseLine(review)).toBe("[Phase 4/6] reviewer iter 2: REQUEST_CHANGES, 12400 tokens, 1m 05s → developer");
  expect(phaseLine({ ...review, durationMs: 900, next: "done" })).toContain(", 1s → done");
  expect(phaseLine({ ...review, durationMs: 3_723_000 })).toContain(", 1h 02m → ");
});

test("what the runner did not report is never shown as 0", () => {
  expect(phaseLine({ ...review, tokens: null, durationMs: null })).toContain(
    ": REQUEST_CHANGES, tokens not reported, not reported → ",
  );
});

test("the table at the end has a row per phase and a sum that admits what is unknown", () => {
  const dev = { ...review, role: "developer", iteration: 1, model: null, toolUses: 3, tokens: null };
  expect(phaseTable([dev, review]).split("\n")).toEqual([
    "| Phase | Model | Tool uses | Total tokens | Duration |",
    "|---|---|---|---|---|",
    "| developer iter 1 | not reported | 3 | not reported | 1m 05s |",
    "| reviewer iter 2 | sonnet | 12 | 12400 | 1m 05s |",
    "| Total |  | 15 | ≥ 12400 | 2m 11s |",
  ]);
  expect(phaseTable([]).split("\n").at(-1)).toBe("| Total |  | not reported | not reported | not reported |");
});

test("the phases of a flow are its agents in order, tracks included, gates and builtins not", () => {
  expect(phasesOf(shippedFlow("build-plan-standard")).map(({ id }) => id)).toEqual([
    "devops",
    "dev",
    "dod",
    "review",
    "test",
    "update-specs",
  ]);
  expect(phasesOf(shippedFlow("build-plan-complex")).map(({ id }) => id)).toEqual([
    "devops",
    "be-dev",
    "be-dod",
    "be-review",
    "fe-dev",
    "fe-dod",
    "fe-review",
    "test",
    "update-specs",
  ]);
});
