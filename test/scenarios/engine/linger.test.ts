// A spawned agent whose verdict comes through the API while its program still lives: it may end by itself, then it is ended; the next
// attempt starts when it is gone, also after a crash.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Report } from "../../../src/core/flow/outcome.ts";
import type { Delivered } from "../../../src/engine/runs.ts";
import { LINGER_DRIVER } from "../../harness/program.ts";
import { flowOf, openScripted, type Scripted, type ScriptedJob } from "../../harness/scripted-engine.ts";
import { endLease, storeEnvironment } from "../../harness/test-store.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

let scripted: Scripted | undefined;
let bench: Workbench | undefined;
afterEach(async () => {
  await scripted?.close();
  await bench?.close();
  scripted = undefined;
  bench = undefined;
});

const TWO = flowOf([
  { id: "plan", agent: "planner" },
  { id: "build", agent: "builder" },
]);
const USAGE = { runner: "claude", model: null, usage: { usd: 1, inputTokens: 1, outputTokens: 1, cachedTokens: 0 } };

/** Attempts that end when the test says so, or when they are told to. */
async function openHeld(lingerMs: number) {
  const jobs: ScriptedJob[] = [];
  const ends: ((report: Report) => void)[] = [];
  let alive = 0;
  let most = 0;
  scripted = await openScripted({
    lingerMs,
    agent: async (job) => {
      jobs.push(job);
      most = Math.max(most, ++alive);
      const report = await new Promise<Report>((resolve) => {
        ends.push(resolve);
        job.signal.addEventListener("abort", () => resolve({ cause: "canceled", usage: USAGE }));
      });
      alive -= 1;
      return report;
    },
  });
  await scripted.engine.perform();
  await scripted.start("r", TWO);
  await until("the first attempt works", () => jobs[0]);
  return { scripted, jobs, ends, alive: () => alive, most: () => most };
}

const finish = (engine: Scripted["engine"], stage: string, id = "from-the-api"): Promise<Delivered> => {
  const report: Report = { verdict: "pass", structured: true, payload: { by: "api" } };
  return engine.deliver("r", { type: "attempt.finished", stage, attempt: 1, report }, "agent:planner", id);
};

test("R-003-39: the next attempt starts when the program has ended by itself; its usage counts, its own report does not", async () => {
  const { scripted, jobs, ends, most } = await openHeld(60_000);
  expect((await finish(scripted.engine, "plan")).ignored).toBeUndefined();
  expect(await scripted.load("r")).toMatchObject({ tracks: { main: { at: "ready", stage: "build" } } });
  await scripted.engine.deliver("r", { type: "pause.requested", reason: "" }, "human:t");
  await scripted.engine.deliver("r", { type: "resume.requested" }, "human:t");
  expect(jobs.map(({ stage, signal }) => [stage.id, signal.aborted])).toEqual([["plan", false]]);
  ends[0]?.({ verdict: "reject", structured: true, usage: USAGE });
  await until("the next attempt works", () => jobs[1]);
  ends[1]?.({ verdict: "pass", structured: true });
  await scripted.engine.idle();
  expect((await scripted.load("r")).status).toBe("completed");
  expect(await scripted.load("r")).toMatchObject({ spent: { attempts: 1, usd: 1 } });
  expect(await scripted.types("r")).not.toContain("signal.ignored");
  expect(most()).toBe(1);
});

test("a program that does not end by itself is ended after a while, and then the next one starts", async () => {
  const { scripted, jobs, ends, most } = await openHeld(50);
  await finish(scripted.engine, "plan");
  await until("the next attempt works", () => jobs[1]);
  expect(jobs[0]?.signal.aborted).toBe(true);
  expect(most()).toBe(1);
  ends[1]?.({ verdict: "pass", structured: true });
  await scripted.engine.idle();
  expect(await scripted.load("r")).toMatchObject({ status: "completed", spent: { attempts: 1, usd: 1 } });
  expect(await scripted.types("r")).not.toContain("signal.ignored");
});

test("a run that is canceled does not wait for a program that lingers", async () => {
  const { scripted, jobs } = await openHeld(60_000);
  await finish(scripted.engine, "plan");
  await scripted.engine.deliver("r", { type: "cancel.requested", reason: "enough" }, "human:t");
  expect(jobs[0]?.signal.aborted).toBe(true);
  await scripted.engine.idle();
});

test("a verdict that comes in the moment in which the program reports: one of the two counts, and nothing starts twice", async () => {
  const { scripted, jobs, ends, most } = await openHeld(60_000);
  ends[0]?.({ verdict: "pass", structured: true, usage: USAGE });
  await Promise.resolve();
  await finish(scripted.engine, "plan");
  await until("the next attempt works", () => jobs[1]);
  ends[1]?.({ verdict: "pass", structured: true });
  await scripted.engine.idle();
  const types = await scripted.types("r");
  expect(types.filter((type) => type === "stage.finished")).toHaveLength(2);
  expect(await scripted.load("r")).toMatchObject({ status: "completed", spent: { attempts: 1 } });
  expect(most()).toBe(1);
});

test("R-003-39: an attempt's token names it and nothing else, until its verdict is in", async () => {
  const { scripted, jobs, ends } = await openHeld(60_000);
  const [job] = jobs;
  const token = job?.token ?? "";
  expect(token).toMatch(/^pr_at_/);
  expect(token).not.toContain(job?.nonce ?? "?");
  const attemptOf = (held: string) => scripted.engine.attemptOf(held);
  expect(attemptOf(token)).toEqual({ runId: "r", stage: "plan", attempt: 1, agent: "planner", subjectId: "S-r" });
  expect(attemptOf(`pr_at_${job?.nonce}`)).toBeUndefined();
  expect(attemptOf("")).toBeUndefined();
  await finish(scripted.engine, "plan");
  expect(attemptOf(token)).toBeUndefined();
  ends[0]?.({});
  const next = (await until("the next attempt works", () => jobs[1])).token;
  expect(attemptOf(next)).toMatchObject({ stage: "build" });
  ends[1]?.({ verdict: "pass", structured: true });
  await scripted.engine.idle();
  expect(attemptOf(next)).toBeUndefined();
});

type Trace = { readonly mark: string; readonly stage: string };
/** Lines that were written to their end. */
const traceIn = (file: string): readonly string[] =>
  (existsSync(file) ? readFileSync(file, "utf8") : "")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Trace)
    .map(({ mark, stage }) => `${stage} ${mark}`);

test("a real program whose verdict came through the API ends by itself, is not asked again, and only then the next one begins", async () => {
  bench = await openWorkbench();
  const { dir, passrail, errors } = bench;
  const [trace, go] = [join(dir, "trace"), join(dir, "go")];
  const others = [{ verdict: "approved", trace }];
  const script = { analyst: [{ via: "none", hold: go, trace }], "*": others };
  const run = await bench.run("story", script, { wait: false });
  await until("the analyst works", () => (traceIn(trace).length > 0 ? true : undefined));
  const report: Report = { verdict: "approved", structured: true, payload: { plan: "p" } };
  const body = { type: "attempt.finished", stage: "analyst", attempt: 1, report } as const;
  expect((await passrail.engine.deliver(run.id, body, "agent:analyst")).ignored).toBeUndefined();
  expect(traceIn(trace)).toEqual(["analyst begin"]);
  writeFileSync(go, "");
  await passrail.engine.idle();
  expect(traceIn(trace).slice(0, 4)).toEqual(["analyst begin", "analyst end", "implementer begin", "implementer end"]);
  expect((await bench.load(run.id)).status).toBe("completed");
  const [analyst] = await passrail.store.attempts(run.id);
  expect(analyst?.facts).toMatchObject({ ended: "exited", repaired: false });
  expect((await bench.events(run.id)).map(({ type }) => type)).not.toContain("signal.ignored");
  expect(errors).toEqual([]);
});

test("after a crash in that while the leftover is ended before anything of its run starts", async () => {
  bench = await openWorkbench();
  const { dir, home, project } = bench;
  await bench.passrail.close();
  const [trace, childFile] = [join(dir, "trace"), join(dir, "child.pid")];
  const scriptFile = join(dir, "script.json");
  const script = {
    analyst: [{ via: "none", hold: join(dir, "never"), trace, child: childFile }],
    "*": [{ verdict: "approved", trace }],
  };
  writeFileSync(scriptFile, JSON.stringify(script));
  const ended = spawnSync(process.execPath, [LINGER_DRIVER, home, project, scriptFile, trace], {
    env: { ...process.env, ...(await storeEnvironment(home)), PASSRAIL_FAILPOINT: "finish-committed" },
    encoding: "utf8",
    timeout: 30_000,
  });
  expect([ended.signal, ended.stderr]).toEqual(["SIGKILL", expect.anything()]);
  // Its engine is dead, and the player goes on: it may only now come to this.
  const child = await until("the leftover has a child", () =>
    existsSync(childFile) ? Number(readFileSync(childFile, "utf8")) || undefined : undefined,
  );
  expect(isAlive(child)).toBe(true);
  await endLease(home);
  await bench.restart();
  await bench.passrail.engine.idle();
  expect(isAlive(child)).toBe(false);
  expect(traceIn(trace)).toEqual([
    "analyst begin",
    ...["implementer", "reviewer", "refactorer", "documenter"].flatMap((stage) => [`${stage} begin`, `${stage} end`]),
  ]);
  expect((await bench.load("r-crashed")).status).toBe("completed");
  expect(bench.errors).toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
