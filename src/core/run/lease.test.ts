// Work that an agent outside took and then was silent about: when it is taken back, and what becomes of it.

import { expect, test } from "vitest";
import { parse } from "yaml";
import { flowFileSchema } from "../flow/flow-file.ts";
import { resolveFlow } from "../flow/flow.ts";
import { leaseUntil, silentAttempts } from "./lease.ts";
import { openItems, type Run } from "./run.ts";
import type { SignalBody } from "./signal.ts";
import { transition } from "./transition.ts";

const flowWith = (handoffs: string) =>
  resolveFlow(
    flowFileSchema.parse(
      parse(`
flow: pair
version: 1
subject: story
handoffs: ${handoffs}
defaults: { result: { from: handoff-api } }
words: { verdict: { approved: pass, rejected: revise } }
stages:
  - { id: coder, agent: coder, route: { blocked: { ask: human, then: self } } }
  - { id: judge, agent: judge, route: { revise: coder } }
`),
    ),
  );
const flow = flowWith("{ entry: boss, exit: boss, lease: 30m, takebacks: 1 }");
const minute = (number: number) => new Date(Date.UTC(2026, 0, 31, 10, number)).toISOString();

let signals = 0;
function send(run: Run | undefined, body: SignalBody, at: string, by = flow) {
  signals += 1;
  return transition(by, run, {
    ...body,
    id: `s${signals}`,
    at,
    actor: body.type === "item.answered" ? "human:ann" : "agent:coder",
  });
}
const begun = (by = flow): Run => {
  const subject = { id: "s", title: "t", body: "" };
  const { run } = send(
    undefined,
    { type: "run.requested", runId: "r", flowHash: "f", subject, facts: {} },
    minute(0),
    by,
  );
  return send(run, { type: "attempt.started", stage: "coder", attempt: 1, outside: true }, minute(1), by).run;
};
const silent = (attempt: number): SignalBody => ({
  type: "attempt.silent",
  stage: "coder",
  attempt,
  reason: "silence",
});

test("a lease lasts from one sign of life to the next; at exactly its end the work is not taken back yet", () => {
  const run = begun();
  const at = (sign: string | null, now: string) => silentAttempts(flow, run, () => sign, now);
  expect(at(null, minute(31))).toEqual([]);
  const reason = "Taken back: coder gave no sign of life for 30m";
  expect(at(null, minute(32))).toEqual([{ stage: "coder", attempt: 1, reason }]);
  expect(at(minute(10), minute(32))).toEqual([]);
  expect(at(minute(10), minute(41))).toHaveLength(1);
  expect(leaseUntil(flow, minute(1), minute(10))).toBe(minute(40));
  expect(silentAttempts(flow, { ...run, paused: true }, () => null, minute(90))).toEqual([]);
  const endless = flowWith("{ entry: boss, exit: boss }");
  expect(silentAttempts(endless, begun(endless), () => null, minute(900))).toEqual([]);
  expect(leaseUntil(endless, minute(1), null)).toBeNull();
});

test("silence closes the handoff with the reason and hands the work over again, from the same sender; then a person is asked", () => {
  const first = send(begun(), silent(1), minute(40));
  expect(first.events.map(({ type }) => type)).toEqual([
    "handoff.expired",
    "stage.interrupted",
    "handoff.created",
    "stage.ready",
  ]);
  expect(first.events[2]).toMatchObject({ number: 2, fromStage: null, fromAgent: "boss", toAgent: "coder" });
  const taken = send(first.run, { type: "attempt.started", stage: "coder", attempt: 2, outside: true }, minute(41)).run;
  expect(send(taken, silent(1), minute(80)).ignored).toContain("not running");
  const second = send(taken, silent(2), minute(80));
  expect(openItems(second.run)).toMatchObject([{ kind: "escalation", reason: expect.stringContaining("silence") }]);
  // A person's word gives a new budget.
  const again: SignalBody = { type: "item.answered", number: 1, kind: "escalation", answer: "again", text: "Use main" };
  const third = send(second.run, again, minute(90));
  expect(third.events).toContainEqual(
    expect.objectContaining({
      type: "handoff.created",
      fromAgent: "boss",
      toAgent: "coder",
      added: { person_notes: ["Use main"] },
    }),
  );
  const retaken = send(
    third.run,
    { type: "attempt.started", stage: "coder", attempt: 3, outside: true },
    minute(91),
  ).run;
  expect(openItems(send(retaken, silent(3), minute(130)).run)).toEqual([]);
});

test("a program that Passrail runs has no lease", () => {
  const subject = { id: "s", title: "t", body: "" };
  const { run } = send(undefined, { type: "run.requested", runId: "r", flowHash: "f", subject, facts: {} }, minute(0));
  const working = send(run, { type: "attempt.started", stage: "coder", attempt: 1 }, minute(1)).run;
  expect(silentAttempts(flow, working, () => null, minute(900))).toEqual([]);
  expect(send(working, silent(1), minute(900)).ignored).toContain("carried out here");
});

test("R-003-35: each answer is in the next handoff, which comes from the sender of the work; a reject after it keeps answers and reason", () => {
  const blocked = (question: string) => ({ health: "blocked", questions: [question], structured: true });
  const ask = (run: Run, attempt: number, question: string, answer: string, number: number) => {
    const report = blocked(question);
    const asked = send(
      run,
      { type: "attempt.finished", stage: "coder", attempt, report, outside: true },
      minute(2),
    ).run;
    return send(asked, { type: "item.answered", number, kind: "question", answer: "", text: answer }, minute(3));
  };
  const one = ask(begun(), 1, "Which port?", "7377", 1);
  const two = ask(one.run, 2, "Which host?", "localhost", 2);
  const created = (step: ReturnType<typeof send>) => step.events.find(({ type }) => type === "handoff.created");
  expect(created(one)).toMatchObject({ fromAgent: "boss", toAgent: "coder" });
  const answers = [
    { question: "Which port?", answer: "7377" },
    { question: "Which host?", answer: "localhost" },
  ];
  expect(created(two)).toMatchObject({ fromAgent: "boss", toAgent: "coder", added: { person_answers: answers } });
  const passed = send(
    two.run,
    {
      type: "attempt.finished",
      stage: "coder",
      attempt: 3,
      report: { verdict: "approved", structured: true },
      outside: true,
    },
    minute(4),
  );
  // The judge gets what the coder gave; the answers were for the coder.
  expect(created(passed)).toMatchObject({ fromAgent: "coder", toAgent: "judge" });
  expect(created(passed)).not.toHaveProperty("added");
  const report = blocked("Is this the whole diff?");
  const asked = send(
    passed.run,
    { type: "attempt.finished", stage: "judge", attempt: 1, report, outside: true },
    minute(5),
  );
  expect(asked.run.status).toBe("stopped");
  const retried = transition(flow, asked.run, {
    type: "retry.requested",
    note: "It is",
    id: "again",
    at: minute(6),
    actor: "human:ann",
  });
  expect(created(retried)).toMatchObject({ fromAgent: "coder", toAgent: "judge", added: { person_notes: ["It is"] } });
  const rejected = send(
    retried.run,
    {
      type: "attempt.finished",
      stage: "judge",
      attempt: 2,
      report: { verdict: "rejected", reason: "Tests fail", structured: true },
      outside: true,
    },
    minute(7),
  );
  // Rejected without having been accepted: the two changes that the source names.
  expect(rejected.events.filter(({ type }) => type.startsWith("handoff."))).toMatchObject([
    { type: "handoff.rejected", reason: "Tests fail" },
    { type: "handoff.created", fromAgent: "judge", toAgent: "coder", added: { person_notes: ["It is"] } },
  ]);
});
