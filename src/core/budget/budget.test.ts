import { expect, test } from "vitest";
import {
  addSpent,
  amountText,
  type Budgets,
  estimate,
  NO_BUDGETS,
  readRaise,
  soundUsage,
  withRaise,
} from "./budget.ts";
import { limitsOf, ticketKey } from "../run/run-budget.ts";
import type { Run } from "../run/run.ts";
import { UNKNOWN_USAGE, type Usage } from "./usage.ts";
import { optional } from "../optional.ts";

const run = (facts: object, raised?: Run["raised"]): Run =>
  ({
    id: "r1",
    subject: { id: "S-1", title: "", body: "" },
    facts,
    ...optional({ raised }),
  }) as Run;
const known = (usd: number | null, tokens: number | null = null): Usage => ({
  ...UNKNOWN_USAGE,
  usd,
  inputTokens: tokens,
});

test("the same ticket id in two projects is two tickets, and odd text is no trouble", () => {
  expect(ticketKey(run({ config: { project: "/a" } }))).not.toBe(ticketKey(run({ config: { project: "/b" } })));
  for (const facts of [{}, { config: null }, { config: [] }, { config: { project: 7 } }])
    expect(ticketKey(run(facts))).toBe(":S-1");
});

test("limits are those of the settings plus the raises of the run; a raise of yesterday is over", () => {
  const budgets: Budgets = { ...NO_BUDGETS, run: { usd: 5, tokens: null }, day: { usd: 10, tokens: 100 } };
  const raised = withRaise(withRaise([], { scope: "day", key: "2026-01-01", usd: 3, tokens: 0 }), {
    scope: "run",
    key: "r1",
    usd: 1,
    tokens: 0,
  });
  const on = (day: string) => limitsOf(budgets, run({}, raised), `${day}T23:59:59.999Z`);
  expect(on("2026-01-01")).toEqual([
    { scope: "run", key: "r1", usd: 6, tokens: null },
    { scope: "day", key: "2026-01-01", usd: 13, tokens: 100 },
  ]);
  expect(on("2026-01-02")[1]).toEqual({ scope: "day", key: "2026-01-02", usd: 10, tokens: 100 });
  const later = withRaise(raised, { scope: "day", key: "2026-01-02", usd: 1, tokens: 0 });
  expect(later.map(({ scope, key, usd }) => [scope, key, usd])).toEqual([
    ["run", "r1", 1],
    ["day", "2026-01-02", 1],
  ]);
  expect(withRaise(later, { scope: "day", key: "2026-01-02", usd: 2, tokens: 5 }).at(-1)).toMatchObject({
    usd: 3,
    tokens: 5,
  });
});

test("what is put aside is what nine of ten stayed below, money and tokens each by themselves", () => {
  const metered = { runner: "r", model: null, reserveUsd: 9, reserveTokens: 900 };
  expect(estimate([], metered)).toEqual({ usd: 9, tokens: 900 });
  expect(estimate([known(1), known(1)], metered)).toEqual({ usd: 9, tokens: 900 });
  const twenty = Array.from({ length: 20 }, (_, index) => known(index + 1, 10));
  expect(estimate(twenty, metered)).toEqual({ usd: 18, tokens: 10 });
  expect(estimate([known(null, 5), known(null, 7), known(null, 6), known(2)], metered)).toEqual({ usd: 9, tokens: 7 });
});

test("what a vendor tells is not believed blindly, and what is unknown stays unknown", () => {
  const odd = { usd: -1, inputTokens: Number.NaN, outputTokens: 1e30, cachedTokens: Number.POSITIVE_INFINITY };
  expect(soundUsage(odd)).toEqual(UNKNOWN_USAGE);
  expect(soundUsage({ usd: "3" as unknown as number, inputTokens: 1.6, outputTokens: 0, cachedTokens: null })).toEqual({
    usd: null,
    inputTokens: 2,
    outputTokens: 0,
    cachedTokens: null,
  });
  expect(soundUsage(known(0)).usd).toBe(0);
});

test("totals are exact sums, with the silent ones counted beside them", () => {
  const spent = [known(0.1, 1), known(0.2, 2), known(null, null)].reduce(addSpent, undefined as Run["spent"]);
  expect(spent).toEqual({ attempts: 3, usd: 0.3, unknownUsd: 1, tokens: 3, unknownTokens: 1 });
});

test.each<[string, "usd" | "tokens", number | undefined]>([
  ["", "usd", 25],
  ["5", "usd", 5],
  ["5 usd", "usd", 5],
  ["$5", "usd", 5],
  [" $0.5 USD ", "usd", 0.5],
  ["5", "tokens", 5],
  ["200000 tokens", "tokens", 200_000],
  ["1 token", "tokens", 1],
  ["5 tokens", "usd", undefined],
  ["5 usd", "tokens", undefined],
  ["$5 tokens", "tokens", undefined],
  ["0", "usd", undefined],
  ["-5", "usd", undefined],
  ["1e9", "usd", undefined],
  ["999999999999", "usd", undefined],
  ["five", "usd", undefined],
  ["5 usd 6", "usd", undefined],
])("a raise of %j for a limit in %s is %s", (text, unit, amount) => {
  expect(readRaise(text, unit, 25)).toBe(amount);
});

test("a limit of nothing is raised by an amount only", () => {
  expect(readRaise("", "usd", 0)).toBeUndefined();
  expect(readRaise("1", "usd", 0)).toBe(1);
});

test("amounts are written for people", () => {
  expect([
    amountText("usd", 1.256),
    amountText("usd", 0.004),
    amountText("usd", 0),
    amountText("tokens", 200_000),
  ]).toEqual(["$1.26", "$0.004", "$0.00", "200,000 tokens"]);
});
