// Source 000's record over simulated runs of the shipped flow; test/scenarios/engine/feature-record.test.ts checks it over real ones.

import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import type { RunEvent } from "../run/event.ts";
import { evolve } from "../run/evolve.ts";
import type { Run } from "../run/run.ts";
import { type ScriptedOutcome, simulate } from "../run/simulate.ts";
import { featureRecord } from "./feature.ts";

const flow = shippedFlow("feature");
const gate = (at: string, answer = "approve"): ScriptedOutcome => ({ at, kind: "gate", answer, text: "" });
const toQa: readonly ScriptedOutcome[] = [
  gate("start"),
  { stage: "spec", verdict: "APPROVED" },
  { stage: "design", verdict: "APPROVED" },
  { stage: "build", verdict: "COMPLETE" },
];
const revise = (issue: string): readonly ScriptedOutcome[] => [
  { stage: "qa", verdict: "REVISE", issues: [issue] },
  { stage: "build", verdict: "COMPLETE" },
];

function recordAfter(script: readonly ScriptedOutcome[]) {
  const { events, run, problem } = simulate(flow, script, { facts: {} });
  expect(problem).toBeNull();
  return { record: featureRecord(flow, events, run), events, run };
}

test("R-000-31: a new feature has count 0, no agent and an empty log", () => {
  const { record } = recordAfter([]);
  expect(record).toEqual({ status: "pending", revision_count: 0, current_agent: null, pipeline_log: [] });
});

test("R-000-32: the current agent is the one that runs, and nobody at a gate, after the end and after cancel", () => {
  const { events } = recordAfter([...toQa, { stage: "qa", verdict: "SHIP" }, gate("ship")]);
  const seen = agentsAlong(events);
  expect(seen).toEqual([null, "IN1", "IN5", "IN2", "IN6", null]);
  expect(recordAfter([gate("start", "decline")]).record).toMatchObject({ status: "canceled", current_agent: null });
});

test("R-000-33: handoff, verdict, gate answer and escalation add one entry each, in order", () => {
  const script = [
    ...toQa,
    ...revise("one"),
    ...revise("two"),
    { stage: "qa", verdict: "REVISE", issues: ["three"] },
    { at: "qa", kind: "escalation", answer: "cancel", text: "enough" } as const,
  ];
  const { record, events } = recordAfter(script);
  const rows = record.pipeline_log.map(
    ({ agent, stage, verdict, revision_loop = 0 }) => `${agent} ${stage} ${verdict} ${revision_loop}`,
  );
  expect(rows).toEqual([
    "human:script start approve 0",
    "IN1 spec HANDOFF 0",
    "IN1 spec APPROVED 0",
    "IN5 design HANDOFF 0",
    "IN5 design APPROVED 0",
    "IN2 build HANDOFF 0",
    "IN2 build COMPLETE 0",
    "IN6 qa HANDOFF 0",
    "IN6 qa REVISE 0",
    "IN2 build HANDOFF 1",
    "IN2 build COMPLETE 1",
    "IN6 qa HANDOFF 1",
    "IN6 qa REVISE 1",
    "IN2 build HANDOFF 2",
    "IN2 build COMPLETE 2",
    "IN6 qa HANDOFF 2",
    "IN6 qa REVISE 2",
    "engine qa ESCALATED 2",
    "human:script qa cancel 0",
  ]);
  expect(
    record.pipeline_log.filter(({ issues }) => issues !== undefined).map(({ verdict, issues }) => [verdict, issues]),
  ).toEqual([
    ["REVISE", ["one"]],
    ["REVISE", ["two"]],
    ["REVISE", ["three"]],
    ["ESCALATED", ["three"]],
  ]);
  const kinds = new Set<string>([
    "handoff.created",
    "stage.finished",
    "gate.answered",
    "escalation.opened",
    "escalation.resolved",
  ]);
  expect(record.pipeline_log).toHaveLength(events.filter(({ type }) => kinds.has(type)).length);
  expect(record.revision_count).toBe(2);
});

test("R-000-33: an entry is never changed or removed by what happens later", () => {
  const { events, record } = recordAfter([...toQa, ...revise("one"), { stage: "qa", verdict: "SHIP" }, gate("ship")]);
  for (let length = 1; length <= events.length; length++) {
    const part = events.slice(0, length);
    const { pipeline_log: log } = featureRecord(flow, part, fold(part));
    expect(record.pipeline_log.slice(0, log.length)).toEqual(log);
  }
});

test("R-000-33: an attempt that was put off leaves no entry: it said nothing about the work", () => {
  const { events, run } = recordAfter([...toQa, { stage: "qa", exit: 1 }]);
  const putOff: RunEvent = {
    type: "stage.postponed",
    track: "main",
    stage: "qa",
    attempt: 1,
    cause: "rate_limit",
    reason: "",
    until: "2000-01-01T00:00:15.000Z",
    retry: 1,
    of: 5,
    times: { outages: 1, crashes: 0 },
    at: "2000-01-01T00:00:00.000Z",
    actor: "engine",
  };
  const verdicts = (all: readonly RunEvent[]) =>
    featureRecord(flow, all, run).pipeline_log.flatMap(({ stage, verdict }) => (stage === "qa" ? [verdict] : []));
  expect(verdicts(events)).toContain("failed");
  expect(verdicts([...events, putOff])).not.toContain("failed");
});

function fold(events: readonly RunEvent[]): Run {
  let run: Run | undefined;
  for (const event of events) run = evolve(run, event);
  if (run === undefined) throw new Error("no events");
  return run;
}

/** The agents shown at the ends of the changes, without repeats; a change is everything that happens at one status word. */
function agentsAlong(events: readonly RunEvent[]): readonly (string | null)[] {
  const shown: (string | null)[] = [];
  for (const [index, event] of events.entries()) {
    if (event.type !== "stage.started" && event.type !== "gate.opened" && event.type !== "run.completed") continue;
    const part = events.slice(0, index + 1);
    const { current_agent: agent } = featureRecord(flow, part, fold(part));
    if (shown.at(-1) !== agent) shown.push(agent);
  }
  return shown;
}
