// Where a run goes, on small flows that show one way each.

import { describe, expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { type Flow, resolveFlow } from "../flow/flow.ts";
import { flowFileSchema } from "../flow/flow-file.ts";
import { type ScriptedOutcome, simulate } from "./simulate.ts";

function flowOf(file: object): Flow {
  return resolveFlow(flowFileSchema.parse({ flow: "small", version: 1, subject: "ticket", ...file }));
}

function play(flow: Flow, script: readonly ScriptedOutcome[], facts = {}) {
  const { run, events, problem, trace } = simulate(flow, script, { facts });
  expect(problem).toBeNull();
  const started = events.flatMap((event) => (event.type === "stage.started" ? [event.stage] : []));
  const warnings = events.flatMap((event) => (event.type === "warning.raised" ? [event.message] : []));
  return { run, events, trace, started, warnings };
}

const two = (route: object, more: object = {}) =>
  flowOf({
    stages: [
      { id: "work", agent: "a" },
      { id: "judge", agent: "b", route },
    ],
    ...more,
  });
const judged = (verdict: string, more: object = {}): readonly ScriptedOutcome[] => [
  { stage: "work" },
  { stage: "judge", verdict, ...more },
];

describe("fail closed", () => {
  test.each(["revise", "redesign", "reject", "exhausted"])("R-X-03: %s without a route stops", (verdict) => {
    expect(play(two({ revise: "stop" }), judged(verdict)).run).toMatchObject({ status: "stopped" });
  });

  test.each(["blocked", "failed", "incomplete"])(
    "R-X-03: health %s without a route stops, whatever the verdict says",
    (health) => {
      expect(play(two({ pass: "next", revise: "work" }), judged("pass", { health })).run).toMatchObject({
        status: "stopped",
      });
    },
  );

  test("R-X-03: a failing exit is a failure even with a good verdict", () => {
    expect(play(two({ pass: "next", revise: "work" }), judged("pass", { exit: 1 })).run).toMatchObject({
      status: "stopped",
    });
  });
});

describe("counters", () => {
  const counted = (counter: object) => two({ revise: { goto: "work", counter: "c" } }, { counters: { c: counter } });
  const times = (count: number, issues: readonly string[] = ["x"]) =>
    Array.from({ length: count }, () => judged("revise", { issues })).flat();

  test.each([
    [{ max_loops: 2 }, 3],
    [{ max_attempts: 3 }, 3],
    [{ max_attempts: 1 }, 1],
    [{ max_loops: 0 }, 1],
    [{}, 3],
  ])("R-000-20, R-001-22: with %j the negative verdict number %i is the last", (counter, last) => {
    expect(play(counted(counter), times(last - 1)).run.status).toBe("running");
    expect(play(counted(counter), times(last)).run).toMatchObject({
      status: "waiting",
      tracks: { main: { item: { kind: "escalation" } } },
    });
  });

  test("without a limit it goes on", () => {
    expect(play(counted({ max_attempts: "none" }), times(12)).run).toMatchObject({
      status: "running",
      counters: { c: { loops: 12 } },
    });
  });

  test("R-001-22: on_exhausted stop stops, a key of the route is followed", () => {
    expect(play(counted({ max_loops: 0, on_exhausted: "stop" }), times(1)).run.status).toBe("stopped");
    const forced = two(
      { revise: { goto: "work", counter: "c" }, forced: "next" },
      { counters: { c: { max_loops: 0, on_exhausted: "forced" } } },
    );
    expect(play(forced, times(1)).run.status).toBe("completed");
  });

  test("a run of an earlier version still ends a loop of the same issues, in whatever order they are named", () => {
    const now = counted({ max_attempts: "none" });
    const flow = { ...now, counters: { c: { ...now.counters["c"], sameIssues: 3 } } } as Flow;
    const same = [...judged("revise", { issues: ["a", "b"] }), ...judged("revise", { issues: ["b", "a"] })];
    expect(play(flow, same).run.status).toBe("running");
    expect(play(flow, [...same, ...judged("revise", { issues: ["a", "b"] })]).run.status).toBe("waiting");
    expect(play(flow, [...same, ...judged("revise", { issues: ["c"] }), ...same]).run.status).toBe("running");
  });

  test("again at an escalation resets the counter, accept leaves it", () => {
    const flow = counted({ max_loops: 1 });
    const say = (answer: string): ScriptedOutcome => ({ at: "judge", kind: "escalation", answer, text: "" });
    expect(play(flow, [...times(2), say("again")]).run).toMatchObject({
      status: "running",
      counters: { c: { loops: 0 } },
    });
    expect(play(flow, [...times(2), say("accept")]).run).toMatchObject({
      status: "completed",
      counters: { c: { loops: 1 } },
    });
  });

  test("a counter may reset another", () => {
    const flow = flowOf({
      counters: { inner: { max_loops: 1 }, outer: { max_loops: 5, resets: ["inner"] } },
      stages: [
        { id: "work", agent: "a" },
        { id: "judge", agent: "b", route: { revise: { goto: "work", counter: "inner" } } },
        { id: "test", agent: "c", route: { revise: { goto: "work", counter: "outer" } } },
      ],
    });
    const { run } = play(flow, [...judged("revise"), ...judged("pass"), { stage: "test", verdict: "revise" }]);
    expect(run.counters).toMatchObject({ inner: { loops: 0 }, outer: { loops: 1 } });
  });
});

describe("targets", () => {
  const three = (goto: string, more: object = {}) =>
    flowOf({
      stages: [
        { id: "one", agent: "a" },
        { id: "two", agent: "b" },
        { id: "three", agent: "c", route: { revise: { goto, ...more } } },
      ],
    });
  const script: readonly ScriptedOutcome[] = [
    { stage: "one" },
    { stage: "two" },
    { stage: "three", verdict: "revise", issues: ["x"] },
  ];
  test.each([
    ["prev", "two"],
    ["first", "one"],
    ["self", "three"],
    ["one", "one"],
    ["agent:a", "one"],
    ["agent:B", "two"],
  ])("R-001-20, R-001-21: %s leads to %s", (goto, stage) => {
    expect(play(three(goto), script).run.tracks["main"]).toMatchObject({
      stage,
      carry: { reason: "sent-back", from: "three" },
    });
  });

  test("R-001-21: a missing agent takes the else, and the log says so", () => {
    const { run, warnings } = play(three("agent:z", { else: "first" }), script);
    expect(run.tracks["main"]).toMatchObject({ stage: "one" });
    expect(warnings).toEqual(["there is no agent:z to go to; taking first"]);
  });

  test("R-001-32: a missing agent without an else stops and names what is there", () => {
    expect(play(three("agent:z"), script).run).toMatchObject({
      status: "stopped",
      reason: expect.stringContaining("one, two, three"),
    });
  });

  test("warn goes on and says so", () => {
    const { run, warnings } = play(three("warn"), script);
    expect(run.status).toBe("completed");
    expect(warnings[0]).toContain("the flow continues");
  });

  test("a way marked once is taken once, then its else", () => {
    const flow = three("one", { once: true, else: "stop" });
    expect(play(flow, script).run.status).toBe("running");
    expect(play(flow, [...script, ...script]).run.status).toBe("stopped");
  });

  test("a stage whose condition does not hold is passed over", () => {
    const flow = flowOf({
      stages: [
        { id: "one", agent: "a", when: "plan.infra" },
        { id: "two", agent: "b" },
      ],
    });
    expect(play(flow, [{ stage: "two" }]).started).toEqual(["two"]);
    expect(play(flow, [{ stage: "one" }, { stage: "two" }], { plan: { infra: true } }).started).toEqual(["one", "two"]);
  });
});

describe("the routed flow", () => {
  const routed = shippedFlow("routed");
  const after = (agents: readonly string[], reviews: readonly ScriptedOutcome[]) =>
    play(routed, [{ stage: "route", stages: agents }, ...reviews]);

  test("R-001-31: stages after a reviewer run, and a second reviewer's REVISE goes to the nearest builder", () => {
    const { started } = after(
      ["builder", "reviewer", "builder", "reviewer", "documenter"],
      [
        { stage: "builder" },
        { stage: "reviewer", verdict: "APPROVE" },
        { stage: "builder-2" },
        { stage: "reviewer-2", verdict: "REVISE" },
        { stage: "builder-2" },
        { stage: "reviewer-2", verdict: "APPROVE" },
        { stage: "documenter" },
      ],
    );
    expect(started).toEqual([
      "route",
      "builder",
      "reviewer",
      "builder-2",
      "reviewer-2",
      "builder-2",
      "reviewer-2",
      "documenter",
    ]);
  });

  test("R-001-32: REVISE of a reviewer that comes first stops", () => {
    const { run } = after(["reviewer", "builder"], [{ stage: "reviewer", verdict: "REVISE" }]);
    expect(run).toMatchObject({ status: "stopped", word: "failed" });
  });

  test("a named agent makes one stage and no router", () => {
    const { started, run } = play(routed, [{ stage: "builder" }], { input: { agent: "builder" } });
    expect(started).toEqual(["builder"]);
    expect(run.status).toBe("completed");
  });
});

describe("what a gate tells besides the work", () => {
  const gated = flowOf({
    stages: [
      { id: "start", kind: "gate" },
      { id: "work", agent: "a" },
      { id: "ship", kind: "gate" },
    ],
  });
  const files = [{ path: ".mcp.json", sha256: "0123456789abcdef", for: "claude" }];
  const notesAt = (config: object) => {
    const { events } = simulate(gated, [], { facts: { config: { ...config } } });
    return events.flatMap((event) =>
      event.type === "gate.opened" && event.item.kind === "gate" ? [event.item.notes] : [],
    );
  };

  test("S10: settings that the repository brings stand at the gate with their hash, and whether they take effect", () => {
    expect(notesAt({ repository_files: files })).toEqual([
      ["the repository brings .mcp.json for claude (sha256 0123456789ab); it stays off"],
    ]);
    expect(notesAt({ repository_files: files, repository_settings: true })[0]?.[0]).toContain("it takes effect");
    expect(notesAt({})).toEqual([undefined]);
  });
});
