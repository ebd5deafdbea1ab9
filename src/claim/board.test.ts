// When a silent worker loses its claims, by a clock that only the test moves.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type HeldClaim, WORKER_PROTOCOL } from "../core/worker/wire.ts";
import { createBoard, type WorkerBoard } from "./board.ts";

const LEASE_MS = 6_000;
const STARTED = "2026-01-01T00:00:00.000Z";

let home: string;
let board: WorkerBoard;
let nowMs = 0;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  home = mkdtempSync(join(tmpdir(), "passrail-board-"));
  const clock = { nowMs: () => nowMs, now: () => STARTED };
  board = createBoard({ home, place: "workers-only", leaseMs: LEASE_MS, ...clock, onFree() {}, log() {} });
  board.ready();
});
afterEach(() => {
  board.close();
  vi.useRealTimers();
  rmSync(home, { recursive: true, force: true });
});

const INSTANCE = "0".repeat(32);

async function hear(name: string, held: readonly HeldClaim[] = []): Promise<void> {
  const about = { version: "0", protocol: WORKER_PROTOCOL, labels: [], slots: 1, startedAt: STARTED };
  const poll = { hello: { ...about, name, instance: INSTANCE }, node: null, held, isLeaving: false };
  expect(await board.poll({ id: name, labels: null }, poll, new AbortController().signal)).toMatchObject({ ok: true });
}

/** Time passes, and the board looks. */
function pass(ms: number): void {
  nowMs += ms;
  vi.advanceTimersByTime(ms);
}

test("R-X-05: a worker keeps its claim for the whole lease, loses it with the next look, and another one may take the stage", async () => {
  await hear("one");
  const wish = { key: "r1/build/1", runId: "r1", stage: "build", labels: [], mayMove: true };
  expect(board.book(wish, false)).toBe("worker");
  const claim = board.open(wish.key);
  pass(LEASE_MS);
  expect(claim.isOver).toBe(false);
  await hear("two");
  pass(250);
  expect(claim.isOver).toBe(true);
  expect(await claim.ended).toEqual({ type: "lost", why: "worker one is gone" });
  expect(board.list().map(({ name }) => name)).toEqual(["two"]);
  expect(board.book({ ...wish, key: "r1/build/2" }, false)).toBe("worker");
});

test("a claim that its worker has named and names no more is lost, although the worker lives", async () => {
  await hear("one");
  const wish = { key: "r1/build/1", runId: "r1", stage: "build", labels: [], mayMove: true };
  expect(board.book(wish, false)).toBe("worker");
  const claim = board.open(wish.key);
  // The worker has not heard of it yet.
  await hear("one");
  expect(claim.isOver).toBe(false);
  await hear("one", [{ claim: claim.id, seen: 0 }]);
  expect(claim.isOver).toBe(false);
  await hear("one");
  expect(claim.isOver).toBe(true);
});

test("a worker whose agent has ended gets its next attempt while the report of the last one is still being stored", async () => {
  await hear("one");
  const wish = { key: "r1/build/1", runId: "r1", stage: "build", labels: [], mayMove: true };
  const next = { ...wish, key: "r2/build/1", runId: "r2" };
  expect(board.book(wish, false)).toBe("worker");
  const claim = board.open(wish.key);
  const stored = Promise.withResolvers<void>();
  claim.serve(() => stored.promise);
  await hear("one", [{ claim: claim.id, seen: 0 }]);
  expect(board.book(next, false)).toBeUndefined();
  const report = { type: "report", report: {}, tip: null, work: null, problem: null } as const;
  const taken = claim.take(1, [report]);
  await vi.waitFor(() => expect(board.hasFree()).toBe(true));
  expect(board.book(next, false)).toBe("worker");
  expect(board.hasFree()).toBe(false);
  stored.resolve();
  expect(await taken).toBe(1);
  // The first attempt is over: the slot was given away already.
  board.release(wish.key);
  expect(board.hasFree()).toBe(false);
  board.release(next.key);
  expect(board.hasFree()).toBe(true);
});

test("what a worker says of a claim before the node knows that it has it is not refused, only asked for again", async () => {
  await hear("one");
  const claim = board.adopt({ id: "c1", worker: "one" }, "r1/build/1", "r1/build");
  claim.serve(async () => {});
  const { node } = await pollOnce();
  const said = { claim: "c1", instance: INSTANCE, node, from: 1, messages: [{ type: "check-offered" } as const] };
  expect(await board.take({ id: "one", labels: null }, said)).toMatchObject({ error: { code: "node_starting" } });
  await hear("one", [{ claim: "c1", seen: 0 }]);
  expect(await board.take({ id: "one", labels: null }, said)).toEqual({ ok: true, value: 1 });
});

/** Of another worker, to learn the name of the node. */
async function pollOnce(): Promise<{ readonly node: string }> {
  const about = { version: "0", protocol: WORKER_PROTOCOL, labels: [], slots: 1, startedAt: STARTED };
  const poll = { hello: { ...about, name: "other", instance: INSTANCE }, node: null, held: [], isLeaving: false };
  const answer = await board.poll({ id: "other", labels: null }, poll, new AbortController().signal);
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

test("a worker of another protocol, with a label that its key is not made for, or with the name of another key's worker gets nothing", async () => {
  const key = { id: "k1", labels: ["gpu"] };
  const about = { version: "0", protocol: WORKER_PROTOCOL, labels: ["gpu"], slots: 1, startedAt: STARTED };
  const ask = (more: object, by: { id: string; labels: string[] | null } = key) => {
    const hello = { ...about, name: "box", instance: INSTANCE, ...more };
    return board.poll(by, { hello, node: null, held: [], isLeaving: false }, new AbortController().signal);
  };
  expect(await ask({})).toMatchObject({ ok: true });
  const refused = (code: string) => ({ ok: false, error: { code } });
  expect(await ask({ protocol: WORKER_PROTOCOL + 1 })).toMatchObject(refused("worker_version"));
  expect(await ask({ labels: ["gpu", "secrets"] })).toMatchObject(refused("label_not_allowed"));
  expect(await ask({ instance: "1".repeat(32) }, { id: "k2", labels: null })).toMatchObject(
    refused("worker_name_taken"),
  );
  // A claim is for the key that took it, whatever another one calls itself.
  const wish = { key: "r1/build/1", runId: "r1", stage: "build", labels: [], mayMove: true };
  expect(board.book(wish, false)).toBe("worker");
  const claim = board.open(wish.key);
  expect(board.claimFor({ id: "k2", labels: null }, claim.id)).toMatchObject(refused("claim_lost"));
  expect(board.claimFor(key, claim.id)).toMatchObject({ ok: true });
});
