import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { type Flow, MAIN_TRACK, type WorkStage } from "../flow/flow.ts";
import { judge } from "./judge.ts";
import type { Report } from "../flow/outcome.ts";
import { findWork, isWork } from "../run/sequence.ts";
import { simulate } from "../run/simulate.ts";
import { optional } from "../optional.ts";

const feature = shippedFlow("feature");
const routed = shippedFlow("routed");

function stageOf(flow: Flow, id: string): WorkStage {
  const stage = flow.stages.find((candidate) => candidate.id === id);
  if (stage === undefined || !isWork(stage)) throw new Error(`no stage ${id}`);
  return stage;
}

function reviewer(): WorkStage {
  const { run } = simulate(routed, [{ stage: "route", stages: ["builder", "reviewer"] }], { facts: {} });
  const stage = findWork(routed, run, MAIN_TRACK, "reviewer");
  if (stage === undefined) throw new Error("no reviewer");
  return stage;
}

const inFeature = (stage: string, report: Report) => judge(feature.words, stageOf(feature, stage), report);
const inReview = (report: Report) => judge(routed.words, reviewer(), report);

const FEATURE_WORDS = ["APPROVED", "COMPLETE", "SHIP", "REVISE", "REJECT"] as const;
const ALLOWED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  spec: { APPROVED: "pass", REJECT: "reject" },
  design: { APPROVED: "pass", REJECT: "reject" },
  build: { COMPLETE: "pass", REJECT: "reject" },
  qa: { SHIP: "pass", REVISE: "revise", REJECT: "reject" },
};

test.each(
  Object.keys(ALLOWED).flatMap((stage) => FEATURE_WORDS.map((word) => [stage, word, ALLOWED[stage]?.[word]] as const)),
)("R-000-02, R-000-03: %s says %s, which means %s there", (stage, word, verdict) => {
  const outcome = inFeature(stage, { verdict: word });
  if (verdict === undefined) expect(outcome).toMatchObject({ health: "failed", cause: "verdict_unknown", word });
  else expect(outcome).toMatchObject({ health: "complete", verdict, word });
});

test.each(["ship", "Ship", "SHIP ", "SHIPPED", "constructor", "__proto__", "", "pass"])(
  "R-000-02: %j is not SHIP",
  (word) => {
    expect(inFeature("qa", { verdict: word })).toMatchObject({ health: "failed", cause: "verdict_unknown" });
  },
);

test("canonical words count on our own channels, and only as far as the stage may use their meaning", () => {
  expect(inFeature("qa", { structured: true, verdict: "revise" })).toMatchObject({ verdict: "revise" });
  expect(inFeature("spec", { structured: true, verdict: "revise" })).toMatchObject({ health: "failed" });
  expect(inFeature("qa", { verdict: "revise" })).toMatchObject({ health: "failed" });
});

test("R-X-03: nothing said is a failure, and a cause beats whatever was said", () => {
  expect(inFeature("qa", {})).toMatchObject({ health: "failed", cause: "verdict_missing" });
  expect(inFeature("qa", { verdict: "SHIP", cause: "timeout" })).toMatchObject({ health: "failed", cause: "timeout" });
  expect(inFeature("qa", { verdict: "SHIP", cause: "timeout" })).not.toHaveProperty("verdict");
});

test.each<[string, Report]>([
  ["a missing verdict", {}],
  ["an unknown word", { verdict: "LGTM" }],
  ["a word in another case", { verdict: "approve" }],
])("%s counts as REVISE, with a warning", (_, report) => {
  const outcome = inReview(report);
  expect(outcome).toMatchObject({ health: "complete", verdict: "revise" });
  expect(outcome.warnings).toHaveLength(1);
});

test.each([
  ["APPROVE", 8, "pass", 0],
  ["APPROVE", 10, "pass", 0],
  ["APPROVE", 7, "revise", 1],
  ["APPROVE", 4, "redesign", 1],
  ["REVISE", 5, "revise", 0],
  ["REVISE", 9, "revise", 1],
  ["REVISE", 2, "redesign", 1],
  ["REDESIGN", 1, "redesign", 0],
  ["REDESIGN", 10, "redesign", 1],
  ["APPROVE", 11, "pass", 1],
  ["APPROVE", 0, "pass", 1],
  ["REVISE", undefined, "revise", 0],
] as const)("R-001-24: %s with score %s is %s, with %i warnings", (verdict, score, meaning, warnings) => {
  const outcome = inReview({ verdict, ...optional({ score }) });
  expect(outcome).toMatchObject({ health: "complete", verdict: meaning, word: verdict });
  expect(outcome.warnings).toHaveLength(warnings);
});

test("R-001-24: a score between two ranges belongs to the worse one", () => {
  expect(inReview({ verdict: "APPROVE", score: 7.5 })).toMatchObject({ verdict: "revise" });
});

test("R-001-04: a router that names no agents has failed", () => {
  const route = stageOf(routed, "route");
  expect(judge(routed.words, route, { structured: true })).toMatchObject({ health: "failed", cause: "route_missing" });
  expect(judge(routed.words, route, { structured: true, stages: [] })).toMatchObject({ health: "failed" });
});

test("R-X-06: the source's word is kept beside its meaning", () => {
  expect(inFeature("qa", { verdict: "REVISE", issues: ["a"] })).toMatchObject({
    verdict: "revise",
    word: "REVISE",
    issues: ["a"],
  });
});
