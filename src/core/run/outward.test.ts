// Acts outside: which ones the run permits, and what it says when one outlives its attempt.

import { expect, test } from "vitest";
import { onlyStages } from "../../../test/harness/custom-flow.ts";
import { discarded, lateLanding, lateText, openActs } from "./outward.ts";
import type { OutwardIntent } from "./outward-act.ts";
import type { Run } from "./run.ts";
import type { Signal, SignalBody } from "./signal.ts";
import { transition, type Step } from "./transition.ts";

const { flow } = onlyStages("ticket", ["land"]);
const AT = "2026-01-01T00:00:00.000Z";
const MERGE: OutwardIntent = {
  key: "land:1:1",
  verb: "merge",
  branch: "b",
  target: "main",
  commit: "c1",
  before: "c0",
};
const INTEND: SignalBody = { type: "outward.intended", stage: "land", attempt: 1, ...MERGE };
const DONE: SignalBody = {
  type: "outward.seen",
  key: MERGE.key,
  sight: { result: "done", commit: "c1", number: null, url: null },
};
const CANCEL: SignalBody = { type: "cancel.requested", reason: "stop" };

function step(run: Run | undefined, body: SignalBody, actor: Signal["actor"] = "human:ann"): Step {
  return transition(flow, run, { ...body, id: "s", at: AT, actor });
}

function after(...bodies: readonly SignalBody[]): Run {
  const subject = { id: "AGI-7", title: "t", body: "" };
  const facts = { ticket: { status: "Needs Validate" } };
  const { flow: own } = { flow: { ...flow, enter: {} } };
  let { run } = transition(own, undefined, {
    type: "run.requested",
    runId: "r1",
    flowHash: "h",
    subject,
    facts,
    id: "s",
    at: AT,
    actor: "human:ann",
  });
  for (const body of [{ type: "attempt.started", stage: "land", attempt: 1 } as const, ...bodies])
    ({ run } = step(run, body));
  return run;
}

test("S14: an intent is taken from an attempt that works, and refused after a cancel or a pause", () => {
  expect(openActs(after(INTEND))).toMatchObject([{ ...MERGE, stage: "land", attempt: 1 }]);
  expect(step(after(CANCEL), INTEND).ignored).toBe("the run is canceled");
  expect(step(after({ type: "pause.requested", reason: "" }), INTEND).ignored).toBe("the run is paused");
  expect(step(after(), { ...INTEND, attempt: 2 }).ignored).toBe("attempt 2 of land is not running");
});

test("S14: an act that a cancel overtakes is settled by a command, and then told", () => {
  const canceled = step(after(INTEND), CANCEL);
  expect(canceled.commands).toContainEqual({ type: "settle-outward" });
  expect(lateText(canceled.run)).toContain("whether c1 reached main is being looked up");
  const seen = step(canceled.run, DONE);
  expect(seen.events.map(({ type }) => type)).toEqual(["outward.seen", "warning.raised"]);
  expect(lateText(seen.run)).toBe("canceled, but it landed as c1 in main; to take it back: passrail undo AGI-7");
  const undone = step(seen.run, { type: "undo.requested" });
  expect(undone.commands).toEqual([{ type: "settle-outward" }]);
  expect(step(seen.run, { type: "undo.requested" }, "agent:x").ignored).toBe("only a person can do this");
  const key = openActs(undone.run)[0]?.key ?? "";
  const back = step(undone.run, {
    type: "outward.seen",
    key,
    sight: { result: "done", commit: "c2", number: null, url: null },
  });
  expect(lateLanding(back.run)?.undoneBy).toBe("c2");
});

test("S14: an act that was not done leaves nothing behind", () => {
  const run = after(INTEND, { type: "outward.seen", key: MERGE.key, sight: { result: "not-done", why: "refused" } });
  expect(run.outward).toBeUndefined();
  expect(lateText(step(run, CANCEL).run)).toBeUndefined();
});

test("S14: the discard of a branch is an act too: only a person asks for it, only after the end, and the run remembers where the commits are", () => {
  const DISCARD: SignalBody = { type: "discard.requested", branch: "b", commit: "c1" };
  expect(step(after(), DISCARD).ignored).toBe("the run is running");
  const canceled = step(after(), CANCEL).run;
  expect(step(canceled, DISCARD, "agent:x").ignored).toBe("only a person can do this");
  const asked = step(canceled, DISCARD);
  expect(asked.commands).toEqual([{ type: "settle-outward" }]);
  const [act] = openActs(asked.run);
  expect(act).toMatchObject({ verb: "discard", branch: "b", commit: "c1" });
  expect(lateText(asked.run)).toBeUndefined();
  expect(step(asked.run, DISCARD).ignored).toContain("an earlier act is not known yet");
  const sight = { result: "done", commit: "c1", number: null, url: null, keptAs: "refs/passrail/keep/r1" } as const;
  const seen = step(asked.run, { type: "outward.seen", key: act?.key ?? "", sight });
  expect(discarded(seen.run)?.keptAs).toBe("refs/passrail/keep/r1");
  expect([lateLanding(seen.run), lateText(seen.run)]).toEqual([undefined, undefined]);
  const kept = step(asked.run, {
    type: "outward.seen",
    key: act?.key ?? "",
    sight: { result: "not-done", why: "moved" },
  });
  expect(kept.events).toContainEqual(expect.objectContaining({ type: "warning.raised", code: "discard_failed" }));
});

test("S14: a landing in one repository does not replace the one in another; after a cancel both are told, and one act takes back neither", () => {
  const inEach = ["backend", "frontend"].flatMap((repository): SignalBody[] => [
    { ...INTEND, key: repository, repository },
    { ...DONE, key: repository },
  ]);
  const canceled = after(...inEach, CANCEL);
  expect(canceled.outward?.map(({ repository, seen }) => [repository, seen?.commit])).toEqual([
    ["backend", "c1"],
    ["frontend", "c1"],
  ]);
  expect(lateText(canceled)).toBe(
    "canceled, but it landed as c1 in main (backend), it landed as c1 in main (frontend); take it back there: git revert",
  );
  expect(step(canceled, { type: "undo.requested" }).ignored).toContain("in each of them");
});
