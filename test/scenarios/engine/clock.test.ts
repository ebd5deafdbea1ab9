// The wall clock may jump: order is the sequence number, and durations are measured on the monotonic clock.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtins } from "../../../src/attempt/builtins.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import type { Workspaces } from "../../../src/workspace/workspace.ts";
import { nobody } from "../../harness/nobody.ts";
import { resolveShipped } from "../../harness/workbench.ts";

const never = (): never => {
  throw new Error("no workspace is needed here");
};
const workspaces: Workspaces = { mode: "worktree", open: never, head: never, diff: never, unlock: never, close: never };

test("P10: a clock that jumps by years in both directions changes neither the order nor the outcome of a run", async () => {
  const home = mkdtempSync(join(tmpdir(), "passrail-clock-"));
  const store = openSqliteStore({ file: join(home, "passrail.db") });
  const years = [2026, 2036, 2016, 2026, 1990, 2050];
  let ticks = 0;
  const engine = createEngine({
    store,
    clock: { now: () => `${years[ticks++ % years.length]}-02-29T23:59:59.000Z`, monotonicMs: () => performance.now() },
    slots: 1,
    agentLimits: {},
    runStage: async ({ stage }) => ({ structured: true, verdict: stage.id === "qa" ? "SHIP" : "pass" }),
    runners: nobody,
    builtins,
    processes: { killLeftovers: async () => 0, findMarked: () => [] },
    workspaces: () => workspaces,
    notifier: null,
    home,
    storeId: "clock",
    newId: () => `id${ticks}`,
    url: () => "",
    readYaml: never,
    onError: (_runId, error) => {
      throw error;
    },
  });
  await engine.perform();
  const resolved = resolveShipped("feature");
  await engine.startRun({
    runId: "r1",
    resolved,
    subject: { id: "F-1", title: "t", body: "" },
    facts: {},
    actor: "human:t",
  });
  for (const number of [1, 2]) {
    await engine.deliver(
      "r1",
      { type: "item.answered", number, kind: "gate", answer: "approve", text: "" },
      "human:t",
      `a${number}`,
    );
    await engine.idle();
  }
  const events = await store.events({ after: 0, runId: "r1", limit: 1000 });
  expect((await store.loadRun("r1"))?.run).toMatchObject({ status: "completed", word: "shipped" });
  expect(events.map(({ version }) => version)).toEqual(events.map((_, index) => index + 1));
  expect(events.some(({ event }, index) => event.at < (events[index - 1]?.event.at ?? ""))).toBe(true);
  expect(await store.verify()).toEqual([]);
  await engine.close();
  store.close();
  rmSync(home, { recursive: true });
});
