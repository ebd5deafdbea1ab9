import { expect, test } from "vitest";
import { parse } from "yaml";
import { resolveFlow } from "../flow/flow.ts";
import { flowFileSchema } from "../flow/flow-file.ts";
import { type ScriptedOutcome, simulate } from "../run/simulate.ts";
import { pastItems } from "./decision.ts";

const flow = resolveFlow(
  flowFileSchema.parse(
    parse(`
flow: asking
version: 1
subject: ticket
allow_ungated: true
stages:
  - id: work
    agent: builder
    route:
      blocked: { goto: self, ask: owner }
      reject: { ask: owner, choices: { redo: self, drop: stop } }
      failed: escalate
  - { id: merge, kind: gate }
`),
  ),
);

function itemsAfter(...script: readonly ScriptedOutcome[]) {
  const { events, problem } = simulate(flow, script, { facts: {} });
  expect(problem).toBeNull();
  return pastItems(events);
}

test("a choice is decided by its answer, a question by its text", () => {
  const items = itemsAfter(
    { stage: "work", verdict: "reject", reason: "too large" },
    { at: "work", kind: "choice", answer: "redo", text: "" },
    { stage: "work", health: "blocked", questions: ["which?"] },
    { at: "work", kind: "question", answer: "", text: "the second" },
  );
  expect(items.map(({ kind, decision }) => [kind, decision?.kind, decision?.answer, decision?.text])).toEqual([
    ["choice", "choice", "redo", ""],
    ["question", "question", "", "the second"],
  ]);
});

test("an open item has no decision; a gate and an escalation keep answer and words apart", () => {
  const open = itemsAfter({ stage: "work", health: "complete" });
  expect(open).toMatchObject([{ number: 1, kind: "gate", stage: "merge", decision: null }]);
  const decided = itemsAfter(
    { stage: "work", health: "failed", reason: "broken" },
    { at: "work", kind: "escalation", answer: "accept", text: "good enough" },
    { at: "merge", kind: "gate", answer: "approve", text: "thanks" },
  );
  expect(decided.map(({ decision }) => decision)).toMatchObject([
    { kind: "escalation", answer: "accept", text: "good enough", by: "human:script" },
    { kind: "gate", answer: "approve", text: "thanks" },
  ]);
});
