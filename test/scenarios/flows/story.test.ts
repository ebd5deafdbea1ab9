// The flow `story`: five agents hand a story on, each may send it back.

import { describe, expect, test } from "vitest";
import { play, type Row, type Script } from "./play.ts";

const done = (stage: string) => ({ stage, verdict: "approved" });
const rejected = (stage: string) => ({ stage, verdict: "rejected", reason: "the build does not pass" });
const toReview: Script = [done("analyst"), done("implementer")];
const loop: Script = [rejected("reviewer"), done("implementer")];

const rows: readonly Row[] = [
  {
    name: "R-003-02: a story starts with the analyst",
    script: [],
    final: { state: "running", stage: "analyst", status: "analyzing", counters: { "reviewer.review": 0 } },
  },
  {
    name: "R-003-01: after the analyst comes the implementer",
    script: [done("analyst")],
    final: { state: "running", stage: "implementer", status: "implementing" },
  },
  {
    name: "R-003-01: after the implementer comes the reviewer",
    script: toReview,
    final: { state: "running", stage: "reviewer", status: "reviewing" },
  },
  {
    name: "R-003-01: after the reviewer comes the refactorer",
    script: [...toReview, done("reviewer")],
    final: { state: "running", stage: "refactorer", status: "refactoring" },
  },
  {
    name: "R-003-01: analyst, implementer, reviewer, refactorer, documenter, complete",
    script: [...toReview, done("reviewer"), done("refactorer"), done("documenter")],
    final: {
      state: "completed",
      waitingFor: null,
      stage: null,
      status: "complete",
      counters: { "reviewer.review": 0 },
    },
    attempts: ["analyst 1", "implementer 1", "reviewer 1", "refactorer 1", "documenter 1"],
  },
  {
    name: "the reviewer sends the work back to the implementer",
    script: [...toReview, rejected("reviewer")],
    final: { state: "running", stage: "implementer", status: "implementing", counters: { "reviewer.review": 1 } },
  },
  {
    name: "the loop of implementer and reviewer works again",
    script: [...toReview, ...loop, ...loop, done("reviewer")],
    final: { state: "running", stage: "refactorer", counters: { "reviewer.review": 2 } },
    attempts: [
      "analyst 1",
      "implementer 1",
      "reviewer 1",
      "implementer 2",
      "reviewer 2",
      "implementer 3",
      "reviewer 3",
    ],
  },
  {
    name: "the third rejection is escalated",
    script: [...toReview, ...loop, ...loop, rejected("reviewer")],
    final: { state: "waiting", waitingFor: "escalation", stage: "reviewer", counters: { "reviewer.review": 2 } },
  },
  {
    name: "R-003-31: the refactorer may send back to the reviewer",
    script: [...toReview, done("reviewer"), rejected("refactorer")],
    final: { state: "running", stage: "reviewer", counters: { "refactorer.review": 1, "reviewer.review": 0 } },
  },
  {
    name: "R-003-31: a story that the analyst refuses waits for a person",
    script: [rejected("analyst")],
    final: { state: "waiting", waitingFor: "escalation", stage: "analyst" },
  },
  {
    name: "an agent that is blocked opens a question",
    script: [{ stage: "analyst", health: "blocked", questions: ["Which API?"] }],
    final: { state: "waiting", waitingFor: "question", stage: "analyst", status: "blocked" },
  },
  {
    name: "the answered agent runs again",
    script: [
      { stage: "analyst", health: "blocked", questions: ["Which API?"] },
      { question: "analyst", answer: "v2" },
    ],
    final: { state: "running", waitingFor: null, stage: "analyst", status: "analyzing" },
  },
];

describe("story", () => {
  test.each(rows)("$name", async ({ script, final, attempts }) => {
    const played = await play("story", script);
    expect(played.final).toMatchObject(final);
    if (attempts !== undefined) expect(played.attempts).toEqual(attempts);
  });

  test("R-003-12: the phases are shown in order", async () => {
    const { trace, statuses } = await play("story", [
      ...toReview,
      done("reviewer"),
      done("refactorer"),
      done("documenter"),
    ]);
    expect(trace[0]?.status).toBe("analyzing");
    expect(statuses).toEqual(["analyzing", "implementing", "reviewing", "refactoring", "documenting", "complete"]);
  });
});
