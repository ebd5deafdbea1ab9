// The flows of source 004: a request becomes tickets (intake), a ticket passes its stages (ticket).

import { describe, expect, test } from "vitest";
import { play, type Row, type Script } from "./play.ts";

const ok = (stage: string) => ({ stage, exit: 0 });
const walk: Script = ["research", "spec", "plan", "implement", "validate"].map(ok);
const proposed = { stage: "land", word: "pull-request" };
const ciFailed = { stage: "merge", verdict: "revise", issues: ["lint: 2 errors"] };
const sentBack: Script = [ok("implement"), { stage: "validate", verdict: "revise", issues: ["wrong"] }];
const again = (times: number): Script[] =>
  Array.from({ length: times }, () => [proposed, ciFailed, ok("implement"), ok("validate")]);
const ready = (stage: string, status: string) => ({ state: "running" as const, waitingFor: null, stage, status });

const ticketRows: readonly Row[] = [
  {
    name: "R-004-03: a ticket in Backlog enters at research",
    script: [],
    input: ["ticket.status=Backlog"],
    final: ready("research", "Needs Research"),
  },
  {
    name: "R-004-03: a one-shot ticket in Backlog enters at oneshot",
    script: [],
    input: ["ticket.status=Backlog", "ticket.workflow=oneshot"],
    final: { state: "running", stage: "oneshot" },
  },
  {
    name: "R-004-03: a setting makes every ticket a one-shot",
    script: [],
    input: ["status=Backlog", "backlog_entry=oneshot"],
    final: { state: "running", stage: "oneshot" },
  },
  {
    name: "R-004-03: Needs Plan enters at plan",
    script: [],
    input: ["ticket.status=Needs Plan"],
    final: ready("plan", "Needs Plan"),
  },
  {
    name: "R-004-03: Needs Validate enters at validate",
    script: [],
    input: ["ticket.status=Needs Validate"],
    final: ready("validate", "Needs Validate"),
  },
  {
    name: "R-004-02: Needs Human Review does not start anything",
    script: [],
    input: ["ticket.status=Needs Human Review"],
    final: { state: "stopped", status: "Blocked" },
  },
  { name: "R-004-04: Research leads to Needs Spec", script: walk.slice(0, 1), final: ready("spec", "Needs Spec") },
  { name: "R-004-04: Spec leads to Needs Plan", script: walk.slice(0, 2), final: ready("plan", "Needs Plan") },
  {
    name: "R-004-04: Plan leads to Needs Implement",
    script: walk.slice(0, 3),
    final: ready("implement", "Needs Implement"),
  },
  {
    name: "R-004-04: Implement leads to Needs Validate",
    script: walk.slice(0, 4),
    final: ready("validate", "Needs Validate"),
  },
  {
    name: "R-004-04: Validate leads to Done",
    script: walk,
    final: { state: "completed", stage: null, status: "Done", counters: { validate: 0, ci: 0 } },
  },
  {
    name: "R-004-04: Oneshot leads to Done",
    script: [ok("oneshot")],
    input: ["ticket.workflow=oneshot"],
    final: { state: "completed", status: "Done" },
  },
  {
    name: "R-004-49: a program that fails blocks the ticket",
    script: [ok("research"), { stage: "spec", exit: 1 }],
    final: { state: "stopped", waitingFor: null, stage: "spec", status: "Blocked" },
  },
  {
    name: "R-004-49: a failure in words blocks the ticket too",
    script: [{ stage: "research", health: "failed", reason: "the clone failed" }],
    final: { state: "stopped", stage: "research", status: "Blocked" },
  },
  {
    name: "R-004-50: a ticket with a pull request waits for the merge",
    script: [...walk, proposed],
    final: ready("merge", "Awaiting Merge"),
  },
  {
    name: "R-004-51: when the merge is seen it is done",
    script: [...walk, proposed, ok("merge")],
    final: { state: "completed", status: "Done" },
  },
  {
    name: "R-004-50: a pushed ticket is done",
    script: [...walk, { stage: "land", word: "pushed" }],
    final: { state: "completed", status: "Done" },
  },
  {
    name: "R-004-50: a one-shot with a pull request waits for the merge",
    script: [ok("oneshot"), proposed],
    input: ["ticket.workflow=oneshot"],
    final: ready("merge", "Awaiting Merge"),
  },
  {
    name: "a check that fails on the merged tree sends the ticket back to implement",
    script: [...walk, { stage: "land", verdict: "revise", issues: ["test: 1 failed"] }],
    final: { ...ready("implement", "Needs Implement"), counters: { validate: 0, ci: 1 } },
  },
  {
    name: "what CI finds sends the ticket back to implement, three times; then a person looks",
    script: [...walk, ...again(3).flat(), proposed, ciFailed],
    final: { state: "waiting", waitingFor: "choice", stage: "merge", status: "Needs Human Review" },
  },
  {
    name: "a pull request that is closed without a merge is a person's decision",
    script: [...walk, proposed, { stage: "merge", verdict: "reject", reason: "closed" }],
    final: { state: "waiting", waitingFor: "choice", stage: "merge", status: "Needs Human Decision" },
  },
  {
    name: "work that cannot be landed is never done by itself: a person looks",
    script: [...walk, { stage: "land", verdict: "reject", reason: "conflict in a.txt" }],
    final: { state: "waiting", waitingFor: "choice", stage: "land", status: "Needs Human Review" },
  },
  {
    name: "validate sends back to implement",
    script: [...walk.slice(0, 4), { stage: "validate", verdict: "revise", issues: ["the field is missing"] }],
    final: { ...ready("implement", "Needs Implement"), counters: { validate: 1, ci: 0 } },
  },
  {
    name: "validate sends back twice; the third time a person looks",
    script: [...walk.slice(0, 3), ...sentBack, ...sentBack, ...sentBack],
    final: { state: "waiting", waitingFor: "escalation", stage: "validate", status: "Needs Human Review" },
  },
  {
    name: "a worker asks for a person's decision",
    script: [{ stage: "research", health: "blocked", questions: ["Which database?"] }],
    final: { state: "waiting", waitingFor: "question", stage: "research", status: "Needs Human Decision" },
  },
  {
    name: "a worker asks for a person's review",
    script: [{ stage: "research", verdict: "reject", reason: "the ticket contradicts itself" }],
    final: { state: "waiting", waitingFor: "escalation", stage: "research", status: "Needs Human Review" },
  },
  {
    name: "R-004-52: the test-writer runs after implement and before Needs Validate",
    script: walk.slice(0, 4),
    input: ["config.test_writer=true"],
    final: { state: "running", stage: "tests" },
  },
  {
    name: "R-004-52: after the test-writer comes validate",
    script: [...walk.slice(0, 4), ok("tests")],
    input: ["config.test_writer=true"],
    final: ready("validate", "Needs Validate"),
  },
  {
    name: "R-004-52: a test-writer that fails is a warning",
    script: [...walk.slice(0, 4), { stage: "tests", exit: 1 }],
    input: ["config.test_writer=true"],
    final: ready("validate", "Needs Validate"),
  },
];

const tickets = { stage: "spec", verdict: "TICKETS" };
const questions = { stage: "spec", health: "QUESTIONS", questions: ["For whom?"] };
const answer = { question: "spec", answer: "for operators" };
const threeRounds: Script = [questions, answer, questions, answer, questions, answer];
const intakeRows: readonly Row[] = [
  {
    name: "R-004-23: TICKETS at once makes tickets",
    script: [tickets],
    final: { state: "completed", status: "Done", counters: { clarify: 0 } },
    attempts: ["spec 1"],
  },
  {
    name: "R-004-21: QUESTIONS are asked",
    script: [questions],
    final: {
      state: "waiting",
      waitingFor: "question",
      stage: "spec",
      status: "Needs Human Decision",
      counters: { clarify: 1 },
    },
  },
  {
    name: "R-004-21: after the answers the agent runs again",
    script: [questions, answer],
    final: { state: "running", waitingFor: null, stage: "spec", counters: { clarify: 1 } },
  },
  {
    name: "R-004-22: three rounds can be asked, and the tickets of the call after them count",
    script: [...threeRounds, tickets],
    final: { state: "completed", status: "Done", counters: { clarify: 3 } },
  },
  {
    name: "R-004-22: a fourth round is not asked: no tickets after the last call is an error",
    script: [...threeRounds, questions],
    final: { state: "stopped", stage: "spec", status: "Blocked" },
  },
  {
    name: "R-004-24: neither prefix uses up a round",
    script: [{ stage: "spec", summary: "I would like to help" }],
    final: { state: "running", waitingFor: null, stage: "spec", counters: { clarify: 1 } },
  },
  {
    name: "R-004-24: free text never becomes a ticket",
    script: [0, 1, 2, 3].map(() => ({ stage: "spec", summary: "hm" })),
    final: { state: "stopped", stage: "spec", status: "Blocked" },
  },
];

describe.each([
  ["ticket", ticketRows],
  ["intake", intakeRows],
])("%s", (flow, rows) => {
  test.each(rows)("$name", async ({ script, input, final, attempts }) => {
    const played = await play(flow, script, input);
    expect(played.final).toMatchObject(final);
    if (attempts !== undefined) expect(played.attempts).toEqual(attempts);
  });
});

test("R-004-48: the whole walk is visible as status words", async () => {
  const { statuses } = await play("ticket", walk, ["ticket.status=Needs Research"]);
  const stages = ["Research", "Spec", "Plan", "Implement", "Validate"];
  expect(statuses).toEqual([...stages.flatMap((word) => [`Needs ${word}`, `${word} In Progress`]), "Done"]);
});

test("R-004-03: a one-shot ticket shows Oneshot In Progress", async () => {
  const { statuses } = await play("ticket", [ok("oneshot")], ["ticket.workflow=oneshot"]);
  expect(statuses).toContain("Oneshot In Progress");
});

test("R-004-52: the failure of the test-writer is said aloud", async () => {
  const script = [...walk.slice(0, 4), { stage: "tests", exit: 1 }];
  const { warnings } = await play("ticket", script, ["config.test_writer=true"]);
  expect(warnings).toEqual([expect.stringContaining("tests did not pass")]);
});
