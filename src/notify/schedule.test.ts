import { describe, expect, test } from "vitest";
import { afterTry, DELAYS_MS } from "./schedule.ts";
import type { SendOutcome } from "./send.ts";

const answered = (status: number, retryAfterMs: number | null = null): SendOutcome => ({
  type: "answered",
  status,
  retryAfterMs,
});

test("S18: the delays are those of Standard Webhooks", () => {
  const waits = Array.from({ length: 9 }, (_, index) => afterTry(answered(500), index + 1, 0));
  expect(waits.map((next) => next.type === "again" && next.inMs / 1000)).toEqual([
    5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
  ]);
  expect(DELAYS_MS).toHaveLength(10);
});

test("after the tenth try it is given up", () => {
  expect(afterTry(answered(500), 10, 0)).toEqual({ type: "give-up", reason: "answered 500" });
});

test("chance adds up to a fifth", () => {
  expect(afterTry(answered(500), 2, 1)).toMatchObject({ inMs: 360_000 });
  expect(afterTry(answered(500), 2, 0.5)).toMatchObject({ inMs: 330_000 });
});

describe("answers", () => {
  test.each([200, 201, 202, 204, 299])("%i is a delivery", (status) => {
    expect(afterTry(answered(status), 1, 0)).toEqual({ type: "delivered" });
  });

  test.each([199, 301, 302, 307, 308, 400, 401, 404, 429, 500, 503])("%i is not: it is tried again", (status) => {
    expect(afterTry(answered(status), 1, 0)).toMatchObject({ type: "again", reason: `answered ${status}` });
  });

  test("410 disables", () => {
    expect(afterTry(answered(410), 1, 0)).toEqual({ type: "disable", reason: "answered 410" });
  });

  test("a receiver may ask for more time, up to a day, never for less", () => {
    expect(afterTry(answered(429, 60_000), 1, 0)).toMatchObject({ inMs: 60_000 });
    expect(afterTry(answered(429, 1e9), 1, 0)).toMatchObject({ inMs: 86_400_000 });
    expect(afterTry(answered(429, 1000), 2, 0)).toMatchObject({ inMs: 300_000 });
  });
});

test("what cannot be reached is tried again; what must not be reached is not", () => {
  expect(afterTry({ type: "unreachable", reason: "ECONNREFUSED" }, 1, 0)).toMatchObject({ type: "again" });
  expect(afterTry({ type: "refused", reason: "private" }, 1, 0)).toEqual({ type: "give-up", reason: "private" });
});
