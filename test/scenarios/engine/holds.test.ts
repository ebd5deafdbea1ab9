// A runner over its limit, for all runs: stored, kept over restarts, lifted by its time, by its work, or by a person.

import { afterEach, expect, test } from "vitest";
import { liftHold, listHolds } from "../../../src/app/holds.ts";
import type { Report } from "../../../src/core/flow/outcome.ts";
import { runState } from "../../../src/core/view/run-state.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { flowOf, openScripted, type Scripted } from "../../harness/scripted-engine.ts";

const MINUTE = 60_000;
const SIX = ["w1", "w2", "w3", "w4", "w5", "w6"];
const QUOTA: Report = { cause: "quota", reason: "out until three", resetsAt: "2026-01-01T15:00:00.000Z" };
const metered = (stage: string) => ({
  runner: stage === "other" ? "codex" : "claude",
  model: null,
  reserveUsd: 0,
  reserveTokens: 0,
});
const isHeld = (run: Run): boolean => Object.values(run.tracks).some((at) => at.at === "ready" && "notBefore" in at);
const isDone = (run: Run): boolean => run.status === "completed";

let scripted: Scripted;
afterEach(() => scripted.close());

/** `found` finds the limit; six others wait for it. */
async function sixWait(limit: Report = QUOTA): Promise<readonly string[]> {
  const calls: string[] = [];
  const reports = [limit];
  scripted = await openScripted({
    metered,
    agent: ({ run: { id: runId }, stage, attempt }) => {
      calls.push(`${runId}/${stage.id}/${attempt}`);
      return (runId === "found" ? reports.shift() : undefined) ?? { verdict: "pass" };
    },
  });
  await scripted.start("found");
  await scripted.until("found", "is put off", isHeld);
  for (const id of SIX) await scripted.start(id, flowOf([{ id: "work", agent: "worker" }]));
  for (const id of SIX) await scripted.until(id, "is held", isHeld);
  return calls;
}

test("the hold is stored, six runs wait over a restart, and all start when its time has come", async () => {
  const calls = await sixWait();
  await scripted.restart();
  expect(await listHolds(scripted.store, scripted.now())).toEqual([
    {
      runner: "claude",
      account: "",
      cause: "quota",
      reason: "out until three",
      since: "2026-01-01T12:00:00.000Z",
      until: "2026-01-01T15:00:00.000Z",
      runId: "found",
      by: "engine",
      waiting: 7,
    },
  ]);
  const run = await scripted.load("w1");
  const shown = runState(flowOf([{ id: "work", agent: "worker" }]), run, Date.parse(scripted.now()));
  expect(shown).toMatchObject({
    is: "held",
    text: "work #1 is held back: claude is over its quota",
    until: "2026-01-01T15:00:00.000Z",
  });
  // A run that is new to the restarted engine does not find the wall anew; one with another runner works.
  await scripted.start("late", flowOf([{ id: "work", agent: "worker" }]));
  await scripted.until("late", "is held", isHeld);
  await scripted.start("free", flowOf([{ id: "other", agent: "other" }]));
  await scripted.until("free", "is completed", isDone);
  expect(calls).toEqual(["found/build/1", "free/other/1"]);
  await scripted.advance(3 * 60 * MINUTE);
  for (const id of ["found", "late", ...SIX]) await scripted.until(id, "is completed", isDone);
  expect(calls).toHaveLength(2 + 8);
  expect(await listHolds(scripted.store, scripted.now())).toEqual([]);
});

test("a person lifts it, and everything that waits starts at once, with the name in the record", async () => {
  await sixWait();
  expect(await liftHold(scripted, { runner: "codex" }, "human:ann")).toMatchObject({ ok: false });
  expect(await liftHold(scripted, { runner: "claude" }, "human:ann")).toMatchObject({
    ok: true,
    value: { released: 7 },
  });
  for (const id of ["found", ...SIX]) await scripted.until(id, "is completed", isDone);
  const events = await scripted.store.events({ after: 0, runId: "w1", limit: 100 });
  expect(events.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({
      type: "stage.released",
      actor: "human:ann",
      runner: "claude",
      reason: "ann lifted the hold",
    }),
  );
  expect(await listHolds(scripted.store, scripted.now())).toEqual([]);
});

test("another process lifts it: the one that performs notices and starts", async () => {
  await sixWait();
  await scripted.store.liftHold({ runner: "claude", account: "" });
  await scripted.engine.catchUp();
  await scripted.start("new", flowOf([{ id: "work", agent: "worker" }]));
  await scripted.until("new", "is completed", isDone);
});

test("an account without credit asks a person once; the others wait an hour, and then one tries", async () => {
  const calls = await sixWaitForCredit();
  expect(await listHolds(scripted.store, scripted.now())).toMatchObject([
    { cause: "billing", until: "2026-01-01T13:00:00.000Z", waiting: 6 },
  ]);
  await scripted.advance(61 * MINUTE);
  for (const id of SIX) await scripted.until(id, "is completed", isDone);
  expect(calls).toHaveLength(7);
});

async function sixWaitForCredit(): Promise<readonly string[]> {
  const calls: string[] = [];
  scripted = await openScripted({
    metered,
    agent: ({ run: { id: runId } }) => {
      calls.push(runId);
      return runId === "found" ? { cause: "billing", reason: "no credit" } : { verdict: "pass" };
    },
  });
  await scripted.start("found", flowOf([{ id: "build", agent: "builder", route: { failed: "escalate" } }]));
  await scripted.until("found", "waits for a person", (run) => run.status === "waiting");
  for (const id of SIX) await scripted.start(id, flowOf([{ id: "work", agent: "worker" }]));
  for (const id of SIX) await scripted.until(id, "is held", isHeld);
  return calls;
}

test("a quota whose end nobody told is asked for again after a quarter of an hour", async () => {
  const calls = await sixWait({ cause: "quota", reason: "no idea when" });
  await scripted.advance(14 * MINUTE);
  expect(calls).toEqual(["found/build/1"]);
  await scripted.advance(2 * MINUTE);
  for (const id of ["found", ...SIX]) await scripted.until(id, "is completed", isDone);
});

test("a clock that was set back before a restart does not keep a runner held for longer than it was meant to be", async () => {
  await sixWait({ cause: "rate_limit", reason: "slow down", resetsAt: "2026-01-01T12:00:20.000Z" });
  await scripted.engine.close();
  scripted.setWall(Date.parse("2026-01-01T11:00:00.000Z"));
  await scripted.restart();
  await scripted.advance(21_000);
  for (const id of SIX) await scripted.until(id, "is completed", isDone);
});
