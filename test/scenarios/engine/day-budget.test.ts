// A spent day budget is one decision for all runs that wait for it, and no decision at all on the next day.

import { afterEach, expect, test } from "vitest";
import { NO_BUDGETS } from "../../../src/core/budget/budget.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { dayBudgetNote, groupDayBudgets } from "../../../src/core/view/day-budget.ts";
import { type DayBudgets, openDayBudgets } from "../../../src/engine/day-budgets.ts";
import { noticeOfItem } from "../../../src/engine/item-notice.ts";
import { flowOf, openScripted, type Scripted } from "../../harness/scripted-engine.ts";

let scripted: Scripted;
let dayBudgets: DayBudgets;
let limit: number;
afterEach(async () => {
  await dayBudgets.close();
  await scripted.close();
});

async function open(): Promise<void> {
  limit = 2;
  const budgets = () => ({ ...NO_BUDGETS, day: { usd: limit, tokens: null } });
  scripted = await openScripted({
    agent: () => ({
      structured: true,
      verdict: "pass",
      usage: {
        runner: "claude",
        model: "opus",
        usage: { usd: 1, inputTokens: 1, outputTokens: 1, cachedTokens: null },
      },
    }),
    metered: () => ({ runner: "claude", model: "opus", reserveUsd: 1, reserveTokens: 1 }),
    budgets,
  });
  const clock = { now: () => scripted.now() };
  const onError = (_run: string | null, error: unknown): void => void scripted.errors.push(error);
  dayBudgets = openDayBudgets({ store: scripted.store, engine: scripted.engine, clock, budgets, onError });
}

const isDone = ({ status }: Run): boolean => status === "completed";
const isWaiting = ({ status }: Run): boolean => status === "waiting";

test("runs that wait for the day's budget are one item; a raise of it releases all of them, and later runs of the day too", async () => {
  await open();
  for (const id of ["a", "b"]) {
    await scripted.start(id);
    await scripted.until(id, "is done", isDone);
  }
  for (const id of ["c", "d", "e"]) {
    await scripted.start(id);
    await scripted.until(id, "waits", isWaiting);
  }
  const [item, ...more] = groupDayBudgets(await scripted.store.inbox());
  expect(more).toEqual([]);
  expect(item).toMatchObject({ runId: "c", others: 2, item: { kind: "budget", scope: "day", used: 2, limit: 2 } });
  expect(item === undefined ? "" : dayBudgetNote(item.item, item.others)).toContain("2 more runs wait for it.");
  // One notice, too.
  const flow = async () => flowOf([{ id: "build", agent: "builder" }]);
  const notice = async (id: string) =>
    noticeOfItem(scripted.store, flow, { run: await scripted.load(id), item: 1, text: "does not start" });
  expect([await notice("c"), await notice("d"), await notice("e")]).toEqual([
    expect.stringContaining("S-c: does not start"),
    null,
    null,
  ]);

  // Nothing happened yet that would let them go on.
  await dayBudgets.look();
  expect(isWaiting(await scripted.load("d"))).toBe(true);
  expect(await scripted.answer("c", "budget", "raise", "5")).toBeUndefined();
  await dayBudgets.look();
  for (const id of ["c", "d", "e"]) await scripted.until(id, "is done", isDone);
  const raises = (await scripted.store.events({ after: 0, runId: "e", limit: 100 })).flatMap(({ event }) =>
    event.type === "budget.raised" ? [[event.usd, event.actor]] : [],
  );
  expect(raises).toEqual([[5, "engine"]]);
  await scripted.start("f");
  await dayBudgets.look();
  await scripted.until("f", "is done", isDone);
});

test("what waits for the day's budget goes on when the next day begins, or when the settings allow more", async () => {
  await open();
  for (const id of ["a", "b", "c"]) await scripted.start(id);
  await scripted.until("c", "waits", isWaiting);
  await scripted.advance(11 * 3_600_000);
  await dayBudgets.look();
  expect(isWaiting(await scripted.load("c"))).toBe(true);
  await scripted.advance(2 * 3_600_000);
  await dayBudgets.look();
  await scripted.until("c", "is done", isDone);
  expect((await scripted.types("c")).filter((type) => type === "item.withdrawn")).toHaveLength(1);

  for (const id of ["d", "e"]) await scripted.start(id);
  await scripted.until("e", "waits", isWaiting);
  limit = 10;
  await dayBudgets.look();
  await scripted.until("e", "is done", isDone);
});
