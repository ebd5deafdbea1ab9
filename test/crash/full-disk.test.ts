// A store that cannot write for a while: what was about to start gives its slot back, and what an agent has finished is not forgotten.
// The store is real; only its commits are refused from outside, as a full disk does.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Report } from "../../src/core/flow/outcome.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { builtins } from "../../src/attempt/builtins.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { type Store, StoreError } from "../../src/store/store.ts";
import { createDirectoryWorkspaces } from "../../src/workspace/directory.ts";
import { createRepositoryGuard } from "../../src/workspace/repository-guard.ts";
import { nobody } from "../harness/nobody.ts";
import { dropStore, openTestStore } from "../harness/test-store.ts";
import { resolveShipped } from "../harness/workbench.ts";

let home: string;
let store: Store;
let engine: Engine;
let isFull = false;
let errors: unknown[] = [];
/** Called while an attempt works. */
let meanwhile: () => void = () => {};

const SAYS: Readonly<Record<string, string>> = { spec: "APPROVED", design: "APPROVED", build: "COMPLETE", qa: "SHIP" };

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "passrail-full-"));
  isFull = false;
  errors = [];
  meanwhile = () => {};
  store = (await openTestStore(home)) ?? openSqliteStore({ file: join(home, "passrail.db") });
  const commit: Store["commit"] = async (change) => {
    if (isFull) throw new StoreError("disk_full", "The disk is full.", "Make room.");
    return store.commit(change);
  };
  engine = createEngine({
    store: { ...store, commit },
    clock: systemClock,
    slots: 1,
    agentLimits: {},
    runStage: async ({ stage }): Promise<Report> => {
      meanwhile();
      return { verdict: SAYS[stage.id] ?? "" };
    },
    runners: nobody,
    builtins,
    processes: { killLeftovers: async () => 0, findMarked: () => [] },
    workspaces: () => createDirectoryWorkspaces(createRepositoryGuard(home)),
    notifier: { notify: async () => true },
    home,
    storeId: "full",
    newId: () => crypto.randomUUID(),
    url: () => "",
    readYaml: () => ({ ok: true, value: [] }),
    onError: (_runId, error) => errors.push(error),
  });
  await engine.perform();
  await engine.startRun({
    runId: "r1",
    resolved: resolveShipped("feature"),
    subject: { id: "F-1", title: "Do it", body: "" },
    facts: { config: { project: home, workspace: "in-place" } },
    actor: "human:tester",
  });
});

afterEach(async () => {
  await engine.close();
  store.close();
  await dropStore(home);
  rmSync(home, { recursive: true, force: true });
});

const approve = () =>
  engine.deliver("r1", { type: "item.answered", number: 1, kind: "gate", answer: "approve", text: "" }, "human:tester");

test("P1: an answer that cannot be stored is refused, and given again it starts the next stage", async () => {
  isFull = true;
  await expect(approve()).rejects.toThrow("The disk is full.");
  isFull = false;
  await approve();
  await engine.idle();
  // With one slot only: had the refused start kept it, nothing would ever start again.
  expect((await store.loadRun("r1"))?.run).toMatchObject({ status: "waiting", word: "review" });
});

test("R-X-05: a verdict that comes while the disk is full is stored when there is room again", async () => {
  let times = 0;
  meanwhile = () => {
    times += 1;
    isFull = times === 1;
  };
  await approve();
  await expect.poll(() => errors.length, { timeout: 10_000 }).toBe(1);
  isFull = false;
  await engine.idle();
  expect((await store.loadRun("r1"))?.run).toMatchObject({ status: "waiting", word: "review" });
  expect((await store.attempts("r1")).map(({ stage, status }) => `${stage}:${status}`)).toEqual([
    "spec:done",
    "design:done",
    "build:done",
    "qa:done",
  ]);
});
