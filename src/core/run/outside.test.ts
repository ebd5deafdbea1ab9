// Stages played outside, and handoffs that are never taken: single steps of the transition on the shipped story.

import { describe, expect, test } from "vitest";
import { flowOf } from "../../../test/harness/scripted-engine.ts";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import type { Actor } from "./event.ts";
import type { Flow } from "../flow/flow.ts";
import { isPlayedOutside } from "../flow/runner-choice.ts";
import { openItems, type Run } from "./run.ts";
import type { SignalBody } from "./signal.ts";
import { type Step, transition } from "./transition.ts";

const story = shippedFlow("story");
const at = "2026-01-01T00:00:00.000Z";
const step = (run: Run | undefined, body: SignalBody, actor: Actor = "agent:x", flow: Flow = story): Step =>
  transition(flow, run, { ...body, id: "s", at, actor });
const create = (flow: Flow = story) =>
  step(
    undefined,
    {
      type: "run.requested",
      runId: "r1",
      flowHash: "h",
      subject: { id: "v0.1:1.1.1", title: "t", body: "" },
      facts: {},
    },
    "human:t",
    flow,
  ).run;
const take = (stage: string, attempt = 1): SignalBody => ({ type: "attempt.started", stage, attempt, outside: true });
const report = (stage: string, verdict: string, attempt = 1): SignalBody => ({
  type: "attempt.finished",
  stage,
  attempt,
  outside: true,
  report: { verdict, structured: true, ...(verdict === "rejected" ? { reason: "no", issues: ["no"] } : {}) },
});
const expire = (number: number, then: "route" | "stop"): SignalBody => ({
  type: "handoff.expired",
  number,
  reason: "Agent timed out",
  // oxlint-disable-next-line unicorn/no-thenable -- the signal's own word; no code awaits it
  then,
});
const retry: SignalBody = { type: "retry.requested", note: "" };
const types = ({ events }: Step) => events.map(({ type }) => type);
const edges = ({ events }: Step) =>
  events.flatMap((event) =>
    event.type === "handoff.created" ? [`${event.number} ${event.fromAgent}→${event.toAgent}`] : [],
  );
const main = (run: Run) => run.tracks["main"];
const atImplementer = () => step(create(), report("analyst", "approved")).run;

describe("somebody outside takes a ready attempt", () => {
  test("it runs, marked as outside, in the name of whoever took it, and its handoff is accepted", () => {
    const taken = step(create(), take("analyst"), "agent:analyst");
    expect(taken.events).toMatchObject([
      { type: "stage.started", outside: true, actor: "agent:analyst" },
      { type: "handoff.accepted", number: 1, actor: "agent:analyst" },
      { type: "status.changed", to: "analyzing" },
    ]);
    expect(main(taken.run)).toMatchObject({ at: "running", outside: true, attempt: 1 });
    expect(step(taken.run, take("analyst")).ignored).toBe("attempt 1 of analyst is not ready");
    expect(edges(step(taken.run, report("analyst", "approved")))).toEqual(["2 analyst→implementer"]);
  });

  test("R-003-19: what is finished before it was taken is taken first, in one step", () => {
    const done = step(create(), report("analyst", "approved"), "agent:analyst");
    expect(types(done)).toEqual([
      "stage.started",
      "handoff.accepted",
      "status.changed",
      "stage.finished",
      "handoff.created",
      "stage.ready",
    ]);
  });

  test("R-003-25: a receiver may refuse what it has not taken yet; the work returns", () => {
    const reviewing = step(atImplementer(), report("implementer", "approved")).run;
    const refused = step(reviewing, report("reviewer", "rejected"));
    expect(refused.events).toContainEqual(
      expect.objectContaining({ type: "handoff.rejected", number: 3, reason: "no" }),
    );
    expect(edges(refused)).toEqual(["4 reviewer→implementer"]);
    expect(step(refused.run, report("reviewer", "rejected")).ignored).toBe("attempt 1 of reviewer is not running");
  });

  test("R-003-31: refusing the orchestrator's handoff rejects it and asks a person", () => {
    const refused = step(create(), report("analyst", "rejected"));
    expect(types(refused)).toContain("handoff.rejected");
    expect(edges(refused)).toEqual([]);
    expect(openItems(refused.run)).toMatchObject([{ kind: "escalation", stage: "analyst" }]);
  });

  const held = (): Run => {
    const body: SignalBody = {
      type: "attempt.held",
      stage: "analyst",
      attempt: 1,
      runner: "x",
      cause: "quota",
      until: "2026-01-02T00:00:00.000Z",
    };
    return step(create(), body, "engine").run;
  };
  const refusals: readonly [string, () => Run, string][] = [
    [
      "a run that is paused",
      () => step(create(), { type: "pause.requested", reason: "" }, "human:t").run,
      "the run is paused",
    ],
    ["a stage that is put off", held, "analyst is put off until 2026-01-02T00:00:00.000Z"],
    [
      "another attempt",
      () => step(step(create(), take("analyst")).run, retry, "human:t").run,
      "attempt 1 of analyst is not ready",
    ],
    [
      "a run that is over",
      () => step(create(), { type: "cancel.requested", reason: "no" }, "human:t").run,
      "the run is canceled",
    ],
  ];
  test.each(refusals)("%s is not taken", (_what, run, why) => {
    const refused = step(run(), take("analyst"));
    expect(refused.ignored).toBe(why);
    expect(types(refused)).toEqual(["signal.ignored"]);
    expect(step(run(), report("analyst", "approved")).ignored).toBe(why.replace("ready", "running"));
  });

  test("what is retried while somebody outside has it is offered anew", () => {
    const taken = step(create(), take("analyst")).run;
    const again = step(taken, retry, "human:t");
    expect(types(again)).toEqual(["stage.canceled", "handoff.withdrawn", "handoff.created", "stage.ready"]);
    expect(edges(again)).toEqual(["2 orchestrator→analyst"]);
    expect(main(again.run)).toMatchObject({ at: "ready", attempt: 2, carry: { handoff: 2, reason: "again" } });
    expect(step(taken, { type: "skip.requested", reason: "known" }, "human:t").run).toMatchObject({
      tracks: { main: { at: "ready", stage: "implementer" } },
    });
  });

  test("a stage that is skipped before anybody took it leaves no handoff behind", () => {
    const skipped = step(create(), { type: "skip.requested", reason: "known" }, "human:t");
    expect(skipped.events).toContainEqual(expect.objectContaining({ type: "handoff.withdrawn", number: 1 }));
  });
});

describe("a handoff that nobody takes", () => {
  test("R-003-23: the flow has no route for it: a person is asked, and nothing is returned", () => {
    const expired = step(atImplementer(), expire(2, "route"), "human:t");
    expect(expired.events).toMatchObject([
      { type: "handoff.expired", number: 2, reason: "Agent timed out", actor: "human:t" },
      { type: "stage.finished", outcome: { health: "failed", cause: "handoff_timeout" } },
      { type: "stage.timed_out", cause: "handoff_timeout" },
      { type: "escalation.opened", item: { reason: "failed: Agent timed out" } },
      { type: "run.waiting" },
    ]);
    const [item] = openItems(expired.run);
    const body: SignalBody = {
      type: "item.answered",
      number: item?.number ?? 0,
      kind: "escalation",
      answer: "again",
      text: "",
    };
    const again = step(expired.run, body, "human:t");
    expect(again.ignored).toBeUndefined();
    expect(edges(again)).toEqual(["3 analyst→implementer"]);
    expect(main(again.run)).toMatchObject({
      at: "ready",
      stage: "implementer",
      attempt: 2,
      carry: { from: "analyst", handoff: 3 },
    });
    expect(JSON.stringify(again.run)).not.toContain("untaken");
  });

  test("R-003-23: a flow that retries hands it over again, from the same sender, and counts", () => {
    const { flow } = flowOf(
      [
        { id: "plan", agent: "planner" },
        { id: "build", agent: "builder", route: { failed: { goto: "self", counter: "lost" } } },
      ],
      { counters: { lost: { max_loops: 1, scope: "run", on_exhausted: "stop" } }, handoffs: { entry: "boss" } },
    );
    let run = step(create(flow), report("plan", "pass"), "agent:x", flow).run;
    const once = step(run, expire(2, "route"), "engine", flow);
    expect(edges(once)).toEqual(["3 planner→builder"]);
    expect(main(once.run)).toMatchObject({
      at: "ready",
      attempt: 2,
      carry: { from: "plan", reason: "next", handoff: 3 },
    });
    run = step(once.run, expire(3, "route"), "engine", flow).run;
    expect(main(run)).toMatchObject({ at: "stopped", stage: "build" });
    const again = step(run, retry, "human:t", flow);
    expect(edges(again)).toEqual(["4 planner→builder"]);
    expect(again.run).toMatchObject({ status: "running" });
  });

  test("it can stop the track; a person who goes on makes it be handed over again", () => {
    const stopped = step(create(), expire(1, "stop"), "human:t");
    expect(types(stopped)).toEqual(["handoff.expired", "stage.canceled", "stage.stopped", "run.stopped"]);
    expect(stopped.run).toMatchObject({ status: "stopped", reason: "Agent timed out" });
    const again = step(stopped.run, retry, "human:t");
    expect(edges(again)).toEqual(["2 orchestrator→analyst"]);
    expect(again.events).toContainEqual(expect.objectContaining({ type: "handoff.created", fromStage: null }));
    expect(step(again.run, report("analyst", "approved", 2)).ignored).toBeUndefined();
    const skipped = step(stopped.run, { type: "skip.requested", reason: "known" }, "human:t");
    expect(edges(skipped)).toEqual(["2 analyst→implementer"]);
  });

  test("R-003-24: one that was taken, closed, or is not there cannot expire", () => {
    const taken = step(create(), take("analyst")).run;
    for (const [run, number] of [
      [taken, 1],
      [atImplementer(), 1],
      [create(), 2],
      [create(), 0],
    ] as const) {
      expect(step(run, expire(number, "route"), "human:t").ignored).toBe(`handoff ${number} does not wait to be taken`);
    }
    const stopped = step(create(), expire(1, "stop"), "human:t").run;
    expect(step(stopped, expire(1, "stop"), "human:t").ignored).toBeDefined();
  });
});

test("who is outside is said by the run, the flow or the agent's file, like any other runner", () => {
  const { flow } = flowOf([{ id: "build", agent: "builder" }]);
  const [stage] = flow.stages;
  if (stage?.kind !== "agent") throw new Error("unexpected");
  const resolved = { flow, agents: {}, prompts: {}, hash: "h" };
  expect(isPlayedOutside(resolved, {}, stage)).toBe(false);
  expect(isPlayedOutside(resolved, { runners: { "*": { runner: "outside" } } }, stage)).toBe(true);
  expect(isPlayedOutside(resolved, { runners: { "*": { runner: "outside" }, build: ["make"] } }, stage)).toBe(false);
  expect(isPlayedOutside(resolved, { config: { runner: "outside" } }, stage)).toBe(true);
  const { flow: own } = flowOf([{ id: "build", agent: "builder", runner: "outside" }]);
  const [ownStage] = own.stages;
  if (ownStage?.kind !== "agent") throw new Error("unexpected");
  expect(isPlayedOutside({ ...resolved, flow: own }, {}, ownStage)).toBe(true);
});
