// The flow `routed`: a router names the agents, the reviewer's verdict sends the work on or back.

import { describe, expect, test } from "vitest";
import { play, type Row, type Script } from "./play.ts";

const route = (...stages: (string | object)[]) => ({ stage: "route", stages });
const did = (stage: string) => ({ stage });
const review = (verdict: string, more: object = {}) => ({ stage: "reviewer", verdict, ...more });
const approve = review("APPROVE", { score: 9 });
const revise = review("REVISE", { score: 6, issues: ["a name is misleading"] });
const redesign = review("REDESIGN", { score: 3 });
const all: Script = [route("architect", "builder", "reviewer"), did("architect"), did("builder")];
const completed = { state: "completed" as const, waitingFor: null, stage: null, status: "completed" };
const stoppedAt = (stage: string, loops = 0) => ({
  state: "stopped" as const,
  waitingFor: null,
  stage,
  status: "failed",
  counters: { review: loops },
});
const runningAt = (stage: string, loops: number) => ({
  state: "running" as const,
  stage,
  status: "running",
  counters: { review: loops },
});

const rows: readonly Row[] = [
  { name: "R-001-04: an empty list stops the run", script: [route()], final: stoppedAt("route") },
  { name: "R-001-04: no list stops the run", script: [did("route")], final: stoppedAt("route") },
  {
    name: "R-001-04: a list with an unknown agent stops the run",
    script: [route("builder", "bilder")],
    final: stoppedAt("route"),
  },
  {
    name: "R-001-04: a router that fails stops the run",
    script: [{ stage: "route", exit: 1 }],
    final: stoppedAt("route"),
  },
  {
    name: "whoever names an agent gets that one stage and no router",
    script: [did("scout")],
    input: ["agent=scout"],
    final: completed,
    attempts: ["scout 1"],
  },
  {
    name: "R-001-11: stages run one after another in the order of the list",
    script: [route("scout", { agent: "builder", teams: true }, "reviewer"), did("scout"), did("builder")],
    final: runningAt("reviewer", 0),
    attempts: ["route 1", "scout 1", "builder 1"],
  },
  { name: "R-001-19: APPROVE ends the run after the last stage", script: [...all, approve], final: completed },
  {
    name: "R-001-20: REVISE runs the nearest builder before the reviewer again",
    script: [...all, revise],
    final: runningAt("builder", 1),
  },
  {
    name: "R-001-20: after the builder every stage up to the reviewer runs again",
    script: [
      route("builder", "documenter", "reviewer"),
      did("builder"),
      did("documenter"),
      revise,
      did("builder"),
      did("documenter"),
      approve,
    ],
    final: { ...completed, counters: { review: 1 } },
    attempts: ["route 1", "builder 1", "documenter 1", "reviewer 1", "builder 2", "documenter 2", "reviewer 2"],
  },
  {
    name: "R-001-20: of two builders the nearest is run again",
    script: [route("builder", "scout", "builder", "reviewer"), did("builder"), did("scout"), did("builder"), revise],
    final: runningAt("builder-2", 1),
  },
  {
    name: "R-001-20: without a builder the previous stage is run again",
    script: [route("scout", "architect", "reviewer"), did("scout"), did("architect"), revise],
    final: runningAt("architect", 1),
  },
  {
    name: "R-001-21: REDESIGN goes back to the architect",
    script: [...all, redesign],
    final: runningAt("architect", 1),
  },
  {
    name: "R-001-21: without an architect REDESIGN goes back to the first stage",
    script: [route("scout", "builder", "reviewer"), did("scout"), did("builder"), redesign],
    final: runningAt("scout", 1),
  },
  {
    name: "R-001-22: REVISE and REDESIGN share the budget, and the third stops the run",
    script: [...all, revise, did("builder"), redesign, did("architect"), did("builder"), revise],
    final: stoppedAt("reviewer", 2),
    attempts: [
      "route 1",
      "architect 1",
      "builder 1",
      "reviewer 1",
      "builder 2",
      "reviewer 2",
      "architect 2",
      "builder 3",
      "reviewer 3",
    ],
  },
  {
    name: "R-001-22: a third approval still counts",
    script: [...all, revise, did("builder"), revise, did("builder"), approve],
    final: { ...completed, counters: { review: 2 } },
  },
  {
    name: "R-001-24: APPROVE with a score of 6 is a revise",
    script: [...all, review("APPROVE", { score: 6 })],
    final: runningAt("builder", 1),
  },
  {
    name: "R-001-24: REVISE with a score of 2 is a redesign",
    script: [...all, review("REVISE", { score: 2 })],
    final: runningAt("architect", 1),
  },
  {
    name: "R-001-24: REVISE with a score of 9 stays a revise",
    script: [...all, review("REVISE", { score: 9 })],
    final: runningAt("builder", 1),
  },
  { name: "R-001-24: without a score the word counts alone", script: [...all, review("APPROVE")], final: completed },
  {
    name: "R-001-24: a score outside of the range is ignored",
    script: [...all, review("APPROVE", { score: 12 })],
    final: completed,
  },
  {
    name: "a review without a verdict is a revise and counts",
    script: [...all, did("reviewer")],
    final: runningAt("builder", 1),
  },
  {
    name: "an unknown verdict is a revise and counts",
    script: [...all, review("LGTM")],
    final: runningAt("builder", 1),
  },
  {
    name: "three reviews without a verdict stop the run",
    script: [...all, did("reviewer"), did("builder"), did("reviewer"), did("builder"), did("reviewer")],
    final: stoppedAt("reviewer", 2),
  },
  {
    name: "R-001-31: stages behind the reviewer run after APPROVE",
    script: [route("builder", "reviewer", "documenter"), did("builder"), approve],
    final: runningAt("documenter", 0),
  },
  {
    name: "R-001-31: with two reviewers, going back from the second runs everything in between again",
    script: [
      route("architect", "builder", "reviewer", "documenter", "reviewer"),
      did("architect"),
      did("builder"),
      approve,
      did("documenter"),
      { ...revise, stage: "reviewer-2" },
      did("builder"),
      approve,
      did("documenter"),
      { ...approve, stage: "reviewer-2" },
    ],
    final: { ...completed, counters: { review: 1 } },
    attempts: [
      "route 1",
      "architect 1",
      "builder 1",
      "reviewer 1",
      "documenter 1",
      "reviewer-2 1",
      "builder 2",
      "reviewer 2",
      "documenter 2",
      "reviewer-2 2",
    ],
  },
  {
    name: "R-001-32: a reviewer that stands first has nothing to go back to",
    script: [route("reviewer", "builder"), revise],
    final: { state: "stopped", stage: "reviewer", status: "failed" },
  },
  {
    name: "an agent that fails stops the run",
    script: [route("builder", "reviewer"), { stage: "builder", exit: 2 }],
    final: stoppedAt("builder"),
  },
];

describe("routed", () => {
  test.each(rows)("$name", async ({ script, input, final, attempts }) => {
    const played = await play("routed", script, input);
    expect(played.final).toMatchObject(final);
    if (attempts !== undefined) expect(played.attempts).toEqual(attempts);
  });

  test("R-001-04: the reason names the unknown agent", async () => {
    const { trace } = await play("routed", [route("builder", "bilder")]);
    expect(trace.at(-1)?.next).toEqual([
      expect.objectContaining({ kind: "stopped", reason: expect.stringContaining('"bilder"') as string }),
    ]);
  });

  test("R-001-24: word and score that disagree raise a warning", async () => {
    const { warnings } = await play("routed", [...all, review("APPROVE", { score: 6 })]);
    expect(warnings).toContainEqual(expect.stringContaining("the worse (revise) counts"));
  });

  test("R-001-21: taking the first stage for a missing architect is logged", async () => {
    const { warnings } = await play("routed", [
      route("scout", "builder", "reviewer"),
      did("scout"),
      did("builder"),
      redesign,
    ]);
    expect(warnings).toEqual([expect.stringContaining("there is no agent:architect to go to; taking first")]);
  });
});
