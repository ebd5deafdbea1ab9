// The three flows of a signed-off plan: simple, standard and complex.

import { describe, expect, test } from "vitest";
import { play, playRefused, type Row, type Script } from "./play.ts";

const standard = "build-plan-standard";
const complex = "build-plan-complex";
const simple = "build-plan-simple";

const signoff = { gate: "signoff", answer: "approve" };
const dev = { stage: "dev", health: "complete" };
const dod = { stage: "dod", health: "complete", verdict: "APPROVED" };
const gaps = (...issues: string[]) => ({ stage: "dod", health: "complete", verdict: "BLOCKED", issues });
const review = { stage: "review", health: "complete", verdict: "APPROVED" };
const changes = { stage: "review", health: "complete", verdict: "REQUEST_CHANGES", issues: ["src/a.ts:3 no test"] };
const tested = { stage: "test", health: "complete", verdict: "APPROVED" };
const failures = { stage: "test", health: "complete", verdict: "BLOCKED", issues: ["login fails"] };
const specs = { stage: "update-specs", health: "complete" };
const round: Script = [dev, dod, changes];
const toTest: Script = [signoff, dev, dod, review];
const escalated: Script = [signoff, ...round, ...round, ...round];

const track = (name: string) => ({
  dev: { stage: `${name}-dev`, health: "complete" },
  dod: { stage: `${name}-dod`, health: "complete", verdict: "APPROVED" },
  gaps: { stage: `${name}-dod`, health: "complete", verdict: "BLOCKED", issues: ["a row has no evidence"] },
  review: { stage: `${name}-review`, health: "complete", verdict: "APPROVED" },
  changes: { stage: `${name}-review`, health: "complete", verdict: "REQUEST_CHANGES", issues: ["rule 4"] },
});
const be = track("be");
const fe = track("fe");
const passed = (side: ReturnType<typeof track>): Script => [side.dev, side.dod, side.review];
const sentBack = (side: ReturnType<typeof track>): Script => [side.dev, side.dod, side.changes];
const bothPassed: Script = [signoff, ...passed(be), ...passed(fe)];
const zero = { "be.review": 0, "fe.review": 0, "be.dod": 0, "fe.dod": 0, test: 0 };

const standardRows: readonly Row[] = [
  {
    name: "nothing runs before the sign-off",
    script: [],
    final: {
      state: "waiting",
      waitingFor: "gate",
      stage: "signoff",
      status: "sign-off pending",
      counters: { review: 0, dod: 0, test: 0 },
    },
    attempts: [],
  },
  {
    name: "a declined sign-off aborts",
    script: [{ gate: "signoff", answer: "decline" }],
    final: { state: "canceled", status: "aborted" },
  },
  {
    name: "without new infrastructure DevOps is passed over",
    script: [signoff],
    final: { state: "running", stage: "dev" },
  },
  {
    name: "with new infrastructure DevOps runs before the developer",
    script: [signoff],
    input: ["plan.new_infra=true"],
    final: { state: "running", stage: "devops" },
  },
  {
    name: "after DevOps comes the developer",
    script: [signoff, { stage: "devops", health: "complete" }],
    input: ["new_infra=true"],
    final: { state: "running", stage: "dev" },
  },
  {
    name: "R-002-09: developer, DoD-checker, reviewer, tester, update-specs, merge gate",
    script: [...toTest, tested, specs],
    final: { state: "waiting", waitingFor: "gate", stage: "merge", status: "merge question" },
    attempts: ["dev 1", "dod 1", "review 1", "test 1", "update-specs 1"],
  },
  {
    name: "R-002-12: BLOCKED of the DoD-checker sends the gaps to the developer; no reviewer starts",
    script: [signoff, dev, gaps("row 2")],
    final: { state: "running", stage: "dev", counters: { dod: 1, review: 0, test: 0 } },
    attempts: ["dev 1", "dod 1"],
  },
  {
    name: "R-002-12: APPROVED of the DoD-checker leads to the reviewer",
    script: [signoff, dev, dod],
    final: { state: "running", stage: "review" },
  },
  {
    name: "R-002-13: five DoD bounces use up nothing of the reviews",
    script: [signoff, ...[1, 2, 3, 4, 5].flatMap((row) => [dev, gaps(`row ${row}`)]), ...round, ...round, dev, dod],
    final: { state: "running", stage: "review", counters: { dod: 5, review: 2, test: 0 } },
  },
  {
    name: "R-002-14: the same gaps three times in a row escalate",
    script: [signoff, dev, gaps("row 1", "row 2"), dev, gaps("row 1", "row 2"), dev, gaps("row 1", "row 2")],
    final: {
      state: "waiting",
      waitingFor: "escalation",
      stage: "dod",
      status: "ESCALATED",
      counters: { dod: 2, review: 0, test: 0 },
    },
  },
  {
    name: "a gap that comes back after another one escalates (A-B-A)",
    script: [signoff, dev, gaps("row 1"), dev, gaps("row 2"), dev, gaps("row 1")],
    final: { state: "waiting", waitingFor: "escalation", stage: "dod", counters: { dod: 2, review: 0, test: 0 } },
  },
  {
    name: "R-002-14: other words for the same row are the same gap",
    script: [signoff, dev, gaps("row 1 — no file"), dev, gaps("row 1 — still nothing"), dev, gaps("row 1 — not there")],
    final: { state: "waiting", waitingFor: "escalation", stage: "dod", counters: { dod: 2, review: 0, test: 0 } },
  },
  {
    name: "gaps that are new every time end at the ceiling of the DoD loop",
    script: [signoff, ...[1, 2, 3, 4, 5, 6].flatMap((row) => [dev, gaps(`row ${row}`)])],
    final: { state: "waiting", waitingFor: "escalation", stage: "dod", counters: { dod: 5, review: 0, test: 0 } },
  },
  {
    name: "R-002-17: requested changes lead to the developer, the DoD-checker and the reviewer again",
    script: [signoff, ...round, dev, dod],
    final: { state: "running", stage: "review", counters: { review: 1, dod: 0, test: 0 } },
    attempts: ["dev 1", "dod 1", "review 1", "dev 2", "dod 2"],
  },
  {
    name: "R-002-17: the third review that is not an approval escalates; there is no fourth iteration",
    script: escalated,
    final: {
      state: "waiting",
      waitingFor: "escalation",
      stage: "review",
      status: "ESCALATED",
      counters: { review: 2, dod: 0, test: 0 },
    },
    attempts: ["dev 1", "dod 1", "review 1", "dev 2", "dod 2", "review 2", "dev 3", "dod 3", "review 3"],
  },
  {
    name: "R-002-17: a reviewer that says ESCALATED is believed at once",
    script: [signoff, dev, dod, { stage: "review", health: "complete", verdict: "ESCALATED" }],
    final: { state: "waiting", waitingFor: "escalation", stage: "review", status: "ESCALATED" },
  },
  {
    name: "R-002-19: accepted with known issues, the tester goes on",
    script: [...escalated, { escalation: "review", choice: "accept-with-known-issues", note: "rule 4 is waived" }],
    final: { state: "running", waitingFor: null, stage: "test" },
  },
  {
    name: "R-002-19: fixed by hand, one more review runs",
    script: [...escalated, { escalation: "review", answer: "fixed-by-hand-review-again" }],
    final: { state: "running", waitingFor: null, stage: "review" },
  },
  {
    name: "R-002-19: the one more review may approve",
    script: [...escalated, { escalation: "review", answer: "fixed-by-hand-review-again" }, review],
    final: { state: "running", waitingFor: null, stage: "test" },
  },
  {
    name: "R-002-19: the one more review does not start the loop again",
    script: [...escalated, { escalation: "review", answer: "fixed-by-hand-review-again" }, changes],
    final: { state: "waiting", waitingFor: "escalation", stage: "review", status: "ESCALATED" },
  },
  {
    name: "R-002-19: aborted, the run is over",
    script: [...escalated, { escalation: "review", answer: "abort" }],
    final: { state: "canceled", waitingFor: null, status: "aborted" },
  },
  {
    name: "R-002-21: failures of the tester go to the developer",
    script: [...toTest, failures],
    final: { state: "running", stage: "dev", counters: { test: 1, review: 0, dod: 0 } },
  },
  {
    name: "R-002-21: a bounce of the tester starts a new budget of reviews",
    script: [signoff, ...round, dev, dod, review, failures],
    final: { state: "running", stage: "dev", counters: { test: 1, review: 0, dod: 0 } },
  },
  {
    name: "R-002-21: the third failure of the tester escalates",
    script: [...toTest, failures, dev, dod, review, failures, dev, dod, review, failures],
    final: {
      state: "waiting",
      waitingFor: "escalation",
      stage: "test",
      status: "ESCALATED",
      counters: { test: 2, review: 0, dod: 0 },
    },
  },
  {
    name: "the merge is confirmed by a person",
    script: [...toTest, tested, specs, { gate: "merge", answer: "approve" }],
    final: { state: "completed", status: "done" },
  },
  {
    name: "a declined merge ends the run as not merged",
    script: [...toTest, tested, specs, { gate: "merge", answer: "decline" }],
    final: { state: "completed", status: "not-merged" },
  },
  { name: "R-002-39: complete advances", script: [signoff, dev], final: { state: "running", stage: "dod" } },
  {
    name: "R-002-40: blocked stops and asks",
    script: [signoff, { stage: "dev", health: "blocked", questions: ["Which key?"] }],
    final: { state: "waiting", waitingFor: "question", stage: "dev", status: "blocked" },
  },
  {
    name: "R-002-40: the answer goes to the next attempt of the same stage",
    script: [
      signoff,
      { stage: "dev", health: "blocked", questions: ["Which key?"] },
      { question: "dev", answer: "the public one" },
    ],
    final: { state: "running", waitingFor: null, stage: "dev" },
  },
  {
    name: "failed stops",
    script: [signoff, { stage: "dev", health: "failed", reason: "the build does not start" }],
    final: { state: "stopped", waitingFor: null, stage: "dev", status: "failed" },
  },
  {
    name: "R-002-42: incomplete asks whether to retry or to accept",
    script: [signoff, { stage: "dev", health: "incomplete" }],
    final: { state: "waiting", waitingFor: "choice", stage: "dev", status: "blocked" },
  },
  {
    name: "R-002-42: retry runs the stage again",
    script: [signoff, { stage: "dev", health: "incomplete" }, { choice: "dev", answer: "retry" }],
    final: { state: "running", stage: "dev" },
  },
  {
    name: "R-002-42: accept goes on",
    script: [signoff, { stage: "dev", health: "incomplete" }, { stage: "dev", answer: "accept" }],
    final: { state: "running", stage: "dod" },
  },
  {
    name: "R-002-42: abort ends the run",
    script: [signoff, { stage: "dev", health: "incomplete" }, { choice: "dev", answer: "abort" }],
    final: { state: "canceled", status: "aborted" },
  },
  {
    name: "a status that is not known is a failure",
    script: [signoff, { stage: "dev", health: "mostly complete" }],
    final: { state: "stopped", stage: "dev", status: "failed" },
  },
  {
    name: "an empty status is a failure",
    script: [signoff, { stage: "dev", health: "" }],
    final: { state: "stopped", stage: "dev", status: "failed" },
  },
  {
    name: "R-002-45: Status complete with the verdict BLOCKED goes back",
    script: [signoff, dev, { stage: "dod", health: "complete", verdict: "BLOCKED", issues: ["row 1"] }],
    final: { state: "running", stage: "dev", counters: { dod: 1, review: 0, test: 0 } },
  },
  {
    name: "R-002-45: Status blocked with the verdict APPROVED stops",
    script: [signoff, dev, { stage: "dod", health: "blocked", verdict: "APPROVED", questions: ["Is row 3 in scope?"] }],
    final: { state: "waiting", waitingFor: "question", stage: "dod", status: "blocked" },
  },
  {
    name: "a stage that judges and gives no verdict has failed",
    script: [signoff, dev, { stage: "dod", health: "complete" }],
    final: { state: "stopped", stage: "dod", status: "failed" },
  },
];

const complexRows: readonly Row[] = [
  {
    name: "R-002-25: each track has its own budget of reviews",
    script: [signoff, ...sentBack(be), ...sentBack(be), ...sentBack(fe)],
    final: { state: "running", counters: { ...zero, "be.review": 2, "fe.review": 1 } },
  },
  {
    name: "R-002-25: each track has its own DoD-checker",
    script: [signoff, be.dev, be.gaps],
    final: { state: "running", counters: { ...zero, "be.dod": 1 } },
  },
  {
    name: "R-002-26: the tester waits for the other track",
    script: [signoff, ...passed(be)],
    final: { state: "running", waitingFor: null, stage: "fe-dev" },
  },
  {
    name: "R-002-26: the tester runs when both tracks are approved",
    script: bothPassed,
    final: { state: "running", stage: "test", counters: zero },
  },
  {
    name: "R-002-26: an accepted track counts as approved",
    script: [
      signoff,
      ...passed(fe),
      ...sentBack(be),
      ...sentBack(be),
      ...sentBack(be),
      { escalation: "be-review", choice: "accept-with-known-issues" },
    ],
    final: { state: "running", waitingFor: null, stage: "test" },
  },
  {
    name: "R-002-27: an escalation of one track does not stop the other",
    script: [signoff, ...sentBack(be), ...sentBack(be), ...sentBack(be), fe.dev],
    final: { state: "running", waitingFor: "escalation", stage: "fe-dod" },
  },
  {
    name: "R-002-27: a bounce of one track does not stop the other",
    script: [signoff, ...sentBack(be), ...passed(fe)],
    final: { state: "running", waitingFor: null, stage: "be-dev" },
  },
  {
    name: "R-002-27: with the other track done the tester waits for the person",
    script: [signoff, ...sentBack(be), ...sentBack(be), ...sentBack(be), ...passed(fe)],
    final: { state: "waiting", waitingFor: "escalation", stage: "be-review", status: "ESCALATED" },
  },
  {
    name: "R-002-29: a failure of the tester goes to the blamed track only",
    script: [...bothPassed, { ...failures, blame: ["be"] }, ...passed(be)],
    final: { state: "running", stage: "test", counters: { ...zero, test: 1 } },
    attempts: [
      "be-dev 1",
      "be-dod 1",
      "be-review 1",
      "fe-dev 1",
      "fe-dod 1",
      "fe-review 1",
      "test 1",
      "be-dev 2",
      "be-dod 2",
      "be-review 2",
    ],
  },
  {
    name: "R-002-21: the third failure of the tester escalates in two tracks too",
    script: [
      ...bothPassed,
      { ...failures, blame: ["fe"] },
      ...passed(fe),
      { ...failures, blame: ["fe"] },
      ...passed(fe),
      failures,
    ],
    final: {
      state: "waiting",
      waitingFor: "escalation",
      stage: "test",
      status: "ESCALATED",
      counters: { ...zero, test: 2 },
    },
  },
];

const built = { stage: "dev-test", health: "complete" };
const asked = { stage: "dev-test", health: "complete", questions: ["Is the old route still used?"] };
const simpleRows: readonly Row[] = [
  {
    name: "R-002-31: without open questions no reviewer runs",
    script: [signoff, built, specs],
    final: { state: "waiting", waitingFor: "gate", stage: "merge", status: "merge question" },
    attempts: ["dev-test 1", "update-specs 1"],
  },
  {
    name: "R-002-31: one open question brings in the reviewer",
    script: [signoff, asked],
    final: { state: "running", stage: "review" },
  },
  {
    name: "R-002-31: the reviewer approves",
    script: [signoff, asked, review],
    final: { state: "running", stage: "update-specs" },
  },
  {
    name: "R-002-31: there is one review at most",
    script: [signoff, asked, changes],
    final: {
      state: "waiting",
      waitingFor: "escalation",
      stage: "review",
      status: "ESCALATED",
      counters: { review: 0 },
    },
  },
  {
    name: "R-002-32: blocked with questions stops; no reviewer runs",
    script: [signoff, { ...asked, health: "blocked" }],
    final: { state: "waiting", waitingFor: "question", stage: "dev-test", status: "blocked" },
  },
  {
    name: "R-002-32: complete with questions leads to the reviewer",
    script: [signoff, asked],
    final: { state: "running", stage: "review", waitingFor: null },
  },
  {
    name: "R-002-31: questions that were answered do not bring in the reviewer",
    script: [signoff, { ...asked, health: "blocked" }, { question: "dev-test", answer: "no" }, built],
    final: { state: "running", stage: "update-specs" },
  },
];

describe.each([
  [standard, standardRows],
  [complex, complexRows],
  [simple, simpleRows],
])("%s", (flow, rows) => {
  test.each(rows)("$name", async ({ script, input, final, attempts }) => {
    const played = await play(flow, script, input);
    expect(played.final).toMatchObject(final);
    if (attempts !== undefined) expect(played.attempts).toEqual(attempts);
  });
});

test("R-002-24: backend and frontend work at the same time", async () => {
  const { trace } = await play(complex, [signoff]);
  expect(trace.at(-1)?.next).toEqual([
    { kind: "stage", stage: "be-dev", attempt: 1 },
    { kind: "stage", stage: "fe-dev", attempt: 1 },
  ]);
});

test("R-002-26: the tester cannot run before both tracks are done", async () => {
  const refused = await playRefused(complex, [signoff, ...passed(be), tested]);
  expect(refused).toMatchObject({ code: "outcome_does_not_fit" });
  expect(refused.message).toContain("waited for: stage fe-dev (attempt 1)");
});

test("R-002-29: only the blamed track starts again", async () => {
  const { trace } = await play(complex, [...bothPassed, { ...failures, blame: ["be"] }]);
  expect(trace.at(-1)?.next).toEqual([{ kind: "stage", stage: "be-dev", attempt: 2 }]);
});

test("R-002-40: the questions are kept word for word until they are answered", async () => {
  const script = [signoff, { stage: "dev", health: "blocked", questions: ["Which key?"] }];
  const refused = await playRefused(standard, [...script, dev]);
  expect(refused.message).toContain("waited for: question dev");
});
