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
    { stage: "qa", outcome: { health: "complete", verdict: "revise", word: "REVISE", issues: ["No tests"] } },
    "REVISE: No tests",
  ],
  [
    "gate.opened",
    { item: { kind: "gate", who: "owner", stage: "ship", answers: ["approve", "decline"] } },
    "gate: owner decides, approve or decline",
  ],
  ["gate.answered", { answer: "approve", comment: "good" }, "gate answered: approve, with the comment: good"],
  ["counter.changed", { key: "revision", from: 0, to: 1 }, "sent back: revision loop 1"],
  ["something.new", { reason: "who knows" }, "who knows"],
  ["something.new", {}, ""],
])("%s has its words", (type, more, words) => {
  expect(tell(event(type, more)).text).toBe(words);
});

test("a long text with line ends is one short line", () => {
  const { text } = tell(event("run.stopped", { reason: `a\n\tb ${"x".repeat(100_000)}` }));
  expect(text.startsWith("stopped: a b xxx")).toBe(true);
  expect(text.length).toBeLessThan(400);
});

test("a person's act is marked and never folded", () => {
  const described = tell(event("status.changed", {}, "human:ada"));
  expect(described).toMatchObject({ isHuman: true, isMinor: false });
});

test("neighbours of little importance are one line, until somebody wants to see them", () => {
  const described = [
    tell(event("run.created", { flow: "feature", subject: { id: "1", title: "Login", body: "" } })),
    tell(event("stage.ready", { stage: "spec", attempt: 1 })),
    tell(event("handoff.created", { number: 1, fromAgent: null, toAgent: "IN1" })),
    tell(event("stage.started", { stage: "spec", attempt: 1 })),
    tell(event("usage.recorded", { stage: "spec", attempt: 1, usage: { usd: null, inputTokens: 1, outputTokens: 2 } })),
  ];
  const shape = (isOpen: boolean, ...opened: number[]) =>
    foldMinor(described, isOpen, new Set(opened)).map((line) =>
      line.type === "folded" ? line.count : line.described.type,
    );
  expect(shape(false)).toEqual(["run.created", 2, "stage.started", "usage.recorded"]);
  expect(shape(true)).toEqual(described.map(({ type }) => type));
  expect(shape(false, described[1]?.seq ?? 0)).toEqual([
    "run.created",
    "stage.ready",
    "handoff.created",
    "stage.started",
    "usage.recorded",
  ]);
  expect(foldMinor([], false, new Set())).toEqual([]);
});
