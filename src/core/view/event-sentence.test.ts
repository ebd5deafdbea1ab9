import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import type { EventBody, RunEvent } from "../run/event.ts";
import { type ScriptedOutcome, simulate } from "../run/simulate.ts";
import { isEventType, sayEvent, sentenceOf, shortSentence } from "./event-sentence.ts";

const by = (body: EventBody, actor: RunEvent["actor"] = "engine"): RunEvent => ({
  ...body,
  at: "2026-01-01T00:00:00.000Z",
  actor,
});
const at = { track: "main", stage: "build", attempt: 2 };

test.each<[EventBody, string]>([
  [{ type: "stage.started", ...at }, "build: attempt 2 by IN2"],
  [{ type: "counter.changed", key: "revision", from: 0, to: 1, streak: 0 }, "sent back: revision loop 1 of 2"],
  [{ type: "counter.changed", key: "revision", from: 2, to: 0, streak: 0 }, "revision starts again at 0"],
  [{ type: "run.stopped", reason: "no way on" }, "stopped: no way on"],
  [
    {
      type: "stage.finished",
      ...at,
      outcome: { health: "failed", cause: "agent_exit_nonzero", issues: [], questions: [], warnings: [] },
    },
    "build: failed: agent_exit_nonzero",
  ],
  [
    {
      type: "outward.intended",
      stage: "",
      attempt: 0,
      key: "k",
      verb: "discard",
      branch: "feat/a",
      target: "",
      commit: "c1",
      before: null,
    },
    "about to discard the branch: c1 (feat/a)",
  ],
  [
    {
      type: "outward.seen",
      key: "k",
      stage: "",
      verb: "discard",
      branch: "feat/a",
      target: "",
      sight: { result: "done", commit: "c1", number: null, url: null, keptAs: "refs/passrail/keep/r1" },
    },
    "seen after discard: c1 (feat/a); kept as refs/passrail/keep/r1",
  ],
  [
    {
      type: "stage.postponed",
      ...at,
      cause: "rate_limit",
      reason: "",
      until: "2026-01-01T00:05:00.000Z",
      retry: 1,
      of: 5,
      times: { outages: 1, crashes: 0 },
    },
    "build: rate limit, resumes 00:05: retry 1 of 5; no loop is used up",
  ],
])("%j reads: %s", (body, sentence) => {
  const context = { agentOf: () => "IN2", limitOf: () => 2, timeOf: (time: string) => time.slice(11, 16) };
  expect(sentenceOf(by(body), context)).toBe(sentence);
});

test("a person's act names the person in the sentence, and not in the short form", () => {
  const event = by(
    { type: "gate.answered", track: "main", stage: "ship", number: 1, answer: "approve", comment: "well done" },
    "human:ada",
  );
  expect(sentenceOf(event)).toBe("ship: gate answered by ada: approve, with the comment: well done");
  expect(shortSentence(sayEvent(event))).toBe("gate answered: approve, with the comment: well done");
});

test("every event of a run with loops, an escalation and gates has words, also without any context", () => {
  const gate = (stage: string, answer: string): ScriptedOutcome => ({ at: stage, kind: "gate", answer, text: "" });
  const revise: ScriptedOutcome = { stage: "qa", verdict: "REVISE", issues: ["no tests"] };
  const built: ScriptedOutcome = { stage: "build", verdict: "COMPLETE" };
  const { events, problem } = simulate(
    shippedFlow("feature"),
    [
      gate("start", "approve"),
      { stage: "spec", verdict: "APPROVED" },
      { stage: "design", verdict: "APPROVED" },
      built,
      revise,
      built,
      revise,
      built,
      revise,
      { at: "qa", kind: "escalation", answer: "accept", text: "" },
      gate("ship", "approve"),
    ],
    { facts: {} },
  );
  expect(problem).toBeNull();
  expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(12);
  for (const event of events) {
    const sentence = sentenceOf(event);
    expect(sentence, `the sentence of ${event.type}`).toMatch(/\S/u);
    expect(sentence, `the sentence of ${event.type}`).not.toMatch(/undefined|null|\[object/u);
  }
});

test("an event of a later version is not known", () => {
  expect(isEventType("gate.opened")).toBe(true);
  expect(isEventType("something.new")).toBe(false);
  expect(isEventType("toString")).toBe(false);
});
