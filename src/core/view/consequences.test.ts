// Where answers lead, over a walk through the feature flow; each prediction must come true.

import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { leadsOf } from "./consequences.ts";
import { openItems, type Run } from "../run/run.ts";
import type { Signal, SignalBody } from "../run/signal.ts";
import { transition } from "../run/transition.ts";

const flow = shippedFlow("feature");
const at = "2026-01-01T00:00:00.000Z";
let signals = 0;

function step(run: Run | undefined, body: SignalBody, actor: Signal["actor"] = "human:t"): Run {
  const next = transition(flow, run, { ...body, id: `s${++signals}`, at, actor });
  expect(next.ignored).toBeUndefined();
  return next.run;
}

function play(run: Run, stage: string, report: object): Run {
  const attempt = run.stages[stage]?.attempts ?? 1;
  const started = step(run, { type: "attempt.started", stage, attempt }, "engine");
  return step(started, { type: "attempt.finished", stage, attempt, report }, "agent:x");
}

function itemOf(run: Run) {
  const [item] = openItems(run);
  if (item === undefined) throw new Error("nothing waits");
  return item;
}

const subject = { id: "F-1", title: "t", body: "" };
const created = () => step(undefined, { type: "run.requested", runId: "r1", flowHash: "h", subject, facts: {} });
const gate = (run: Run, answer: string, text = "") =>
  step(run, { type: "item.answered", number: itemOf(run).number, kind: itemOf(run).kind, answer, text });

function atShip(): Run {
  let run = gate(created(), "approve");
  for (const stage of ["spec", "design"]) run = play(run, stage, { verdict: "APPROVED" });
  return play(play(run, "build", { verdict: "COMPLETE" }), "qa", { verdict: "SHIP" });
}

test("a gate's answers say which agent works next, or that it ends", () => {
  expect(leadsOf(flow, created(), itemOf(created()))).toEqual([
    { answer: "approve", to: "spec", who: "IN1", isGate: false, word: "approved" },
    { answer: "decline", to: "cancel", who: "", isGate: false, word: "canceled" },
  ]);
  const run = atShip();
  expect(leadsOf(flow, run, itemOf(run))).toMatchObject([
    { answer: "approve", to: "end", word: "shipped" },
    { answer: "revise", to: "build", who: "IN2" },
    { answer: "decline", to: "cancel", word: "canceled" },
  ]);
});

test("an escalation's choices lead on, back or out, and what is foretold is what happens", () => {
  const run = play(gate(created(), "approve"), "spec", { verdict: "REJECT", issues: ["no"] });
  const leads = leadsOf(flow, run, itemOf(run));
  expect(leads.length).toBeGreaterThan(1);
  for (const { answer, to, word } of leads) {
    const after = gate(run, answer, "because");
    expect(after.word).toBe(word);
    if (to === "cancel") expect(after.status).toBe("canceled");
    else expect(after.tracks["main"]).toMatchObject({ stage: to });
  }
});

test("R-000-07, R-000-08: what a person found at a gate is carried in order to the stage that works on it", () => {
  const issues = [{ description: "validate state", file: "src/auth.ts", line: 42 }, "and say so"];
  const run = atShip();
  const { number, kind } = itemOf(run);
  const sent = step(run, { type: "item.answered", number, kind, answer: "revise", text: "see lines", issues });
  expect(sent.tracks["main"]).toMatchObject({ stage: "build", carry: { issues, said: "see lines" } });
});

test("R-000-07: at an escalation a person's findings come after those of the agents", () => {
  const run = play(gate(created(), "approve"), "spec", { verdict: "REJECT", issues: ["first"] });
  const { number, kind } = itemOf(run);
  const again = leadsOf(flow, run, itemOf(run)).find(({ to }) => to === "spec");
  const issues = [{ description: "second" }];
  const sent = step(run, { type: "item.answered", number, kind, answer: again?.answer ?? "", text: "", issues });
  expect(sent.tracks["main"]).toMatchObject({ stage: "spec", carry: { issues: ["first", { description: "second" }] } });
});
