import { expect, test } from "vitest";
import { layoutTimeline, type TimedAttempt, type Wait } from "./timeline.ts";
import type { ListedEvent } from "./types.ts";
import { waitsOf } from "./waits.ts";

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
const time = (seconds: number): number => Date.parse(at(seconds));

function attempt(stage: string, number: number, ready: number, start: number | null, end: number | null): TimedAttempt {
  return {
    stage,
    attempt: number,
    readyAt: at(ready),
    startedAt: start === null ? null : at(start),
    endedAt: end === null ? null : at(end),
    status: end === null ? (start === null ? "ready" : "running") : "done",
    word: end === null ? null : "REVISE",
    verdict: null,
    health: null,
  };
}
const wait = (stage: string, from: number, to: number | null): Wait => ({
  stage,
  kind: "gate",
  from: at(from),
  to: to === null ? null : at(to),
  answer: to === null ? null : "approve",
});
const lay = (attempts: readonly TimedAttempt[], waits: readonly Wait[], now: number, fold = true, over = false) =>
  layoutTimeline(attempts, waits, { now: time(now), fold, over });

test("a row per attempt, in the order of their begin, queued before working", () => {
  const { rows, totalMs, workingMs } = lay([attempt("build", 2, 60, 70, 100), attempt("build", 1, 0, 10, 50)], [], 999);
  expect(rows.map(({ name }) => name)).toEqual(["build #1", "build #2"]);
  expect(rows[0]?.segments).toMatchObject([
    { kind: "queued", begin: 0, end: 0.1, ms: 10_000 },
    { kind: "working", begin: 0.1, end: 0.5, ms: 40_000, isOpen: false },
  ]);
  expect(rows[0]?.outcome).toBe("REVISE");
  expect([totalMs, workingMs]).toEqual([100_000, 70_000]);
});

test("a night at a gate is folded, and the work stays readable; unfolded it is honest", () => {
  const attempts = [attempt("build", 1, 0, 0, 60), attempt("qa", 1, 36_060, 36_060, 36_120)];
  const waits = [wait("start", 60, 36_060)];
  const folded = lay(attempts, waits, 36_120);
  const [build, gate, qa] = folded.rows;
  expect(build?.segments[1]?.end ?? 0).toBeGreaterThan(0.45);
  expect((qa?.segments[1]?.end ?? 0) - (qa?.segments[1]?.begin ?? 0)).toBeGreaterThan(0.45);
  expect(folded.folds).toMatchObject([{ ms: 36_000_000, begin: gate?.segments[0]?.begin }]);
  expect(folded.waitingMs).toBe(36_000_000);
  const open = lay(attempts, waits, 36_120, false);
  expect(open.folds).toEqual([]);
  expect(open.rows[0]?.segments[1]?.end).toBeLessThan(0.01);
});

test("waits of any length are folded, those that are shorter than a fold are left as they are", () => {
  const attempts = [attempt("build", 1, 0, 0, 60), attempt("qa", 1, 80, 80, 140), attempt("doc", 1, 141, 141, 150)];
  const { folds, rows } = lay(attempts, [wait("start", 60, 80), wait("ship", 140, 141)], 150);
  expect(folds).toMatchObject([{ ms: 20_000 }]);
  expect(rows.flatMap(({ segments }) => segments.filter(({ isFolded }) => isFolded))).toMatchObject([
    { kind: "waiting", ms: 20_000 },
  ]);
});

test("a wait that goes on is folded as well, and the run's work stays where it is", () => {
  const at = (now: number) => lay([attempt("build", 1, 0, 0, 60)], [wait("ship", 60, null)], now);
  expect(at(3600).rows[0]?.segments).toEqual(at(7200).rows[0]?.segments);
  expect(at(7200).rows[1]?.segments).toMatchObject([{ kind: "waiting", isOpen: true, isFolded: true, end: 1 }]);
});

test("while another track works, nothing is folded", () => {
  expect(lay([attempt("api", 1, 0, 0, 7200)], [wait("ask", 100, 7000)], 7200).folds).toEqual([]);
});

test("a running run grows to now, and only what goes on is open", () => {
  const { rows } = lay([attempt("spec", 1, 0, 0, 50), attempt("build", 1, 50, 50, null)], [], 100);
  expect(rows[1]?.segments.at(-1)).toMatchObject({ kind: "working", end: 1, ms: 50_000, isOpen: true });
  expect(rows[0]?.segments.at(-1)?.isOpen).toBe(false);
  expect(lay([attempt("build", 1, 0, null, null)], [], 10).rows[0]?.segments).toMatchObject([
    { kind: "queued", begin: 0, end: 1, isOpen: true },
  ]);
});

test("an attempt that was cut off with its run does not grow for ever", () => {
  const { rows, totalMs } = lay([attempt("build", 1, 0, 10, null)], [], 9999, true, true);
  expect(rows[0]?.segments.every(({ isOpen }) => !isOpen)).toBe(true);
  expect(totalMs).toBe(10_000);
});

test("nothing, and times that run backwards, do no harm", () => {
  expect(lay([], [], 5)).toMatchObject({ rows: [], folds: [], totalMs: 0 });
  const { rows } = lay([attempt("build", 1, 100, 50, 20)], [], 200);
  for (const { begin, end } of rows[0]?.segments ?? []) expect(begin <= end && begin >= 0 && end <= 1).toBe(true);
});

test("ten thousand attempts are laid out in no time", () => {
  const many = Array.from({ length: 10_000 }, (_, index) =>
    attempt("s", index + 1, index * 10, index * 10 + 1, index * 10 + 9),
  );
  const begin = performance.now();
  expect(lay(many, [], 100_000).rows).toHaveLength(10_000);
  expect(performance.now() - begin).toBeLessThan(5000);
});

test("waits are read off events: opened, answered, withdrawn, ended with the run", () => {
  const event = (type: string, seconds: number, more: object): ListedEvent => ({
    seq: 1,
    runId: "r",
    subjectId: "s",
    version: 1,
    event: { type, at: at(seconds), actor: "engine", ...more },
  });
  const item = (number: number, kind: string) => ({ item: { number, stage: "ship", kind } });
  const events = [
    event("gate.opened", 0, item(1, "gate")),
    event("gate.answered", 5, { number: 1, answer: "approve" }),
    event("question.asked", 6, item(2, "question")),
    event("question.answered", 7, { number: 2, answer: "a long text" }),
    event("escalation.opened", 8, item(3, "escalation")),
    event("item.withdrawn", 9, { number: 3 }),
    event("gate.opened", 10, item(4, "gate")),
  ];
  expect(waitsOf(events, null).map(({ to, answer }) => [to, answer])).toEqual([
    [at(5), "approve"],
    [at(7), "answered"],
    [at(9), "withdrawn"],
    [null, null],
  ]);
  expect(waitsOf(events, at(20)).at(-1)?.to).toBe(at(20));
});
