import { expect, test } from "vitest";
import { runCost, shortCount } from "./run-cost.ts";

const attempt = (endedAt: string | null, usage: object | null) => ({ endedAt, usage });
const run = (spent: object | null, attempts: readonly object[]) => ({ spent, stages: [{ attempts }] }) as never;
const usage = (usd: number | null, inputTokens: number) => ({ usd, inputTokens, outputTokens: 10, cachedTokens: 0 });

test("the cost grows with what a working attempt has used, and an ended attempt is not counted twice", () => {
  const spent = { attempts: 1, usd: 2, unknownUsd: 0, tokens: 100, unknownTokens: 0 };
  const ended = attempt("2026-01-01T00:00:00Z", usage(2, 90));
  expect(runCost(run(spent, [ended, attempt(null, usage(0.5, 40))]))).toMatchObject({ usd: 2.5, tokens: 150 });
});

test("a price that nobody told is unknown, not zero", () => {
  expect(runCost(run(null, [attempt(null, usage(null, 40))]))).toMatchObject({ isUnknown: true, tokens: 50 });
  expect(runCost(run(null, []))).toMatchObject({ isUnknown: true, tokens: 0 });
  const silent = { attempts: 2, usd: 0, unknownUsd: 2, tokens: 0, unknownTokens: 2 };
  expect(runCost(run(silent, [attempt(null, usage(0.1, 1))]))).toMatchObject({ isUnknown: false, unknown: 2 });
  expect([shortCount(98), shortCount(412_345), shortCount(31_200_000)]).toEqual(["98", "412 k", "31.2 M"]);
});
