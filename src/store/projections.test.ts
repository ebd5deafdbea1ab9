import { expect, test } from "vitest";
import type { RunEvent } from "../core/run/event.ts";
import { after, carryOf, eventAt, handOver, minute, newRun, wholeRun } from "./store.testsuite.ts";
import { rowChanges } from "./projections.ts";

const types = (events: readonly RunEvent[]) => rowChanges(events, 1).map((change) => change.type);

test("a handoff that is accepted in the commit that creates it is one row, written once", () => {
  const changes = rowChanges(handOver(after(newRun("a")), { from: "analyst", to: "coder", at: minute(5) }).events, 10);
  expect(changes.map((change) => change.type)).toEqual([
    "end-attempt",
    "finish-handoff",
    "open-handoff",
    "open-attempt",
  ]);
  expect(changes[0]).toMatchObject({ stage: "analyst", status: "done", outcomeSeq: 10 });
  expect(changes[2]).toMatchObject({ number: 2, state: "accepted", processedAt: minute(5) });
  expect(changes[3]).toMatchObject({
    stage: "coder",
    status: "running",
    readySeq: 12,
    startedAt: minute(5),
    handoff: 2,
  });
});

test("what happened after an end stays a change of its own, so that the order counts", () => {
  const attempt = { track: "main", stage: "s", attempt: 1 };
  const ready = eventAt(minute(1), { type: "stage.ready", ...attempt, carry: carryOf(1) });
  const canceled = eventAt(minute(1), { type: "stage.canceled", ...attempt, reason: "r" });
  const started = eventAt(minute(1), { type: "stage.started", ...attempt });
  expect(types([ready, canceled, started])).toEqual(["open-attempt", "end-attempt", "start-attempt"]);
});

test("every event of a whole run has a projection or none, and ends close all items", () => {
  const events = wholeRun("a").flatMap((change) => change.events);
  expect(types(events).at(-1)).toBe("close-items");
  expect(types(events.filter((event) => event.type === "status.changed"))).toEqual([]);
});
