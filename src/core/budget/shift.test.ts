import { expect, test } from "vitest";
import { overBecause, type Shift, shiftAtStart, shiftText } from "./shift.ts";

const [EVENING, NIGHT, MORNING, NEXT] = [
  "2026-03-10T22:00:00.000Z",
  "2026-03-11T02:00:00.000Z",
  "2026-03-11T07:00:00.000Z",
  "2026-03-12T07:00:00.000Z",
];
const LASTING: Shift = { id: "one", startedAt: EVENING, until: MORNING, usd: 40, ended: null, isReported: false };
const at = (now: string) => ({ now, newId: "two" });

test("a shift that still lasts goes on with its beginning and its money, whatever is typed again", () => {
  expect(shiftAtStart(LASTING, null, at(NIGHT))).toBe(LASTING);
  expect(shiftAtStart(LASTING, { until: MORNING, usd: 40 }, at(NIGHT))).toBe(LASTING);
  expect(shiftAtStart(LASTING, { usd: 60 }, at(NIGHT))).toMatchObject({ startedAt: EVENING, until: MORNING, usd: 60 });
  const poor = { ...LASTING, ended: { at: NIGHT, because: "money" }, isReported: true };
  expect(shiftAtStart(poor, { until: MORNING, usd: 40 }, at(NIGHT))).toBe(poor);
  expect(shiftAtStart(poor, { usd: 60 }, at(NIGHT))).toMatchObject({ startedAt: EVENING, ended: null, id: "two" });
});

test("after its end the same words begin a new one; none ends it for good", () => {
  expect(shiftAtStart(LASTING, { until: NEXT }, at(MORNING))).toMatchObject({ startedAt: MORNING, usd: null });
  expect(shiftAtStart(LASTING, { until: null }, at(NIGHT))).toBeNull();
  expect(shiftAtStart(null, null, at(NIGHT))).toBeNull();
  const spent = { ...LASTING, until: null, ended: { at: NIGHT, because: "money" } };
  expect(shiftAtStart(spent, { usd: 40 }, at(MORNING))).toMatchObject({ startedAt: MORNING, usd: 40, ended: null });
});

test("time or money ends it, and it says which", () => {
  expect(overBecause(LASTING, NIGHT, 39.99)).toBeNull();
  expect(overBecause(LASTING, NIGHT, 40)).toContain("budget of $40.00 is used up ($40.00");
  expect(overBecause(LASTING, MORNING, 0)).toBe(`the shift ended at ${MORNING}`);
  expect(overBecause({ until: null, usd: null }, NEXT, 1e6)).toBeNull();
  expect(shiftText(LASTING, 12)).toBe(`until ${MORNING}, $12.00 of $40.00 spent or reserved`);
});
