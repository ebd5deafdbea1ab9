import { expect, test } from "vitest";
import { foldMinor, tell } from "./event-words.ts";
import type { ListedEvent } from "./types.ts";

let seq = 0;
const event = (type: string, more: object = {}, actor = "engine"): ListedEvent => ({
  seq: ++seq,
  runId: "r",
  subjectId: "s",
  version: seq,
  event: { type, at: "2026-01-01T00:00:00.000Z", actor, ...more },
});

test.each([
  [
    "stage.finished",
    { stage: "qa", outcome: { word: "REVISE", issues: [{}, {}], summary: "No tests" } },
    "REVISE · 2 issues · No tests",
  ],
  ["gate.opened", { item: { kind: "gate", who: "owner", stage: "ship" } }, "gate for owner"],
  ["gate.answered", { answer: "approve", comment: "good" }, "approve · good"],
  ["counter.changed", { key: "revision", from: 0, to: 1 }, "revision: 0 → 1"],
  ["something.new", { reason: "who knows" }, "who knows"],
  ["stage.finished", { outcome: null }, ""],
])("%s is told in words", (type, more, words) => {
  expect(tell(event(type, more)).text).toBe(words);
});

test("a long text with line ends is one short line", () => {
  const { text } = tell(event("run.stopped", { reason: `a\n\tb ${"x".repeat(100_000)}` }));
  expect(text.startsWith("a b xxx")).toBe(true);
  expect(text.length).toBeLessThan(400);
});

test("a person's act is marked and never folded", () => {
  const told = tell(event("status.changed", {}, "human:ada"));
  expect(told).toMatchObject({ isHuman: true, isMinor: false });
});

test("neighbours of little importance are one line, until somebody wants to see them", () => {
  const told = ["run.created", "stage.ready", "handoff.created", "stage.started", "usage.recorded"].map((type) =>
    tell(event(type)),
  );
  const shape = (isOpen: boolean, ...opened: number[]) =>
    foldMinor(told, isOpen, new Set(opened)).map((line) => (line.type === "folded" ? line.count : line.told.type));
  expect(shape(false)).toEqual(["run.created", 2, "stage.started", "usage.recorded"]);
  expect(shape(true)).toEqual(told.map(({ type }) => type));
  expect(shape(false, told[1]?.seq ?? 0)).toEqual([
    "run.created",
    "stage.ready",
    "handoff.created",
    "stage.started",
    "usage.recorded",
  ]);
  expect(foldMinor([], false, new Set())).toEqual([]);
});
