import { expect, test } from "vitest";
import type { RunAttempt, RunStage } from "./types.ts";
import { countText, marksOf, waysInWords } from "./stage-mark.ts";

const stage = (id: string, state: RunStage["state"], verdict: RunAttempt["verdict"] = null, track = "main"): RunStage =>
  ({ id, track, kind: "agent", who: id, state, ways: [], attempts: verdict === null ? [] : [{ verdict }] }) as never;
const words = (...stages: readonly RunStage[]) => marksOf(stages).map(({ word }) => word);

test("R-003-48: the active stage is marked, and those that are done have a check", () => {
  const marks = marksOf([stage("spec", "done", "pass"), stage("build", "running"), stage("qa", "open")]);
  expect(marks.map(({ icon, isActive }) => [icon, isActive])).toEqual([
    ["check", false],
    ["working", true],
    ["circle", false],
  ]);
});

test("R-003-49: after a reject the implementer is active and the reviewer has lost its check", () => {
  expect(
    words(
      stage("spec", "done", "pass"),
      stage("build", "running", "pass"),
      stage("test", "done", "pass"),
      stage("review", "failed", "revise"),
    ),
  ).toEqual(["Done", "Working", "Comes again", "Sent back"]);
});

test("what fails is no loop", () => {
  expect(words(stage("build", "failed", "reject"), stage("qa", "failed"))).toEqual(["Failed", "Failed"]);
});

test("a track that works does not take the check of another track", () => {
  expect(
    words(stage("api", "running", null, "backend"), stage("page", "done", "pass", "frontend"), stage("join", "open")),
  ).toEqual(["Working", "Done", "Not yet"]);
});

test("ways are told in words with their counters", () => {
  const counters = [
    { key: "revision", loops: 1, max: 2 },
    { key: "backend.fix", loops: 3, max: null },
  ];
  const ways = [
    { on: "pass", to: ["end"], counter: null },
    { on: "revise", to: ["build"], counter: "revision" },
  ];
  expect(waysInWords({ ways, track: "main" }, counters)).toEqual([
    "pass leads to the end",
    "revise leads to build, revision 1 of 2",
  ]);
  expect(countText(counters, "fix", "backend")).toBe("fix 3");
  expect(countText(counters, "unknown", "main")).toBe("unknown");
});
