// The flow `feature` as its source describes it: four agents between two decisions of the owner.

import { describe, expect, test } from "vitest";
import { play, playRefused, type Row, type Script } from "./play.ts";

const start = { gate: "start", answer: "approve" };
const spec = { stage: "spec", verdict: "APPROVED" };
const design = { stage: "design", verdict: "APPROVED" };
const build = { stage: "build", verdict: "COMPLETE" };
const ship = { stage: "qa", verdict: "SHIP" };
const revise = { stage: "qa", verdict: "REVISE", issues: ["the empty list is not handled"] };
const untilQa: Script = [start, spec, design, build];
const spent: Script = [...untilQa, revise, build, revise, build, revise];
const escalatedAt = (stage: string, revision = 0) => ({
  state: "waiting" as const,
  waitingFor: "escalation" as const,
  stage,
  status: "escalated",
  counters: { revision },
});

const rows: readonly Row[] = [
  {
    name: "R-000-11: nothing runs before the owner has approved",
    script: [],
    final: { state: "waiting", waitingFor: "gate", stage: "start", status: "pending", counters: { revision: 0 } },
    attempts: [],
  },
  {
    name: "R-000-10: spec, design, build and QA follow each other without a person",
    script: [...untilQa, ship],
    final: { state: "waiting", waitingFor: "gate", stage: "ship", status: "review" },
    attempts: ["spec 1", "design 1", "build 1", "qa 1"],
  },
  {
    name: "R-000-12: APPROVED of spec leads to design",
    script: [start, spec],
    final: { state: "running", waitingFor: null, stage: "design", status: "designing" },
  },
  {
    name: "R-000-12: APPROVED of design leads to build",
    script: [start, spec, design],
    final: { state: "running", waitingFor: null, stage: "build", status: "building" },
  },
  {
    name: "R-000-12: COMPLETE of build leads to QA",
    script: untilQa,
    final: { state: "running", waitingFor: null, stage: "qa", status: "qa" },
  },
  {
    name: "R-000-13: SHIP waits for the owner in status review, and no agent runs",
    script: [...untilQa, ship],
    final: { state: "waiting", waitingFor: "gate", stage: "ship", status: "review", counters: { revision: 0 } },
  },
  {
    name: "R-000-17: approving the ship gate ends the feature as shipped",
    script: [...untilQa, ship, { gate: "ship", answer: "approve" }],
    final: { state: "completed", waitingFor: null, stage: null, status: "shipped" },
  },
  {
    name: "R-000-14: REVISE sends the work back to build",
    script: [...untilQa, revise],
    final: { state: "running", stage: "build", status: "building", counters: { revision: 1 } },
  },
  {
    name: "R-000-14: after the second build QA tests again",
    script: [...untilQa, revise, build],
    final: { state: "running", stage: "qa", status: "qa", counters: { revision: 1 } },
    attempts: ["spec 1", "design 1", "build 1", "qa 1", "build 2"],
  },
  {
    name: "R-000-15: REJECT of spec escalates at once",
    script: [start, { stage: "spec", verdict: "REJECT" }],
    final: escalatedAt("spec"),
  },
  {
    name: "R-000-15: REJECT of design escalates at once",
    script: [start, spec, { stage: "design", verdict: "REJECT" }],
    final: escalatedAt("design"),
  },
  {
    name: "R-000-15: REJECT of build escalates at once",
    script: [start, spec, design, { stage: "build", verdict: "REJECT" }],
    final: escalatedAt("build"),
  },
  {
    name: "R-000-15: REJECT of QA escalates at once",
    script: [...untilQa, { stage: "qa", verdict: "REJECT" }],
    final: escalatedAt("qa"),
  },
  {
    name: "R-000-15: REJECT escalates in a loop too",
    script: [...untilQa, revise, { stage: "build", verdict: "REJECT" }],
    final: escalatedAt("build", 1),
  },
  {
    name: "R-000-19: each REVISE that is routed back counts one",
    script: [...untilQa, revise, build, revise],
    final: { state: "running", stage: "build", counters: { revision: 2 } },
  },
  { name: "R-000-19: a REVISE that escalates is not counted", script: spent, final: escalatedAt("qa", 2) },
  {
    name: "R-000-20: the third REVISE escalates, after three builds and three tests",
    script: spent,
    final: escalatedAt("qa", 2),
    attempts: ["spec 1", "design 1", "build 1", "qa 1", "build 2", "qa 2", "build 3", "qa 3"],
  },
  {
    name: "the owner lets build run again with a note, with a new budget",
    script: [...spent, { escalation: "qa", choice: "again", note: "only the list" }],
    final: { state: "running", waitingFor: null, stage: "build", status: "building", counters: { revision: 0 } },
  },
  {
    name: "the owner accepts as it is, which leads to the ship gate",
    script: [...spent, { escalation: "qa", choice: "accept" }],
    final: { state: "waiting", waitingFor: "gate", stage: "ship", status: "review" },
  },
  {
    name: "the owner cancels",
    script: [...spent, { escalation: "qa", choice: "cancel" }],
    final: { state: "canceled", waitingFor: null, stage: null, status: "canceled" },
  },
  {
    name: "R-000-22: sent back from the ship gate, build runs and the agents' budget is untouched",
    script: [...untilQa, revise, build, ship, { gate: "ship", answer: "revise", comment: "use the new logo" }],
    final: { state: "running", stage: "build", status: "building", counters: { revision: 1 } },
  },
  {
    name: "R-000-22: the owner can cancel at the ship gate",
    script: [...untilQa, ship, { gate: "ship", answer: "decline" }],
    final: { state: "canceled", status: "canceled" },
  },
  {
    name: "R-000-09: no verdict never advances a feature",
    script: [start, { stage: "spec", summary: "all fine" }],
    final: escalatedAt("spec"),
  },
  {
    name: "R-000-02: another spelling is not a verdict",
    script: [start, { stage: "spec", verdict: "Approved" }],
    final: escalatedAt("spec"),
  },
  {
    name: "R-000-03: a word of another stage is not a verdict here",
    script: [start, spec, { stage: "design", verdict: "SHIP" }],
    final: escalatedAt("design"),
  },
  {
    name: "R-000-24: an attempt that fails is escalated",
    script: [start, { stage: "spec", verdict: "APPROVED", exit: 1 }],
    final: escalatedAt("spec"),
  },
];

describe("feature", () => {
  test.each(rows)("$name", async ({ script, final, attempts }) => {
    const played = await play("feature", script);
    expect(played.final).toMatchObject(final);
    if (attempts !== undefined) expect(played.attempts).toEqual(attempts);
  });

  test("R-000-34: a happy run shows exactly the eight status words in order", async () => {
    const { trace, statuses } = await play("feature", [...untilQa, ship, { gate: "ship", answer: "approve" }]);
    const shown = ["approved", "speccing", "designing", "building", "qa", "review", "shipped"];
    expect([trace[0]?.status, ...statuses]).toEqual(["pending", ...shown]);
  });

  test("a second approval does not fit, and the error says what is waited for", async () => {
    const refused = await playRefused("feature", [start, start]);
    expect(refused).toMatchObject({ code: "outcome_does_not_fit", lines: 2 });
    expect(refused.message).toContain("waited for: stage spec (attempt 1)");
  });

  test("R-X-06: the source's word stands beside the canonical one", async () => {
    const { trace } = await play("feature", [...untilQa, revise]);
    expect(trace.at(-1)).toMatchObject({ stage: "qa", attempt: 1, word: "REVISE", canonical: "revise" });
  });
});
