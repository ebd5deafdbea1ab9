// An account that is near a limit of its vendor, with the real engine: new attempts of that runner start one at a time.

import { afterEach, expect, test } from "vitest";
import { liftHold, listHolds } from "../../../src/app/holds.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { holdText } from "../../../src/core/view/over-limit.ts";
import { flowOf, openScripted, type Scripted } from "../../harness/scripted-engine.ts";
import { until } from "../../harness/until.ts";

const MANY = ["a", "b", "c", "d"];
const isDone = (run: Run): boolean => run.status === "completed";
const limits = (share: number) =>
  ({ type: "limits", uses: [{ window: "five hour", share, resetsAt: "2026-01-01T14:00:00.000Z" }] }) as const;

let scripted: Scripted;
afterEach(() => scripted.close());

/** `first` works until it may end, and tells what it has been told to tell. */
async function nearWith(share: number) {
  const working = new Set<string>();
  const most = { claude: 0, codex: 0 };
  const ends = Promise.withResolvers<void>();
  scripted = await openScripted({
    metered: (stage) => ({
      runner: stage === "other" ? "codex" : "claude",
      model: null,
      reserveUsd: 0,
      reserveTokens: 0,
    }),
    agent: async ({ run: { id }, stage, observed }) => {
      const runner = stage.id === "other" ? "codex" : "claude";
      working.add(`${runner} ${id}`);
      most[runner] = Math.max(most[runner], [...working].filter((each) => each.startsWith(runner)).length);
      if (id === "first") {
        observed?.(limits(share));
        await ends.promise;
      }
      await new Promise((resolve) => setImmediate(resolve));
      working.delete(`${runner} ${id}`);
      return { verdict: "pass" };
    },
  });
  await scripted.start("first");
  await until("the first one works", () => working.has("claude first") || undefined);
  return { most, working, end: () => ends.resolve() };
}

test("near its limit a runner works on one attempt at a time, others at their own pace, and every place says so", async () => {
  const { most, working, end } = await nearWith(0.92);
  const [hold] = await until("the hold is stored", async () => {
    const holds = await listHolds(scripted.store, scripted.now());
    return holds.length === 1 ? holds : undefined;
  });
  expect(hold).toMatchObject({ runner: "claude", cause: "limit_near", until: "2026-01-01T14:00:00.000Z" });
  if (hold !== undefined) expect(holdText(hold)).toBe("claude: 92 % of its five hour window, new starts one at a time");
  for (const id of MANY) await scripted.start(id, flowOf([{ id: "work", agent: "worker" }]));
  await scripted.start("free", flowOf([{ id: "other", agent: "other" }]));
  await scripted.until("free", "is completed", isDone);
  expect([...working]).toEqual(["claude first"]);
  end();
  for (const id of MANY) await scripted.until(id, "is completed", isDone);
  expect(most.claude).toBe(1);
  // Working on says nothing about the limit: it stays near until its window ends.
  expect(await listHolds(scripted.store, scripted.now())).toHaveLength(1);
  await scripted.restart();
  await scripted.advance(3 * 3_600_000);
  await scripted.start("later");
  await scripted.until("later", "is completed", isDone);
  expect(await listHolds(scripted.store, scripted.now())).toEqual([]);
});

test("below the threshold, and after a person's word, starts are free", async () => {
  const { working, end } = await nearWith(0.89);
  expect(await listHolds(scripted.store, scripted.now())).toEqual([]);
  await scripted.start("a", flowOf([{ id: "work", agent: "worker" }]));
  await scripted.until("a", "is completed", isDone);
  expect([...working]).toEqual(["claude first"]);
  end();
  await scripted.until("first", "is completed", isDone);
  expect(await liftHold(scripted, { runner: "claude" }, "human:ann")).toMatchObject({ ok: false });
});
