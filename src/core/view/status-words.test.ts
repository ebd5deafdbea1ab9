import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { statusWords } from "./status-words.ts";

test("R-000-40: a board has one lane per status of the feature flow, in the order of its way", () => {
  expect(statusWords(shippedFlow("feature"))).toEqual([
    "pending",
    "approved",
    "speccing",
    "designing",
    "building",
    "qa",
    "review",
    "escalated",
    "shipped",
    "canceled",
  ]);
});

test("R-X-06: a ticket's lanes are the words of its own flow, those of ends and trouble last", () => {
  expect(statusWords(shippedFlow("ticket"))).toEqual([
    "Backlog",
    "Needs Research",
    "Research In Progress",
    "Needs Spec",
    "Spec In Progress",
    "Needs Plan",
    "Plan In Progress",
    "Needs Implement",
    "Implement In Progress",
    "Needs Validate",
    "Validate In Progress",
    "Oneshot In Progress",
    "Awaiting Merge",
    "Needs Human Decision",
    "Needs Human Review",
    "Blocked",
    "Done",
    "Canceled",
  ]);
});

test("a story goes from phase to phase; a flow with tracks and a router names what it can show", () => {
  expect(statusWords(shippedFlow("story"))).toEqual([
    "queued",
    "analyzing",
    "implementing",
    "reviewing",
    "refactoring",
    "documenting",
    "blocked",
    "complete",
    "canceled",
  ]);
  expect(statusWords(shippedFlow("build-plan-complex"))).toEqual([
    "sign-off pending",
    "signed off",
    "merge question",
    "blocked",
    "ESCALATED",
    "failed",
    "not-merged",
    "done",
    "aborted",
  ]);
  expect(statusWords(shippedFlow("routed"))).toEqual([
    "queued",
    "running",
    "stalled",
    "failed",
    "completed",
    "canceled",
  ]);
});
