import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { type ScriptedOutcome, simulate } from "../run/simulate.ts";
import type { SignalBody } from "../run/signal.ts";
import { transition } from "../run/transition.ts";
import { pipelineState } from "./pipeline-state.ts";

const flow = shippedFlow("routed");
const facts = { config: { project: "shop" } };
const route: ScriptedOutcome = { stage: "route", stages: ["builder", "reviewer"] };
const build: ScriptedOutcome = { stage: "builder" };
const review = (verdict: string): ScriptedOutcome => ({ stage: "reviewer", verdict });

function stateAfter(script: readonly ScriptedOutcome[]) {
  const { events, run, problem } = simulate(flow, script, { facts });
  expect(problem).toBeNull();
  return { state: pipelineState(flow, events, run), events, run };
}

test("R-001-22: the state has the stages, the retries and the final verdict of a run that was stopped", () => {
  const { state } = stateAfter([route, build, review("REVISE"), build, review("REVISE"), build, review("REVISE")]);
  expect(state).toEqual({
    project: "shop",
    task: "simulated",
    agentPipeline: [
      { agent: "builder", teams: false },
      { agent: "reviewer", teams: false },
    ],
    status: "failed",
    phase: "reviewer",
    startedAt: "2000-01-01T00:00:00.000Z",
    updatedAt: "2000-01-01T00:00:00.000Z",
    retries: 2,
    finalVerdict: "REVISE",
    error: "review is used up after 2 of 2 loops",
  });
});

test("a run under way has no final verdict, whatever was said so far", () => {
  const { state } = stateAfter([route, build, review("REVISE")]);
  expect(state).toMatchObject({ status: "running", phase: "builder", retries: 1 });
  expect(state).not.toHaveProperty("finalVerdict");
  expect(state).not.toHaveProperty("error");
});

test("before the router has answered no agents are chosen", () => {
  expect(stateAfter([]).state).toMatchObject({ status: "running", phase: "route", agentPipeline: [], retries: 0 });
});

test("an approved run is completed", () => {
  expect(stateAfter([route, build, review("APPROVE")]).state).toMatchObject({
    status: "completed",
    phase: null,
    finalVerdict: "APPROVE",
  });
});

test("a stalled run says so until something happens again", () => {
  const { events, run } = stateAfter([route]);
  const at = "2000-01-01T00:31:00.000Z";
  const stalled = transition(flow, run, { type: "stall.noticed", since: run.createdAt, id: "x", at, actor: "engine" });
  const before = [...events, ...stalled.events];
  expect(pipelineState(flow, before, stalled.run)).toMatchObject({ status: "stalled", updatedAt: at });
  const steps: readonly SignalBody[] = [
    { type: "attempt.finished", stage: "builder", attempt: 1, report: { structured: true } },
    { type: "attempt.started", stage: "reviewer", attempt: 1 },
  ];
  let now = stalled.run;
  for (const [index, step] of steps.entries())
    now = transition(flow, now, { ...step, id: `s${index}`, at, actor: "engine" }).run;
  expect(pipelineState(flow, before, now).status).toBe("running");
});
