import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Alarms, createAlarms } from "./alarms.ts";
import type { ReadyAttempt } from "../ready-attempt.ts";

const DAY = 24 * 60 * 60_000;
let alarms: Alarms;
let due: readonly string[];
let looks: number;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-01-01T00:00:00.000Z") });
  due = [];
  looks = 0;
  const clock = {
    now: () => {
      looks += 1;
      return new Date().toISOString();
    },
    monotonicMs: () => performance.now(),
  };
  alarms = createAlarms(clock, () => {
    due = [...due, ...alarms.takeDue().map(({ key }) => key)];
  });
});

afterEach(() => {
  alarms.stop();
  vi.useRealTimers();
});

function attempt(key: string, runId = "r"): ReadyAttempt {
  const slot = { runId, agent: "a", agentLimit: null, locks: [] };
  return { key, runId, track: "main", stage: "s", attempt: 1, first: false, slot };
}

test("a timer rings when the time has come, the earliest first", () => {
  expect(alarms.set(attempt("b"), "2026-01-01T00:00:20.000Z")).toBe(true);
  expect(alarms.set(attempt("a"), "2026-01-01T00:00:10.000Z")).toBe(true);
  vi.advanceTimersByTime(9_999);
  expect(due).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(due).toEqual(["a"]);
  vi.advanceTimersByTime(10_000);
  expect(due).toEqual(["a", "b"]);
  expect([alarms.size, vi.getTimerCount()]).toEqual([0, 0]);
});

test("a wait of forty days, more than a timer of Node can hold, neither rings early nor spins", () => {
  alarms.set(attempt("a"), new Date(Date.now() + 40 * DAY).toISOString());
  vi.advanceTimersByTime(DAY);
  expect(looks).toBeLessThan(15_000);
  expect(due).toEqual([]);
  vi.advanceTimersByTime(39 * DAY);
  expect(due).toEqual(["a"]);
});

test("a clock that is set ahead is noticed within half a minute", () => {
  alarms.set(attempt("a"), "2026-01-01T05:00:00.000Z");
  vi.advanceTimersByTime(1000);
  vi.setSystemTime(Date.parse("2026-01-02T00:00:00.000Z"));
  vi.advanceTimersByTime(30_000);
  expect(due).toEqual(["a"]);
});

test("a clock that is set back does not make the wait longer", () => {
  alarms.set(attempt("a"), "2026-01-01T00:05:00.000Z");
  vi.setSystemTime(Date.parse("2020-01-01T00:00:00.000Z"));
  vi.advanceTimersByTime(5 * 60_000);
  expect(due).toEqual(["a"]);
});

test("what lies behind, or is no time at all, is not waited for", () => {
  expect(alarms.set(attempt("a"), "2025-12-31T23:59:59.000Z")).toBe(false);
  expect(alarms.set(attempt("a"), "soon")).toBe(false);
  expect(alarms.size).toBe(0);
});

test("what is unwanted is dropped with its timer, of one run only", () => {
  alarms.set(attempt("a", "r1"), "2026-01-01T00:00:10.000Z");
  alarms.set(attempt("b", "r2"), "2026-01-01T00:00:10.000Z");
  alarms.drop("r1", () => true);
  vi.advanceTimersByTime(10_000);
  expect(due).toEqual(["b"]);
  alarms.set(attempt("c", "r1"), "2026-01-01T00:00:30.000Z");
  alarms.drop("r1", () => true);
  expect(vi.getTimerCount()).toBe(0);
});

test("a clock that was set back before a restart does not make a wait longer than it was meant to be", () => {
  // Decided at 01:00 for 15 seconds; then the clock was set back by an hour, and the engine began anew.
  alarms.set(attempt("a"), "2026-01-01T01:00:15.000Z", "2026-01-01T01:00:00.000Z");
  vi.advanceTimersByTime(14_999);
  expect(due).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(due).toEqual(["a"]);
});
