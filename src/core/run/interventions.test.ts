// A person's hand on a run, in every state that a run can be in.

import { describe, expect, test } from "vitest";
import { resolveFlow } from "../flow/flow.ts";
import { flowFileSchema } from "../flow/flow-file.ts";
import type { Run } from "./run.ts";
import type { Signal, SignalBody } from "./signal.ts";
import { type Step, transition } from "./transition.ts";

const flow = resolveFlow(
  flowFileSchema.parse({
    flow: "small",
    version: 1,
    subject: "thing",
    words: { verdict: { PASS: "pass" }, health: { complete: "complete", failed: "failed", blocked: "blocked" } },
    stages: [
      {
        id: "build",
        agent: "builder",
        route: { reject: "escalate", failed: "stop", blocked: { ask: "owner", goto: "self" } },
      },
      { id: "ship", kind: "gate", who: "owner", route: { approve: "next" } },
      { id: "tidy", agent: "builder" },
    ],
  }),
);
const at = "2026-01-01T00:00:00.000Z";
const BY = "human:ann";
let ids = 0;
const step = (run: Run | undefined, body: SignalBody, actor: Signal["actor"] = "engine"): Step =>
  transition(flow, run, { ...body, id: `s${(ids += 1)}`, at, actor });

const ready = (): Run =>
  step(undefined, {
    type: "run.requested",
    runId: "r1",
    flowHash: "h",
    subject: { id: "T-1", title: "t", body: "" },
    facts: {},
  }).run;
const running = (): Run => step(ready(), { type: "attempt.started", stage: "build", attempt: 1 }).run;
const ended = (report: object): Run =>
  step(running(), { type: "attempt.finished", stage: "build", attempt: 1, report }, "agent:x").run;
const budget = { scope: "run", key: "r1", unit: "usd", used: 1, limit: 1, needed: 1, size: 1 } as const;

const STATES: Readonly<Record<string, () => Run>> = {
  ready,
  running,
  stopped: () => ended({ health: "failed" }),
  escalation: () => ended({ structured: true, verdict: "reject" }),
  question: () => ended({ health: "blocked", questions: ["which?"] }),
  budget: () => step(ready(), { type: "budget.reached", stage: "build", attempt: 1, ...budget }).run,
  gate: () => ended({ structured: true, verdict: "pass" }),
};

const paused = (run: Run): Run => step(run, { type: "pause.requested", reason: "lunch" }, BY).run;
const ACTS: Readonly<Record<string, SignalBody>> = {
  pause: { type: "pause.requested", reason: "lunch" },
  cancel: { type: "cancel.requested", reason: "not wanted" },
  retry: { type: "retry.requested", note: "try this" },
  skip: { type: "skip.requested", reason: "done by hand" },
};

const stateOf = ({ tracks: { main } }: Run): string | undefined => (main?.at === "waiting" ? main.item.kind : main?.at);

describe.each(Object.entries(STATES))("%s", (state, make) => {
  test("the run is in this state", () => expect(stateOf(make())).toBe(state));

  test.each(Object.entries(ACTS))(
    "R-X-09: a person can %s, also while paused, and the record says who",
    (act, body) => {
      for (const run of act === "pause" ? [make()] : [make(), paused(make())]) {
        const done = step(run, body, BY);
        if (state === "gate" && (act === "skip" || act === "retry")) {
          // A gate is a person's own decision: it is answered, never passed over.
          expect(done.ignored).toMatch(/ship cannot be (skipped|retried)/u);
          continue;
        }
        expect(done.ignored).toBeUndefined();
        expect(done.events.some(({ actor }) => actor === BY)).toBe(true);
        const texts = JSON.stringify(done.events);
        for (const said of ["lunch", "not wanted", "try this", "done by hand"])
          if (JSON.stringify(body).includes(said)) expect(texts).toContain(said);
      }
    },
  );

  test("R-X-09: a paused run is resumed by a person, and by nobody else", () => {
    const run = paused(make());
    expect(run.paused).toBe(true);
    expect(step(run, { type: "resume.requested" }, "engine").ignored).toBe("only a person can do this");
    const resumed = step(run, { type: "resume.requested" }, BY);
    expect(resumed.events).toMatchObject([{ type: "run.unpaused", actor: BY }]);
    expect(resumed.run).toEqual({ ...make(), paused: false });
  });
});

test("R-X-09: a person stops the agent that works: its stage is ready again with the same carry, the run is paused, nothing is counted", () => {
  const before = running();
  const stop: SignalBody = { type: "stop.requested", reason: "wrong file" };
  expect(step(before, stop, "engine").ignored).toBe("only a person can do this");
  for (const run of [before, paused(before)]) {
    const done = step(run, stop, BY);
    expect(done.events.map(({ type, actor }) => [type, actor])).toEqual([
      ...(run.paused ? [] : [["run.paused", BY]]),
      ["stage.canceled", BY],
      ["stage.ready", BY],
    ]);
    expect(done.run).toMatchObject({
      paused: true,
      counters: {},
      tracks: { main: { at: "ready", stage: "build", attempt: 2 } },
    });
    const [was, is] = [run.tracks["main"], done.run.tracks["main"]];
    expect(is?.at === "ready" && was?.at === "running" && is.carry).toEqual(was?.at === "running" && was.carry);
    expect(done.run.stages["build"]?.interruptions ?? 0).toBe(0);
  }
  for (const [name, make] of Object.entries(STATES))
    if (name !== "running") expect(step(make(), stop, BY).ignored).toBe("no agent works on it here");
  expect(step(before, { ...stop, stage: "tidy" }, BY).ignored).toBe("no agent works on tidy here");
});
