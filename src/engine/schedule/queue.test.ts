import { expect, test } from "vitest";
import type { ReadyAttempt } from "../ready-attempt.ts";
import { createQueue } from "./queue.ts";
import { createSlots } from "../slots.ts";

function ready(runId: string, more: Partial<ReadyAttempt> = {}): ReadyAttempt {
  const { first = true, stage = "spec", attempt = 1 } = more;
  const slot = { runId, agent: "in1", agentLimit: null, locks: [], ...more.slot };
  return { key: `${runId}/${stage}/${attempt}`, runId, track: "main", stage, attempt, first, slot };
}

test("R-000-18: those who wait start in the order in which they came", () => {
  const queue = createQueue();
  for (const run of ["a", "b", "c"]) queue.add(ready(run));
  const slots = createSlots(2);
  expect(queue.takeStartable(slots).map(({ runId }) => runId)).toEqual(["a", "b"]);
  expect(queue.takeStartable(slots)).toEqual([]);
  slots.release(ready("a").slot);
  expect(queue.takeStartable(slots).map(({ runId }) => runId)).toEqual(["c"]);
  expect(queue.every(() => false)).toBe(true);
});

test("R-000-18: a run under way comes before a new one, whoever came first", () => {
  const queue = createQueue();
  queue.add(ready("new"));
  queue.add(ready("old", { first: false, stage: "build" }));
  expect(queue.hasBefore(ready("other"))).toBe(true);
  expect(queue.takeStartable(createSlots(1)).map(({ runId }) => runId)).toEqual(["old"]);
});

test("one that cannot start yet does not keep those behind it waiting", () => {
  const queue = createQueue();
  const slots = createSlots(3);
  const limited = { runId: "x", agent: "in2", agentLimit: 1, locks: [] };
  slots.tryTake(limited);
  queue.add(ready("a", { first: false, slot: { ...limited, runId: "a" } }));
  queue.add(ready("b"));
  expect(queue.takeStartable(slots).map(({ runId }) => runId)).toEqual(["b"]);
  slots.release(limited);
  expect(queue.takeStartable(slots).map(({ runId }) => runId)).toEqual(["a"]);
});

test("adding twice changes nothing, and a dropped attempt does not start", () => {
  const queue = createQueue();
  queue.add(ready("a"));
  queue.add(ready("a"));
  expect(queue.every(() => false)).toBe(false);
  queue.drop("a", () => false);
  expect(queue.every(() => false)).toBe(false);
  queue.drop("a", () => true);
  expect(queue.takeStartable(createSlots(1))).toEqual([]);
});
