// When a silent worker loses its claims, by a clock that only the test moves.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WORKER_PROTOCOL } from "../core/worker/wire.ts";
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

async function hear(name: string): Promise<void> {
  const about = { version: "0", protocol: WORKER_PROTOCOL, labels: [], slots: 1, startedAt: STARTED };
  const poll = { hello: { ...about, name, instance: "0".repeat(32) }, node: null, held: [], isLeaving: false };
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
