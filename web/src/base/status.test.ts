import { expect, test } from "vitest";
import { shownOf } from "./status.ts";

test("the kind of the open item makes a run escalated, in every flow and whatever its own status word is", () => {
  expect(shownOf({ status: "waiting", waitsFor: ["escalation"] })).toBe("escalated");
  expect(shownOf({ status: "waiting", waitsFor: ["gate", "escalation"] })).toBe("escalated");
  const question = { status: "waiting", waitsFor: ["question"], word: "escalated" } as const;
  expect(shownOf(question)).toBe("waiting");
  const stopped = { status: "stopped", waitsFor: [], word: "escalated" } as const;
  expect(shownOf(stopped)).toBe("stopped");
});

test("a paused run shows as paused while it is open", () => {
  expect(shownOf({ status: "waiting", waitsFor: ["escalation"], paused: true })).toBe("paused");
  expect(shownOf({ status: "completed", waitsFor: [], paused: true })).toBe("completed");
});

test("a run that works after a loop is revising", () => {
  expect(shownOf({ status: "running", waitsFor: [] })).toBe("running");
  expect(shownOf({ status: "running", waitsFor: [], loops: 1 })).toBe("revising");
});
