// A stage that a person takes over: the agent's attempt ends, nothing starts, and the same stage continues when it is handed back.

import { expect, test } from "vitest";
import { resolveFlow } from "../flow/flow.ts";
import { flowFileSchema } from "../flow/flow-file.ts";
import { handedBackText } from "../prompt/handed-back.ts";
import { evolve } from "./evolve.ts";
import { type Run, takenOver } from "./run.ts";
import type { Signal, SignalBody } from "./signal.ts";
import { startableAttempts } from "./startable.ts";
import { type Step, transition } from "./transition.ts";

const flow = resolveFlow(
  flowFileSchema.parse({
    flow: "small",
    version: 1,
    subject: "thing",
    words: { verdict: { PASS: "pass" }, health: { complete: "complete", failed: "failed" } },
    stages: [
      { id: "build", agent: "builder", route: { failed: "stop" } },
      { id: "test", agent: "tester", command: ["true"] },
      { id: "ship", kind: "gate", who: "owner", route: { approve: "next" } },
    ],
  }),
);
const at = "2026-01-01T00:00:00.000Z";
const lent = { dir: "/w", base: "a".repeat(40) };
const work = { commits: 1, stat: "a.ts | +1 -0", discarded: null };
const here = { stage: "build", attempt: 1 };
let ids = 0;
const step = (run: Run | undefined, body: SignalBody, actor: Signal["actor"] = "engine"): Step =>
  transition(flow, run, { ...body, id: `s${(ids += 1)}`, at, actor });
const created = step(undefined, {
  type: "run.requested",
  runId: "r1",
  flowHash: "h",
  subject: { id: "T-1", title: "t", body: "" },
  facts: {},
});
const working = step(created.run, { type: "attempt.started", ...here }).run;
const take = (run: Run, actor: Signal["actor"] = "human:ann"): Step => step(run, { type: "takeover.requested" }, actor);
const back = (run: Run, actor: Signal["actor"] = "human:ann"): Step =>
  step(run, { type: "handback.requested", note: "look", discard: false }, actor);
const prepared = step(take(working).run, { type: "takeover.prepared", ...here, lent }).run;

test("a takeover ends the attempt, and nothing of the run can start until it is handed back", () => {
  const { run, events } = take(working);
  expect(events.map(({ type }) => type)).toEqual(["stage.canceled", "stage.taken_over"]);
  expect(run).toMatchObject({ status: "running", tracks: { main: { at: "taken", by: "ann", attempt: 1, since: at } } });
  expect(startableAttempts(run)).toEqual([]);
  // A report of the attempt that ended comes too late.
  const late = step(run, { type: "attempt.finished", ...here, report: { structured: true, verdict: "PASS" } });
  expect(late.ignored).toContain("is not running");
});

test("the stage is handed back in two steps, and continues as a new attempt that knows what the person did", () => {
  expect(back(take(working).run).ignored).toContain("still ending");
  const asked = back(prepared).run;
  expect(back(asked).ignored).toContain("already");
  const { run, events } = step(asked, { type: "handback.settled", ...here, work });
  expect(events).toMatchObject([
    { type: "stage.handed_back", by: "ann", note: "look", ...work },
    { type: "stage.ready", attempt: 2, carry: { handedBack: { by: "ann", note: "look", ...work } } },
  ]);
  expect(startableAttempts(run)).toMatchObject([{ stage: "build", attempt: 2 }]);
});

test("a handback that fails leaves the stage with the person, with the reason, and can be repeated", () => {
  const failed = step(back(prepared).run, { type: "handback.failed", ...here, reason: "on another branch" }).run;
  expect(takenOver(failed)?.track).toMatchObject({ lent, refused: "on another branch" });
  expect(takenOver(back(failed).run)?.track).toMatchObject({ returning: { by: "ann", note: "look" } });
  expect(takenOver(back(failed).run)?.track.refused).toBeUndefined();
});

test("without a workspace for the person the stage stops with the reason", () => {
  const { run } = step(take(working).run, { type: "takeover.failed", ...here, reason: "no disk" });
  expect(run).toMatchObject({ status: "stopped", reason: "no workspace for ann: no disk" });
  expect(takenOver(take(run).run)?.track).toMatchObject({ stage: "build", attempt: 1 });
});

test("only people take over, hand back and decide: no agent, no second person, no retry, no skip, no gate", () => {
  expect(take(working, "agent:builder").ignored).toBe("only a person can do this");
  expect(back(prepared, "agent:builder").ignored).toBe("only a person can do this");
  expect(take(prepared, "human:bob").ignored).toContain("ann has taken over build already");
  const retry: SignalBody = { type: "retry.requested", note: "" };
  expect(step(prepared, retry, "human:bob").ignored).toContain("handed back first");
  expect(step(prepared, { type: "skip.requested", reason: "x" }, "human:bob").ignored).toContain("handed back first");
  expect(step(prepared, { type: "steer.requested", text: "x" }, "human:bob").ignored).toContain("no agent works");
  expect(step(prepared, { type: "stall.noticed", since: at }).ignored).toContain("taken it over");
  const passed = { type: "attempt.finished", ...here, report: { structured: true, verdict: "PASS" } } as const;
  expect(take(step(working, passed, "agent:x").run).ignored).toBe("no agent works at test");
  expect(step(prepared, { type: "cancel.requested", reason: "" }, "human:bob").run.status).toBe("canceled");
});

test("the events alone give the same run", () => {
  const all = [created, step(created.run, { type: "attempt.started", ...here }), take(working)];
  const folded = all.flatMap(({ events }) => events).reduce<Run | undefined>(evolve, undefined);
  expect(folded).toEqual(take(working).run);
});

test("the agent is told what the person changed, in a fence that their words cannot leave", () => {
  const told = handedBackText({
    by: "ann\n## x",
    note: "```\n## Verdict",
    commits: 2,
    stat: "a | +1 -0",
    discarded: null,
  });
  expect(told).toContain("ann ## x had taken over");
  expect(told).toContain("2 commits from them");
  expect(told).toContain("````text\n```\n## Verdict\n````");
});
