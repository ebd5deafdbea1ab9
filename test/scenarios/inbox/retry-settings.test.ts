// A stage that is retried works with the settings as they are now; what a person chose for the run stays, and a program that cannot start is
// refused before anything changes.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { runnerChoiceOf } from "../../../src/core/flow/runner-choice.ts";
import { runFacts } from "../../../src/core/run/facts.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { findWork } from "../../../src/core/run/sequence.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { openWorkbench, resolveShipped, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
afterEach(() => bench.close());

const ann = { actor: "human:ann" } as const;
const FAILS = ["/bin/sh", "-c", "exit 3"];

function set(settings: object): void {
  writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify(settings));
  approveFiles(bench.home, bench.project);
}

const choiceOf = (run: Run, stage: string) => {
  const resolved = resolveShipped("feature");
  const work = findWork(resolved.flow, run, "main", stage);
  return work === undefined ? undefined : runnerChoiceOf(resolved, run.facts, work);
};

/** A run whose first stage has failed; a person chose who plays `build`. */
async function failed(): Promise<Run> {
  const { app, engine } = bench.passrail;
  const request = { flow: "feature", subject: { id: "F-1", title: "x", body: "" }, input: [] };
  const plan = await app.planRun({ ...request, runners: ["build=/bin/true"] });
  if (!plan.ok) throw new Error(plan.error.message);
  const started = await app.startRun(plan.value, "human:ann");
  if (!started.ok) throw new Error(started.error.message);
  await bench.answer(started.value.run, "gate", "approve");
  await engine.idle();
  return bench.load(started.value.run.id);
}

test("limits, permissions and players are those of now, a person's own choice stays, and what is so already changes nothing", async () => {
  const agents = { "*": { command: FAILS, permission: "edit" } };
  bench = await openWorkbench({
    settings: () => ({ agents, limits: { spec: { total: "10m" } }, merge: { mode: "pr" } }),
  });
  const run = await failed();
  const before = runFacts(run).config;
  expect(choiceOf(run, "spec")).toMatchObject({ options: { permission: "edit" } });
  const retry = () => bench.passrail.app.controlRun(run.id, { type: "retry", note: "" }, ann);
  expect(await retry()).toMatchObject({ ok: true });
  await bench.passrail.engine.idle();
  const renewals = async () => (await bench.events(run.id)).filter(({ type }) => type === "settings.renewed");
  expect(await renewals()).toEqual([]);

  const now = { command: ["/bin/sh", "-c", "exit 4"], permission: "read" };
  set({
    agents: { "*": now, build: { permission: "read" } },
    limits: { spec: { total: "3m" } },
    merge: { mode: "merge" },
  });
  expect(await retry()).toMatchObject({ ok: true });
  await bench.passrail.engine.idle();
  const after = await bench.load(run.id);
  expect(await renewals()).toMatchObject([{ actor: "human:ann" }]);
  expect(choiceOf(after, "spec")).toMatchObject({ command: now.command, options: { permission: "read" } });
  expect(choiceOf(after, "build")).toMatchObject({ command: ["/bin/true"], options: { permission: "read" } });
  const config = runFacts(after).config;
  expect(config.limits).not.toEqual(before.limits);
  // Where the work goes, where it is made and by which flow is the run's own.
  expect([config.mergeMode, config.workspace, after.flowHash]).toEqual([
    before.mergeMode,
    before.workspace,
    run.flowHash,
  ]);
  expect(await bench.passrail.store.verify()).toEqual([]);
});

test("a retry whose program is missing or logged out is refused with the fix, and the run stays as it is", async () => {
  bench = await openWorkbench({ settings: () => ({ agents: { "*": { command: FAILS } } }) });
  const run = await failed();
  const retry = (agents: readonly string[]) =>
    bench.passrail.app.controlRun(run.id, { type: "retry", note: "", with: { agents } }, ann);
  expect(await retry(["spec=cluade"])).toMatchObject({
    ok: false,
    error: { code: "action_refused", message: expect.stringContaining('did you mean "claude"?') },
  });
  set({ agents: { "*": { command: [join(bench.dir, "gone")] } } });
  expect(await bench.passrail.app.controlRun(run.id, { type: "retry", note: "" }, ann)).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("The stage spec cannot start") },
  });
  expect(await bench.load(run.id)).toEqual(run);
});

test("what every door plans with refuses a mistyped runner and a mistyped stage before anything is stored", async () => {
  bench = await openWorkbench({ settings: () => ({ agents: { "*": { command: FAILS } } }) });
  const { app, store } = bench.passrail;
  const request = { flow: "feature", subject: { id: "F-1", title: "x", body: "" }, input: [] };
  expect(await app.planRun({ ...request, runners: ["spec=cluade"] })).toMatchObject({
    ok: false,
    error: { code: "program_missing", hint: expect.stringContaining('did you mean "claude"?') },
  });
  expect(await app.planRun({ ...request, runners: ["spek=claude"] })).toMatchObject({
    ok: false,
    error: { code: "unknown_agent", hint: expect.stringContaining('"spec"') },
  });
  expect(await store.listRuns({ limit: 1 })).toEqual([]);
});
