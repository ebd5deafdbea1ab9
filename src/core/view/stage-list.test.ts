import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { type ScriptedOutcome, simulate } from "../run/simulate.ts";
import { attemptRow, type RecordedAttempt } from "./attempt-row.ts";
import { listStages, stageRows } from "./stage-list.ts";

const AT = "2026-01-01T00:00:00.000Z";
const NOW = Date.parse(AT) + 5000;

/** Attempts as the store records them, made from the events of a simulation. */
function recorded(events: ReturnType<typeof simulate>["events"]): readonly RecordedAttempt[] {
  return events.flatMap((event): RecordedAttempt[] => {
    if (event.type !== "stage.finished") return [];
    const { stage, attempt, track, outcome } = event;
    const times = { readyAt: AT, startedAt: AT, endedAt: "2026-01-01T00:00:02.000Z" };
    return [{ stage, attempt, track, status: "done", ...times, outcome, facts: {} }];
  });
}

function states(
  flowName: Parameters<typeof shippedFlow>[0],
  script: readonly ScriptedOutcome[],
): Record<string, string> {
  const flow = shippedFlow(flowName);
  const { run, events } = simulate(flow, script, { facts: {} });
  return Object.fromEntries(stageRows(flow, run, recorded(events), NOW).map(({ id, state }) => [id, state]));
}

const APPROVED: readonly ScriptedOutcome[] = [{ at: "start", kind: "gate", answer: "approve", text: "" }];
const BUILT: readonly ScriptedOutcome[] = [
  ...APPROVED,
  { stage: "spec", verdict: "APPROVED" },
  { stage: "design", verdict: "APPROVED" },
  { stage: "build", verdict: "COMPLETE" },
];

test("the current stage has its track's state, later ones are open", () => {
  const open = { design: "open", build: "open", qa: "open", ship: "open", land: "open", merged: "open" };
  expect(states("feature", [])).toEqual({ start: "waiting", spec: "open", ...open });
  expect(states("feature", APPROVED)).toMatchObject({ spec: "running", ...open });
});

test("a stage that passed is done; a judge that sent the work back has failed until it runs again", () => {
  const shown = states("feature", [...BUILT, { stage: "qa", verdict: "REVISE", issues: ["no tests"] }]);
  expect(shown).toMatchObject({ spec: "done", build: "running", qa: "failed", ship: "open" });
});

test("a gate is done as soon as a stage behind it has worked, or the run is complete", () => {
  const passed: readonly ScriptedOutcome[] = [...BUILT, { stage: "qa", verdict: "SHIP" }];
  expect(states("feature", BUILT)["start"]).toBe("done");
  expect(states("feature", passed)["ship"]).toBe("waiting");
  const shipped: ScriptedOutcome = { at: "ship", kind: "gate", answer: "approve", text: "" };
  expect(states("feature", [...passed, shipped])["ship"]).toBe("done");
});

test("tracks are listed under their names, and a router's choice only once it is known", () => {
  const complex = shippedFlow("build-plan-complex");
  const tracks = new Set(listStages(complex.stages).map(({ track }) => track));
  expect(tracks.size).toBeGreaterThan(2);
  const routed = shippedFlow("routed");
  expect(listStages(routed.stages).map(({ stage }) => stage.kind)).not.toContain("dynamic");
  const { run, events } = simulate(routed, [{ stage: "route", stages: ["builder", "reviewer"] }], { facts: {} });
  const ids = stageRows(routed, run, recorded(events), NOW).map(({ id }) => id);
  expect(ids).toContain("builder");
  expect(ids).toContain("reviewer");
});

const BASE: RecordedAttempt = {
  stage: "build",
  attempt: 2,
  track: "main",
  status: "running",
  readyAt: AT,
  startedAt: AT,
  endedAt: null,
  outcome: null,
  facts: {},
};

test("an attempt's row: unknown values are null, and a running attempt lasts until now", () => {
  expect(attemptRow(BASE, NOW)).toMatchObject({
    canonical: null,
    word: null,
    durationMs: 5000,
    exitCode: null,
    commits: null,
    runner: null,
    usage: null,
    issues: [],
  });
  expect(attemptRow({ ...BASE, startedAt: null }, NOW).durationMs).toBeNull();
});

test("an attempt's row: verdict, cause, commits and usage come from the outcome and the engine's notes", () => {
  const usage = { usd: 0.5, inputTokens: 1, outputTokens: 2, cachedTokens: null };
  const row = attemptRow(
    {
      ...BASE,
      status: "done",
      endedAt: "2026-01-01T00:00:01.500Z",
      outcome: { health: "failed", cause: "agent_exit_nonzero", issues: [], questions: [], warnings: [] },
      facts: { from: "a1", to: "b2", exitCode: 3, runner: "claude", model: "", usage },
    },
    NOW,
  );
  expect(row).toMatchObject({
    canonical: "failed",
    cause: "agent_exit_nonzero",
    durationMs: 1500,
    exitCode: 3,
    commits: { from: "a1", to: "b2" },
    runner: "claude",
    model: null,
    usage,
  });
  expect(attemptRow({ ...BASE, facts: { from: "a1", to: "a1" } }, NOW).commits).toBeNull();
});
