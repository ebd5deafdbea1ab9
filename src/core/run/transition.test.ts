// Single steps of the transition that no shipped flow shows; walks over whole flows are in test/scenarios/core-properties.test.ts.

import { describe, expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import type { Report } from "../flow/outcome.ts";
import { openItems, type Run } from "./run.ts";
import type { Signal, SignalBody } from "./signal.ts";
import { isRunning, startableAttempts } from "./startable.ts";
import { type Step, transition } from "./transition.ts";

const flow = shippedFlow("feature");
const at = "2026-01-01T00:00:00.000Z";
const signal = (body: SignalBody, actor: Signal["actor"] = "human:t", id = "s"): Signal => ({ ...body, id, at, actor });
const requested: SignalBody = {
  type: "run.requested",
  runId: "r1",
  flowHash: "h",
  subject: { id: "F-1", title: "t", body: "" },
  facts: {},
};
const answer = (number: number, said: string, kind: "gate" | "escalation" = "gate"): SignalBody => ({
  type: "item.answered",
  number,
  kind,
  answer: said,
  text: "",
});
const step = (run: Run | undefined, body: SignalBody, actor?: Signal["actor"]): Step =>
  transition(flow, run, signal(body, actor));

function play(run: Run, stage: string, report: Report): Step {
  const attempt = run.stages[stage]?.attempts ?? 1;
  const started = step(run, { type: "attempt.started", stage, attempt }, "engine");
  expect(started.ignored).toBeUndefined();
  return step(started.run, { type: "attempt.finished", stage, attempt, report }, "agent:x");
}

const created = () => step(undefined, requested).run;
const speccing = () => step(created(), answer(1, "approve")).run;
const types = ({ events }: Step) => events.map(({ type }) => type);

test("R-000-11: a new run opens the start gate, tells its owner, and starts nothing", () => {
  const first = step(undefined, requested);
  expect(types(first)).toEqual(["run.created", "gate.opened", "run.waiting"]);
  expect(first.commands).toMatchObject([{ type: "notify", to: "owner", event: "gate", item: 1 }]);
  expect(first.run).toMatchObject({ status: "waiting", word: "pending" });
});

test("R-000-11: approving makes IN1 ready and nothing else", () => {
  const approved = step(created(), answer(1, "approve"));
  expect(startableAttempts(approved.run)).toEqual([
    { track: "main", stage: "spec", attempt: 1, notBefore: null, since: approved.run.createdAt },
  ]);
  expect(approved.commands).toEqual([]);
  expect(approved.run).toMatchObject({ status: "running", word: "approved" });
});

test("R-000-15: REJECT opens an escalation and gives no other command than to tell people", () => {
  const rejected = play(speccing(), "spec", { verdict: "REJECT", issues: ["no"] });
  expect(rejected.commands.map(({ type }) => type)).toEqual(["notify"]);
  expect(openItems(rejected.run)).toMatchObject([{ kind: "escalation", stage: "spec", issues: ["no"], who: "owner" }]);
});

describe("R-X-03: what does not fit changes nothing and is recorded", () => {
  const running = () => step(speccing(), { type: "attempt.started", stage: "spec", attempt: 1 }, "engine").run;
  const pass: Report = { verdict: "APPROVED" };
  test.each<[string, () => Run, SignalBody, Signal["actor"]]>([
    ["a run requested twice", created, requested, "human:t"],
    ["a start that is not ready", created, { type: "attempt.started", stage: "spec", attempt: 1 }, "engine"],
    ["a start of another attempt", speccing, { type: "attempt.started", stage: "spec", attempt: 2 }, "engine"],
    ["a start that was made already", running, { type: "attempt.started", stage: "spec", attempt: 1 }, "engine"],
    [
      "an end before the start",
      speccing,
      { type: "attempt.finished", stage: "spec", attempt: 1, report: pass },
      "agent:IN1",
    ],
    [
      "an end of another stage",
      running,
      { type: "attempt.finished", stage: "qa", attempt: 1, report: pass },
      "agent:IN6",
    ],
    ["an answer to a closed gate", speccing, answer(1, "approve"), "human:t"],
    ["an answer of another kind", created, answer(1, "again", "escalation"), "human:t"],
    ["an answer nobody knows", created, answer(1, "toString"), "human:t"],
    ["an agent's answer", created, answer(1, "approve"), "agent:IN1"],
    ["the engine's answer", created, answer(1, "approve"), "engine"],
    ["an agent that skips", running, { type: "skip.requested", reason: "boring" }, "agent:IN1"],
    ["an agent that retries", running, { type: "retry.requested", note: "" }, "agent:IN1"],
    [
      "an interruption of nothing",
      speccing,
      { type: "attempt.interrupted", stage: "spec", attempt: 1, cause: "c" },
      "engine",
    ],
    ["a resume without a pause", created, { type: "resume.requested" }, "human:t"],
    ["a retry of a stage that is not current", running, { type: "retry.requested", stage: "qa", note: "" }, "human:t"],
    ["a skip without a reason", running, { type: "skip.requested", reason: "" }, "human:t"],
    ["a skip of a gate", created, { type: "skip.requested", reason: "hurry" }, "human:t"],
  ])("%s", (_, make, body, actor) => {
    const before = make();
    const after = step(before, body, actor);
    expect(after.ignored).toBeTypeOf("string");
    expect(after.run).toEqual(before);
    expect(after.events).toMatchObject([{ type: "signal.ignored", signal: body.type, actor }]);
    expect(after.commands).toEqual([]);
  });

  test("anything after the end", () => {
    const { run } = step(created(), { type: "cancel.requested", reason: "no" });
    for (const body of [
      answer(1, "approve"),
      { type: "retry.requested", note: "" },
      { type: "cancel.requested", reason: "again" },
    ] as const) {
      expect(step(run, body)).toMatchObject({ run, ignored: "the run is canceled" });
    }
  });

  test("a first signal that is no request is a bug", () => {
    expect(() => step(undefined, answer(1, "approve"))).toThrow("must be run.requested");
  });
});

test("R-001-40, R-X-05: an interruption makes a new attempt with the same carry and counts nothing", () => {
  const running = step(speccing(), { type: "attempt.started", stage: "spec", attempt: 1 }, "engine").run;
  const interrupted = step(
    running,
    { type: "attempt.interrupted", stage: "spec", attempt: 1, cause: "crash" },
    "engine",
  );
  const [was, is] = [running.tracks["main"], interrupted.run.tracks["main"]];
  if (was?.at !== "running" || is?.at !== "ready") throw new Error("unexpected");
  expect(is).toMatchObject({ stage: "spec", attempt: 2, carry: was.carry });
  expect(interrupted.run.counters).toEqual({});
  expect(startableAttempts(interrupted.run)).toMatchObject([{ track: "main", stage: "spec", attempt: 2 }]);
});

test("R-X-05: a stage that ended by itself forgets its interruptions", () => {
  let run = speccing();
  for (let attempt = 1; attempt <= 3; attempt++) {
    run = step(run, { type: "attempt.started", stage: "spec", attempt }, "engine").run;
    run = step(run, { type: "attempt.interrupted", stage: "spec", attempt, cause: "crash" }, "engine").run;
  }
  expect(run.stages["spec"]).toMatchObject({ attempts: 4, interruptions: 3 });
  run = play(run, "spec", { verdict: "APPROVED" }).run;
  expect(run.stages["spec"]?.interruptions).toBe(0);
});

test("a paused run starts nothing, and resuming starts the stage that waits", () => {
  let run = step(speccing(), { type: "pause.requested", reason: "lunch" }).run;
  const done = play(run, "spec", { verdict: "APPROVED" });
  run = done.run;
  expect(startableAttempts(run)).toEqual([]);
  expect(run.tracks["main"]).toMatchObject({ at: "ready", stage: "design" });
  const resumed = step(run, { type: "resume.requested" }).run;
  expect(startableAttempts(resumed)).toMatchObject([{ track: "main", stage: "design", attempt: 1 }]);
});

test("canceling ends what runs, withdraws what waits, and lets the workspace go", () => {
  const running = step(speccing(), { type: "attempt.started", stage: "spec", attempt: 1 }, "engine").run;
  const canceled = step(running, { type: "cancel.requested", reason: "no" });
  expect(canceled.commands).toEqual([{ type: "release-workspace" }]);
  expect(isRunning(running, { track: "main", stage: "spec", attempt: 1 })).toBe(true);
  expect(isRunning(canceled.run, { track: "main", stage: "spec", attempt: 1 })).toBe(false);
  expect(types(step(created(), { type: "cancel.requested", reason: "no" }))).toContain("item.withdrawn");
});

test("R-000-21: again after spent loops shows the next attempt a new count, and the next revision is the first of it", () => {
  const revise: Report = { verdict: "REVISE", issues: ["x"] };
  const again = (id: string): Report => ({ ...revise, findings: [{ id, state: "fixed", said: "" }] });
  const pass = { spec: "APPROVED", design: "APPROVED", build: "COMPLETE" };
  let run = speccing();
  for (const [stage, verdict] of Object.entries(pass)) run = play(run, stage, { verdict }).run;
  for (const said of [revise, again("F1")]) run = play(play(run, "qa", said).run, "build", { verdict: "COMPLETE" }).run;
  run = play(run, "qa", again("F2")).run;
  run = step(run, answer(2, "again", "escalation")).run;
  expect(run.tracks["main"]).toMatchObject({
    at: "ready",
    stage: "build",
    carry: { loop: 0, loopMax: 2, issues: ["x"] },
  });
  run = play(run, "build", { verdict: "COMPLETE" }).run;
  expect(run.tracks["main"]).toMatchObject({ stage: "qa", carry: { issues: ["x"] } });
  run = play(run, "qa", again("F3")).run;
  expect(run.tracks["main"]).toMatchObject({ stage: "build", carry: { loop: 1, loopMax: 2 } });
});

test("a retry of an escalated stage closes the escalation and runs the stage again", () => {
  const rejected = play(speccing(), "spec", { verdict: "REJECT" }).run;
  const retried = step(rejected, { type: "retry.requested", note: "with the new text" });
  expect(types(retried)).toEqual(["item.withdrawn", "handoff.created", "stage.ready", "run.resumed"]);
  expect(retried.run.tracks["main"]).toMatchObject({
    at: "ready",
    stage: "spec",
    attempt: 2,
    carry: { said: "with the new text" },
  });
});

test("going back to an earlier stage ends what is current, and everything after it comes again", () => {
  const designing = play(speccing(), "spec", { verdict: "APPROVED" }).run;
  const started = step(designing, { type: "attempt.started", stage: "design", attempt: 1 }, "engine").run;
  const back = step(started, { type: "retry.requested", stage: "spec", note: "think of mobile" });
  expect(types(back).slice(0, 2)).toEqual(["stage.canceled", "handoff.withdrawn"]);
  expect(isRunning(back.run, { track: "main", stage: "design", attempt: 1 })).toBe(false);
  expect(back.run.tracks["main"]).toMatchObject({
    at: "ready",
    stage: "spec",
    attempt: 2,
    carry: { from: "design", reason: "again", said: "think of mobile" },
  });
  const again = play(back.run, "spec", { verdict: "APPROVED" }).run;
  expect(again.tracks["main"]).toMatchObject({ at: "ready", stage: "design", attempt: 2 });
});

test("going back from a gate withdraws the question, and the gate is asked again", () => {
  let run = play(speccing(), "spec", { verdict: "APPROVED" }).run;
  run = play(run, "design", { verdict: "APPROVED" }).run;
  run = play(run, "build", { verdict: "COMPLETE" }).run;
  run = play(run, "qa", { verdict: "SHIP" }).run;
  expect(openItems(run)).toMatchObject([{ kind: "gate" }]);
  const back = step(run, { type: "retry.requested", stage: "build", note: "" });
  expect(types(back)[0]).toBe("item.withdrawn");
  expect(openItems(back.run)).toEqual([]);
  const later = play(play(back.run, "build", { verdict: "COMPLETE" }).run, "qa", { verdict: "SHIP" }).run;
  expect(openItems(later)).toMatchObject([{ kind: "gate", number: (openItems(run)[0]?.number ?? 0) + 1 }]);
  for (const stage of ["start", "nowhere"])
    expect(step(run, { type: "retry.requested", stage, note: "" }).ignored).toContain("not an earlier one that works");
});

test("inside of a fork one track goes back alone; going back before the fork ends all of them", () => {
  const forking = shippedFlow("build-plan-complex");
  const move = (before: Run | undefined, body: SignalBody, actor: Signal["actor"] = "human:t") => {
    const moved = transition(forking, before, signal(body, actor));
    expect(moved.ignored).toBeUndefined();
    return moved.run;
  };
  const work = (before: Run, stage: string) => {
    const started = move(before, { type: "attempt.started", stage, attempt: 1 }, "engine");
    const report: Report = { health: "complete" };
    return move(started, { type: "attempt.finished", stage, attempt: 1, report }, "agent:x");
  };
  let run = move(move(undefined, requested), answer(1, "approve"));
  for (const stage of ["bundles", "be-dev"]) run = work(run, stage);
  const at = (found: Run) =>
    Object.entries(found.tracks).map(([name, track]) => ({ [name]: track.at, ...stageAt(track) }));
  const stageAt = (track: Run["tracks"][string]) => ("stage" in track ? { stage: track.stage } : {});
  expect(at(run)).toEqual([
    { main: "forked", stage: "tracks" },
    { be: "ready", stage: "be-dod" },
    { fe: "ready", stage: "fe-dev" },
  ]);
  expect(at(move(run, { type: "retry.requested", stage: "be-dev", note: "" }))).toEqual([
    { main: "forked", stage: "tracks" },
    { be: "ready", stage: "be-dev" },
    { fe: "ready", stage: "fe-dev" },
  ]);
  const before = move(run, { type: "retry.requested", stage: "bundles", note: "" });
  expect(at(before)).toEqual([{ main: "ready", stage: "bundles" }, { be: "done" }, { fe: "done" }]);
});

test("a retried or resumed stage shows its own status again", () => {
  const rejected = play(speccing(), "spec", { verdict: "REJECT" }).run;
  const ready = step(rejected, { type: "retry.requested", note: "" }).run;
  expect(step(ready, { type: "attempt.started", stage: "spec", attempt: 2 }, "engine").run.word).toBe("speccing");
});

test("warnings of a report are events with a code of their own", () => {
  const warned = play(speccing(), "spec", {
    verdict: "APPROVED",
    warnings: ["score_disagrees: 7 and 3", "a sentence without a code"],
  });
  const codes = warned.events.flatMap((event) => (event.type === "warning.raised" ? [event.code] : []));
  expect(codes).toEqual(["score_disagrees", "warning"]);
});

describe("failures that are nobody's work", () => {
  const limited: Report = { cause: "rate_limit", reason: "429", resetsAt: "2026-01-01T01:00:00Z" };

  test("the stage is ready again with the same carry and not before the time; nothing is counted, its handoff stays", () => {
    const designing = play(speccing(), "spec", { verdict: "APPROVED" }).run;
    const put = play(designing, "design", limited);
    expect(types(put)).toEqual(["stage.finished", "stage.postponed", "stage.ready"]);
    expect(put.events[1]).toMatchObject({ cause: "rate_limit", reason: "429", retry: 1, of: 5, attempt: 1 });
    const [was, is] = [designing.tracks["main"], put.run.tracks["main"]];
    if (was?.at !== "ready" || is?.at !== "ready") throw new Error("unexpected");
    expect(is).toMatchObject({
      attempt: 2,
      carry: was.carry,
      notBefore: "2026-01-01T01:00:00.000Z",
      because: "rate_limit",
    });
    expect(is.carry.handoff).toBeGreaterThan(0);
    expect(put.run.counters).toEqual({});
  });

  test("once it starts the time is forgotten, and any other end forgets the row", () => {
    let { run } = play(speccing(), "spec", limited);
    expect(run.stages["spec"]?.postponed).toEqual({ outages: 1, crashes: 0 });
    run = step(run, { type: "attempt.started", stage: "spec", attempt: 2 }, "engine").run;
    expect(run.tracks["main"]).not.toHaveProperty("notBefore");
    run = step(
      run,
      { type: "attempt.finished", stage: "spec", attempt: 2, report: { cause: "timeout" } },
      "engine",
    ).run;
    expect(run.stages["spec"]).not.toHaveProperty("postponed");
  });

  test("when the retries are spent the failure takes the way that the flow has for it", () => {
    let { run } = play(speccing(), "spec", { cause: "agent_crashed" });
    run = play(run, "spec", { cause: "startup_timeout" }).run;
    const spent = play(run, "spec", { cause: "agent_crashed", reason: "it fell over" });
    expect(types(spent)).not.toContain("stage.postponed");
    expect(spent.run.tracks["main"]?.at).not.toBe("ready");
  });

  test("a person who retries starts it at once", () => {
    const { run } = play(speccing(), "spec", limited);
    const retried = step(run, { type: "retry.requested", note: "" });
    expect(retried.run.tracks["main"]).toMatchObject({ at: "ready", attempt: 3 });
    expect(retried.run.tracks["main"]).not.toHaveProperty("notBefore");
  });
});

describe("an agent that asks in the middle of its work", () => {
  const asked: Report = { asked: true, health: "blocked", structured: true, questions: ["Which one?"] };

  test("opens a question, also where blocked would escalate; the answer leads back with what it had, and nothing is counted", () => {
    let run = play(speccing(), "spec", { verdict: "APPROVED" }).run;
    run = play(run, "design", { verdict: "APPROVED" }).run;
    run = play(run, "build", { verdict: "COMPLETE" }).run;
    run = play(run, "qa", { verdict: "REVISE", issues: ["fix it"] }).run;
    const before = run.counters;
    run = play(run, "build", asked).run;
    expect(openItems(run)).toMatchObject([{ kind: "question", questions: ["Which one?"], who: "owner", goto: "self" }]);
    expect(run.counters).toEqual(before);
    const [item] = openItems(run);
    const body = {
      type: "item.answered",
      number: item?.number ?? 0,
      kind: "question",
      answer: "",
      text: "That one",
    } as const;
    const answered = step(run, body);
    expect(answered.run.tracks["main"]).toMatchObject({
      at: "ready",
      stage: "build",
      carry: { reason: "answered", said: "That one", questions: ["Which one?"], issues: ["fix it"], loop: 1 },
    });
    expect(answered.run.counters).toEqual(before);
  });

  test("a way of the flow that asks is taken as it stands", () => {
    const story = shippedFlow("story");
    const send = (run: Run | undefined, body: SignalBody): Run => transition(story, run, signal(body, "engine")).run;
    let run = send(undefined, requested);
    const [stage = ""] = Object.keys(run.stages);
    run = send(run, { type: "attempt.started", stage, attempt: 1 });
    run = send(run, { type: "attempt.finished", stage, attempt: 1, report: asked });
    expect(openItems(run)).toMatchObject([{ kind: "question", who: "human", stage, questions: ["Which one?"] }]);
  });
});

describe("money", () => {
  const reserved = { agent: "in1", runner: "claude", model: null, usd: 1, tokens: 10, ticket: "t" };
  const usage = { usd: 0.5, inputTokens: 1, outputTokens: 2, cachedTokens: null };
  const reported = { runner: "claude", model: "opus", usage };
  const over = { scope: "run", key: "r1", unit: "usd", used: 4, limit: 5, needed: 2, size: 5 } as const;
  const start: SignalBody = { type: "attempt.started", stage: "spec", attempt: 1, reserved };

  test("what was put aside stands in the start, and what was used in an event of its own", () => {
    const started = step(speccing(), start, "engine");
    expect(started.events[0]).toMatchObject({ type: "stage.started", reserved });
    const report: Report = { verdict: "APPROVED", usage: reported };
    const done = step(started.run, { type: "attempt.finished", stage: "spec", attempt: 1, report }, "agent:x");
    expect(types(done).slice(0, 2)).toEqual(["stage.finished", "usage.recorded"]);
    expect(done.run.spent).toEqual({ attempts: 1, usd: 0.5, unknownUsd: 0, tokens: 3, unknownTokens: 0 });
  });

  test("what a canceled attempt has used is recorded after the end, and changes nothing else", () => {
    const running = step(speccing(), start, "engine").run;
    const canceled = step(running, { type: "cancel.requested", reason: "no" }).run;
    const late = step(canceled, { type: "attempt.spent", stage: "spec", attempt: 1, reported }, "engine");
    expect(types(late)).toEqual(["usage.recorded"]);
    expect({ ...late.run, spent: undefined }).toEqual({ ...canceled, spent: undefined });
    const odd = step(canceled, { type: "attempt.spent", stage: "spec", attempt: 2, reported }, "engine");
    expect(odd.ignored).toBe("spec has no attempt 2");
  });

  test("a reached limit makes the stage wait with all it has; only what is ready can reach one", () => {
    const reached: SignalBody = { type: "budget.reached", stage: "spec", attempt: 1, ...over };
    const waiting = step(speccing(), reached, "engine");
    expect(types(waiting)).toEqual(["budget.reached", "run.waiting"]);
    expect(waiting.commands).toMatchObject([{ type: "notify", event: "budget", item: 2 }]);
    expect(step(waiting.run, reached, "engine").ignored).toBe("attempt 1 of spec is not ready");
    const wrong = { type: "item.answered", number: 2, kind: "budget", answer: "raise", text: "no number" } as const;
    expect(step(waiting.run, wrong).ignored).toContain("is no amount in usd");
    const raised = step(waiting.run, { ...wrong, text: "" });
    expect(types(raised)).toEqual(["budget.answered", "budget.raised", "stage.ready", "run.resumed"]);
    expect(raised.run.raised).toEqual([{ scope: "run", key: "r1", usd: 5, tokens: 0 }]);
    expect(startableAttempts(raised.run)).toMatchObject([{ track: "main", stage: "spec", attempt: 1 }]);
  });

  test("a warning is given once per limit", () => {
    const neared: SignalBody = { type: "budget.neared", scope: "run", key: "r1", unit: "usd", used: 4, limit: 5 };
    const warned = step(speccing(), neared, "engine");
    expect(warned.commands).toMatchObject([{ type: "notify", event: "budget.low" }]);
    expect(step(warned.run, neared, "engine").ignored).toBe("this was warned of already");
    expect(types(step(warned.run, { ...neared, limit: 10 }, "engine"))).toEqual(["budget.warned"]);
  });
});
