import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Signal } from "../core/run/signal.ts";
import { type Attempts, createAttempts, finishId } from "./attempts.ts";
import type { ReadyAttempt } from "./ready-attempt.ts";
import { createSlots, type Slots } from "./slots.ts";

const ready = (runId: string, stage = "build"): ReadyAttempt => ({
  key: `${runId}/${stage}/1`,
  runId,
  track: "main",
  stage,
  attempt: 1,
  first: false,
  slot: { runId, agent: "builder", agentLimit: null, locks: [] },
});
const holder = (runId: string) => ({ runId, stage: "build", attempt: 1, agent: "Builder", subjectId: "S-1" });
const finished = (id: string): Signal => ({
  type: "attempt.finished",
  stage: "build",
  attempt: 1,
  report: { verdict: "pass" },
  id,
  at: "2026-01-01T00:00:00.000Z",
  actor: "engine",
});
const own = finished(finishId({ stage: "build", attempt: 1 }));

let slots: Slots;
let attempts: Attempts;
let ids = 0;
beforeEach(() => {
  vi.useFakeTimers();
  slots = createSlots(2);
  attempts = createAttempts({ slots, newId: () => `id${++ids}`, lingerMs: 100 });
});
afterEach(() => vi.useRealTimers());

function working(runId: string) {
  expect(attempts.tryStart(ready(runId))).toBe(true);
  return attempts.work(ready(runId), holder(runId));
}

test("an attempt that was not stored gives its slot back and leaves nothing", () => {
  for (const runId of ["a", "b"]) expect(attempts.tryStart(ready(runId))).toBe(true);
  expect(attempts.tryStart(ready("c"))).toBe(false);
  attempts.giveUp(ready("a"));
  attempts.giveUp(ready("a"));
  expect(attempts.has(ready("a"))).toBe(false);
  expect(attempts.tryStart(ready("c"))).toBe(true);
  expect(slots.full).toBe(true);
});

test("an attempt that ends by itself reports; its slot is free before its report is stored", async () => {
  const { live, token } = working("a");
  expect(attempts.holderOf(token)).toEqual(holder("a"));
  expect(attempts.endWork(live)).toBe("reporting");
  expect(attempts.holderOf(token)).toBeUndefined();
  expect(attempts.tryStart(ready("b")) && attempts.tryStart(ready("c"))).toBe(true);
  expect(attempts.isSuperseded("a", own)).toBe(false);
  const gone = attempts.allGone("a");
  attempts.forget(live);
  await gone;
  expect(attempts.has(ready("a"))).toBe(false);
});

test("R-003-39: a verdict from elsewhere withdraws the token, keeps the run from starting and ends the program in time", () => {
  const { live, token } = working("a");
  expect(attempts.settledBy("a", own)).toBeUndefined();
  expect(attempts.settledBy("a", finished("from-the-api"))).toBe(live);
  attempts.settleElsewhere(live);
  expect(attempts.holderOf(token)).toBeUndefined();
  expect(attempts.tryStart(ready("a", "qa"))).toBe(false);
  vi.advanceTimersByTime(99);
  expect(live.abort.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(live.abort.signal.reason).toBe("its verdict is in");
  expect(attempts.endWork(live)).toBe("settled");
  expect(attempts.isSuperseded("a", own)).toBe(true);
  expect(attempts.tryStart(ready("a", "qa"))).toBe(true);
});

test("a verdict from elsewhere while the own report is on its way wins, and nothing is barred", () => {
  const { live } = working("a");
  attempts.endWork(live);
  attempts.settleElsewhere(live);
  expect(attempts.isSuperseded("a", own)).toBe(true);
  expect(attempts.tryStart(ready("a", "qa"))).toBe(true);
});

test("an attempt that was ended reports nothing, and after the end of all none starts to work", () => {
  const { live } = working("a");
  expect(attempts.tryStart(ready("b"))).toBe(true);
  attempts.endAll("engine stopped");
  expect(attempts.endWork(live)).toBe("settled");
  expect(attempts.work(ready("b"), holder("b")).live.abort.signal.reason).toBe("engine stopped");
});

test("R-X-05: adopted attempts keep their token and have their slots, also beyond a limit that is lower now", () => {
  for (const runId of ["a", "b", "c"]) attempts.adopt(ready(runId), holder(runId), `pr_at_${runId}`);
  expect(attempts.holderOf("pr_at_b")).toEqual(holder("b"));
  expect(attempts.tryStart(ready("d"))).toBe(false);
  expect(attempts.countOf("a")).toBe(1);
});

test("an engine that leaves lets go of attempts that work on, and ends the others and those that are ending", () => {
  const left: string[] = [];
  const lives = ["a", "b", "c"].map((runId) => attempts.adopt(ready(runId), holder(runId), runId));
  for (const [index, live] of lives.entries()) if (index !== 2) live.leave = () => left.push(live.ready.runId);
  lives[1]?.abort.abort("canceled");
  attempts.leaveAll("engine stopped");
  expect(left).toEqual(["a"]);
  expect(lives.map(({ abort }) => abort.signal.aborted)).toEqual([false, true, true]);
});
