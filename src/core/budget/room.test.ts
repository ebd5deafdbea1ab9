import { expect, test } from "vitest";
import { type KeyedLimit, NO_BUDGETS } from "./budget.ts";
import { overrunOf, reachedIn, reachedText, roomOf } from "./room.ts";
import { UNKNOWN_USAGE, type Usage } from "./usage.ts";

const used = (usd: number | null, tokens: number | null): Usage => ({ ...UNKNOWN_USAGE, usd, inputTokens: tokens });
const limits: readonly KeyedLimit[] = [
  { scope: "run", key: "r1", usd: 6, tokens: null },
  { scope: "day", key: "2026-01-01", usd: 10, tokens: 1000 },
];
const sizes = { ...NO_BUDGETS, run: { usd: 5, tokens: null }, day: { usd: 10, tokens: 1000 } };
const room = roomOf({
  limits,
  sizes,
  others: ({ scope }) => (scope === "run" ? { usd: 1, tokens: 0 } : { usd: 9.9, tokens: 400 }),
  reserved: { usd: 0.5, tokens: 100 },
});

test("an attempt may use what the others leave, its own reservation included", () => {
  expect(room).toEqual([
    { scope: "run", key: "r1", unit: "usd", limit: 6, size: 5, left: 5, needed: 0.5 },
    { scope: "day", key: "2026-01-01", unit: "usd", limit: 10, size: 10, left: 0.1, needed: 0.5 },
    { scope: "day", key: "2026-01-01", unit: "tokens", limit: 1000, size: 1000, left: 600, needed: 100 },
  ]);
});

test.each<[number | null, number | null, string | undefined, number | undefined]>([
  [0.05, 599, undefined, undefined],
  [0.1, 1, "usd", 10],
  [0.15, 700, "usd", 10.05],
  [null, 600, "tokens", 1000],
  // Unknown dollars reach no limit in dollars; the tokens still hold.
  [null, 700, "tokens", 1100],
  [null, null, undefined, undefined],
])("%j dollars and %j tokens reach %s at %s", (usd, tokens, unit, at) => {
  const reached = reachedIn(room, used(usd, tokens));
  expect([reached?.unit, reached?.used]).toEqual([unit, at]);
});

test("without limits, or without any report, nothing is reached; a limit that is used up leaves nothing", () => {
  expect(reachedIn([], used(1e6, 1e9))).toBeUndefined();
  expect(reachedIn(room, undefined)).toBeUndefined();
  const others = () => ({ usd: 99, tokens: 9999 });
  const none = roomOf({ limits, sizes, others, reserved: { usd: 0, tokens: 0 } });
  expect(none.map(({ left }) => left)).toEqual([0, 0, 0]);
  expect(reachedIn(none, used(0, 0))?.scope).toBe("run");
});

test("what is used beyond a reservation counts for others, exactly, and what is unknown does not", () => {
  expect(overrunOf(used(0.3, 150), { usd: 0.1, tokens: 100 })).toEqual({ usd: 0.2, tokens: 50 });
  expect(overrunOf(used(null, 50), { usd: 0.1, tokens: 100 })).toEqual({ usd: 0, tokens: 0 });
  expect(overrunOf(undefined, { usd: 0, tokens: 0 })).toEqual({ usd: 0, tokens: 0 });
});

test("people read which budget it was", () => {
  const limit = { scope: "day", key: "2026-01-01", unit: "tokens", limit: 1000, used: 1100 } as const;
  expect(reachedText(limit)).toBe("the day's budget (2026-01-01 UTC) of 1,000 tokens is used up (1,100 tokens)");
});
