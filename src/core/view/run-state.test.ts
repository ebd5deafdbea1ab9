import { expect, test } from "vitest";
import type { ResolvedFlow } from "../flow/agent.ts";
import type { Run, Track } from "../run/run.ts";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { runState, statusText } from "./run-state.ts";

const AT = "2026-03-01T10:00:00.000Z";
const NOW = Date.parse(AT);
const CARRY = {
  from: "start",
  reason: "next",
  names: [],
  issues: [],
  questions: [],
  loop: 0,
  loopMax: null,
  handoff: 1,
};
const FEATURE: ResolvedFlow = { flow: shippedFlow("feature"), hash: "h", agents: {} } as never;
const TICKET: ResolvedFlow = { flow: shippedFlow("ticket"), hash: "h", agents: {} } as never;

function run(tracks: Readonly<Record<string, Track>>, more: object = {}): Run {
  return { id: "r1", status: "running", paused: false, facts: {}, expanded: {}, tracks, ...more } as never;
}
const at = (state: "ready" | "running", stage: string, more: object = {}): Track =>
  ({ at: state, stage, attempt: 2, carry: CARRY, since: AT, ...more }) as never;

test("only a run with a working attempt is working; one whose stage is ready is in line", () => {
  expect(runState(FEATURE, run({ main: at("running", "build") }), NOW)).toEqual({
    is: "working",
    text: "IN2 works on build #2",
    until: null,
  });
  expect(runState(FEATURE, run({ main: at("ready", "build") }), NOW).is).toBe("queued");
});

test("a stage that is postponed is held until its time, with the cause; after that it is in line", () => {
  const until = "2026-03-01T14:05:00.000Z";
  const held = run({ main: at("ready", "build", { notBefore: until, because: "rate_limited" }) });
  expect(runState(FEATURE, held, NOW)).toEqual({ is: "held", text: "build #2 is held back: rate limited", until });
  expect(runState(FEATURE, held, Date.parse(until) + 1).is).toBe("queued");
});

test("a run that waits for its pull request waits for its merge, and an outside agent is waited for by name", () => {
  expect(runState(TICKET, run({ main: at("ready", "merge") }), NOW).is).toBe("merging");
  const outside = runState(FEATURE, run({ main: at("running", "build", { outside: true }) }), NOW);
  expect(outside).toMatchObject({ is: "outside", text: "IN2 works on build outside" });
});

test("of several tracks the working one gives the word; a paused run says which attempt still finishes", () => {
  const tracks = { other: at("ready", "build"), main: at("running", "qa") };
  expect(runState(FEATURE, run(tracks), NOW)).toMatchObject({ is: "working", text: "IN6 works on qa #2" });
  expect(runState(FEATURE, run(tracks, { paused: true }), NOW)).toMatchObject({
    is: "paused",
    text: "IN6 works on qa #2 and finishes",
  });
});

test("a run that waits for an escalation says so; other items wait for you", () => {
  const item = (kind: string) => ({
    at: "waiting",
    stage: "qa",
    carry: CARRY,
    item: { number: 1, stage: "qa", who: "owner", kind },
  });
  const waiting = (kind: string) => run({ main: item(kind) as never }, { status: "waiting", since: AT });
  expect(runState(FEATURE, waiting("escalation"), NOW).is).toBe("escalated");
  expect(runState(FEATURE, waiting("budget"), NOW)).toMatchObject({ is: "waiting", text: "Budget for owner at qa" });
});

test("a command says running of no run: an open one has the word of its state, a closed one its status", () => {
  expect(statusText(FEATURE, run({ main: at("running", "build") }), NOW)).toBe("working");
  expect(statusText(FEATURE, run({ main: at("ready", "build") }), NOW)).toBe("in line");
  expect(statusText(FEATURE, run({}, { status: "completed" }), NOW)).toBe("completed");
});
