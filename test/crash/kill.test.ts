// Random kill -9 of the whole program while agents work, restart, kill again, and at the end let it finish: nothing is lost, nothing
// doubled, nothing left behind. PASSRAIL_CRASH_SEEDS and PASSRAIL_CRASH_FROM choose the seeds; `npm run crash` does thousands.

import { beforeAll, expect, test } from "vitest";
import { INVARIANTS, type Violation } from "./invariants.ts";
import { describeFailure, runSeeds, type SeedResult, spread } from "./seeds.ts";

/** Each is killed two or three times. A person who runs the tests gets fewer of them, and `npm run crash` for more. */
const SEEDS = Number(process.env["PASSRAIL_CRASH_SEEDS"] ?? (process.env["CI"] ? 48 : 24));
const FROM = Number(process.env["PASSRAIL_CRASH_FROM"] ?? 1);
/** Agents pause and disks sync, so one more than there are cores. */
const AT_ONCE = 3;
/** A restarted engine is ready again: for all but the slowest hundredth of the seeds. */
const READY_P99_MS = 10_000;

let results: readonly SeedResult[] = [];

beforeAll(
  async () => {
    results = await runSeeds(FROM, SEEDS, AT_ONCE);
  },
  60_000 + SEEDS * 15_000,
);

/** Every failing seed with what it broke, or nothing. */
function broken(invariant: Violation["invariant"]): readonly string[] {
  return results
    .map((result) => ({
      ...result,
      violations: result.violations.filter((violation) => violation.invariant === invariant),
    }))
    .filter(({ violations }) => violations.length > 0)
    .map(describeFailure);
}

test("R-X-05: the kills hit: most seeds were killed, and attempts were cut off in the middle", () => {
  const sum = (count: (result: SeedResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  console.log(
    `${results.length} seeds, ${sum(({ kills }) => kills)} kills, ${sum(({ interruptions }) => interruptions)} attempts interrupted`,
  );
  expect(results).toHaveLength(SEEDS);
  // Otherwise a program that never starts would pass everything below.
  expect(sum(({ kills }) => kills)).toBeGreaterThanOrEqual(SEEDS);
  if (SEEDS >= 20) expect(sum(({ interruptions }) => interruptions)).toBeGreaterThan(SEEDS / 4);
});

test(`R-X-04, R-000-16: I1 ${INVARIANTS.I1}`, () => expect(broken("I1")).toEqual([]));
test(`R-000-16, R-X-03: I2 ${INVARIANTS.I2}`, () => expect(broken("I2")).toEqual([]));
test(`R-X-05: I3 ${INVARIANTS.I3}`, () => expect(broken("I3")).toEqual([]));
test(`R-001-40: I4 ${INVARIANTS.I4}`, () => expect(broken("I4")).toEqual([]));
test(`R-X-03: I5 ${INVARIANTS.I5}`, () => expect(broken("I5")).toEqual([]));
test(`R-X-05: I6 ${INVARIANTS.I6}`, () => expect(broken("I6")).toEqual([]));
test(`R-X-04: I7 ${INVARIANTS.I7}`, () => expect(broken("I7")).toEqual([]));
test(`R-001-39: I8 ${INVARIANTS.I8}`, () => expect(broken("I8")).toEqual([]));
test(`R-X-05: I9 ${INVARIANTS.I9}`, () => expect(broken("I9")).toEqual([]));
test(`R-000-43, R-001-40, R-X-05: ${INVARIANTS.same}`, () => expect(broken("same")).toEqual([]));
test(`R-X-05: ${INVARIANTS.marked}`, () => expect(broken("marked")).toEqual([]));
test(`R-X-05: ${INVARIANTS.told}`, () => expect(broken("told")).toEqual([]));
test(`R-X-05: ${INVARIANTS.quiet}`, () => expect(broken("quiet")).toEqual([]));

test("R-X-05: a restarted engine has recovered within ten seconds", () => {
  const ready = results.map(({ readyMs }) => readyMs).toSorted((a, b) => a - b);
  console.log(
    `recovered: ${spread(ready)}; settled after the last start: ${spread(results.map(({ settledMs }) => settledMs))}`,
  );
  expect(ready[Math.floor(ready.length * 0.99) - 1] ?? 0).toBeLessThan(READY_P99_MS);
});
