// The job of an attempt is data. Real jobs of a real engine go through JSON, as they would to a process of their own, and end in the same
// report as without.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { builtins } from "../../../src/attempt/builtins.ts";
import type { AttemptJob } from "../../../src/attempt/job.ts";
import { runStage } from "../../../src/attempt/run-stage.ts";
import type { Report } from "../../../src/core/flow/outcome.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { ok } from "../../../src/core/result.ts";
import { systemClock } from "../../../src/engine/clock.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { openRunners } from "../../../src/runner/open.ts";
import { killLeftovers } from "../../../src/runner/process/kill-tree.ts";
import { findMarked } from "../../../src/runner/process/process-table.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { createWorkspaces } from "../../../src/workspace/providers.ts";
import { newRepository } from "../../harness/new-repository.ts";
import { resolveShipped } from "../../harness/workbench.ts";

const PLAYER = join(import.meta.dirname, "../../fixtures/player/play.mjs");
const SCRIPT: JsonObject = {
  spec: [{ via: "json-tail", verdict: "APPROVED", summary: "specified" }],
  design: [{ via: "none" }],
  build: [{ via: "json-tail", verdict: "COMPLETE", write: { "a.txt": "1" }, commit: true }],
  qa: [{ via: "json-tail", verdict: "SHIP", issues: ["minor thing"] }],
};

type Done = { readonly job: AttemptJob; readonly report: Report };

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-job-")));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Runs the feature flow with a person who approves and skips; `send` is the way of each job to the attempt. */
async function play(name: string, send: (job: AttemptJob) => AttemptJob): Promise<readonly Done[]> {
  const home = join(dir, name);
  const project = newRepository(dir);
  const script = join(dir, `${name}.json`);
  writeFileSync(script, JSON.stringify(SCRIPT));
  const environment = { PATH: process.env["PATH"] };
  const store = openSqliteStore({ file: join(dir, `${name}.db`) });
  const runners = openRunners(environment, { programs: {}, passEnvironment: [] });
  const done: Done[] = [];
  const errors: unknown[] = [];
  const engine = createEngine({
    store,
    clock: systemClock,
    slots: 2,
    agentLimits: {},
    async runStage(job, ports) {
      const report = await runStage(send(job), ports);
      done.push({ job, report });
      return report;
    },
    runners,
    builtins,
    processes: { killLeftovers, findMarked },
    workspaces: createWorkspaces({ home, settings: { sandbox: "worktree" }, environment }),
    notifier: null,
    home,
    storeId: name,
    newId: () => crypto.randomUUID().replaceAll("-", ""),
    url: () => "",
    readYaml: () => ok([]),
    onError: (_runId, error) => errors.push(error),
  });
  await engine.perform();
  await engine.startRun({
    runId: "r1",
    resolved: resolveShipped("feature"),
    subject: { id: "F-1", title: "Do it", body: "All of it." },
    facts: { config: { project, workspace: "worktree" }, runners: { "*": [process.execPath, PLAYER, script] } },
    actor: "human:tester",
  });
  const approve = { type: "item.answered", number: 1, kind: "gate", answer: "approve", text: "" } as const;
  await engine.deliver("r1", approve, "human:tester");
  await engine.idle();
  await engine.deliver("r1", { type: "skip.requested", reason: "not today" }, "human:tester");
  await engine.idle();
  await engine.close();
  await runners.desk.close();
  store.close();
  rmSync(project, { recursive: true });
  expect(errors).toEqual([]);
  return done;
}

test("a job that went through JSON ends in the same report as one that did not", async () => {
  const direct = await play("a", (job) => job);
  const sent = await play("b", (job) => JSON.parse(JSON.stringify(job)) as AttemptJob);
  // Not only passes: one verdict is missing and was asked for a second time.
  const stages = direct.map(({ job, report }) => `${job.stage.id}:${report.verdict ?? report.cause}`);
  expect(stages).toEqual(["spec:APPROVED", "design:verdict_missing", "build:COMPLETE", "qa:SHIP"]);
  expect(sent.map(({ job }) => job.stage.id)).toEqual(direct.map(({ job }) => job.stage.id));
  const plain = (reports: readonly Done[]): unknown =>
    JSON.parse(JSON.stringify(reports.map(({ report }) => report)).replaceAll(/[0-9a-f]{32}/gu, "nonce"));
  expect(plain(sent)).toEqual(plain(direct));
});

test("a job holds nothing that JSON cannot say: no function, no class, no value that is lost", async () => {
  const jobs = (await play("c", (job) => job)).map(({ job }) => job);
  expect(jobs).toHaveLength(4);
  for (const job of jobs) {
    expect(JSON.parse(JSON.stringify(job))).toEqual(job);
    expect(JSON.stringify(job)).toContain(job.token);
  }
});
