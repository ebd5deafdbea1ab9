import { expect, test } from "vitest";
import { onlyHere } from "./places.ts";
import { createSlots, type SlotRequest } from "./slots.ts";

const request = (runId: string, more: Partial<SlotRequest> = {}): SlotRequest => ({
  runId,
  agent: "in1",
  agentLimit: null,
  locks: [],
  ...more,
});

test("R-000-18: no more attempts than slots, and a released slot can be taken again", () => {
  const slots = createSlots(2);
  const [a, b, c] = [request("a"), request("b"), request("c")];
  expect([slots.tryTake(a), slots.tryTake(b), slots.tryTake(c)]).toEqual([true, true, false]);
  expect(slots.full).toBe(true);
  slots.release(a);
  expect(slots.tryTake(c)).toBe(true);
});

test("R-000-18, R-X-14: an agent's own limit holds over all runs and leaves other agents alone", () => {
  const slots = createSlots(5);
  const build = (run: string) => request(run, { agent: "in2", agentLimit: 1 });
  expect(slots.tryTake(build("a"))).toBe(true);
  expect(slots.tryTake(build("b"))).toBe(false);
  expect(slots.tryTake(request("b", { agent: "in1" }))).toBe(true);
  slots.release(build("a"));
  expect(slots.tryTake(build("b"))).toBe(true);
});

test("R-X-14: a workspace belongs to one run; attempts of that run share it", () => {
  const slots = createSlots(5);
  const inFolder = (run: string) => request(run, { locks: ["dir:/p"] });
  expect(slots.tryTake(inFolder("a"))).toBe(true);
  expect(slots.tryTake(inFolder("a"))).toBe(true);
  expect(slots.tryTake(inFolder("b"))).toBe(false);
  slots.release(inFolder("a"));
  expect(slots.tryTake(inFolder("b"))).toBe(false);
  slots.release(inFolder("a"));
  expect(slots.tryTake(inFolder("b"))).toBe(true);
});

test("a request that is refused takes nothing", () => {
  const slots = createSlots(2);
  expect(slots.tryTake(request("a", { locks: ["x"] }))).toBe(true);
  for (let i = 0; i < 10; i++) expect(slots.tryTake(request("b", { locks: ["x", "y"] }))).toBe(false);
  expect(slots.full).toBe(false);
  expect(slots.tryTake(request("c", { locks: ["y"] }))).toBe(true);
});

test("R-X-14: a lock that is kept stays with its run between attempts, until it is let go", () => {
  const slots = createSlots(3);
  const own = { runId: "a", agent: "x", agentLimit: null, locks: ["branch:feat/one"] };
  const other = { ...own, runId: "b" };
  expect(slots.tryTake(own)).toBe(true);
  slots.keep("a", own.locks);
  slots.keep("a", own.locks);
  slots.release(own);
  expect(slots.tryTake(other)).toBe(false);
  expect(slots.tryTake(own)).toBe(true);
  slots.release(own);
  slots.letGo("a");
  expect(slots.tryTake(other)).toBe(true);
});

test("a runner near its limit gets one attempt at a time; the count follows the runner that took it", () => {
  let isNear = false;
  const slots = createSlots(9, { runnerOf: ([first]) => first, isSlow: (runner) => isNear && runner === "claude" });
  const [a, b, c] = ["a", "b", "c"].map((run) => request(run, { runners: ["claude", "codex"] }));
  if (a === undefined || b === undefined || c === undefined) throw new Error("three");
  expect([slots.tryTake(a), slots.tryTake(b)]).toEqual([true, true]);
  isNear = true;
  expect(slots.tryTake(c)).toBe(false);
  expect(slots.tryTake(request("d", { runners: ["codex"] }))).toBe(true);
  slots.release(a);
  expect(slots.tryTake(c)).toBe(false);
  slots.release(b);
  expect(slots.tryTake(c)).toBe(true);
});

test("a process that no worker can join leaves to the daemon what is for workers, and carries out what cannot move", () => {
  const wish = { key: "r/build/1", runId: "r", stage: "build", labels: [], mayMove: true };
  const asked = (isForWorkers: boolean, more: Partial<typeof wish> = {}) => {
    const slots = createSlots(1, undefined, onlyHere(isForWorkers));
    const attempt = { ...request("r"), place: { ...wish, ...more } };
    return [slots.isLeft(attempt), slots.tryTake(attempt)];
  };
  expect(asked(false)).toEqual([false, true]);
  expect(asked(true)).toEqual([true, false]);
  expect(asked(true, { mayMove: false })).toEqual([false, true]);
});
