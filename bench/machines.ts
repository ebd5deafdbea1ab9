// Workers on other machines: how soon the next stage reaches a worker that waits for it, how much four workers get done beside one, and how
// soon another one has the stage of a dead one. A real node on a real Postgres with real processes; only for the first rows this process is the worker itself, with an agent that answers at
// once, so that nothing but the hand-over is measured.

import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Numbered } from "../src/claim/messages.ts";
import { attemptFacts } from "../src/core/attempt-facts.ts";
import type { AttemptRecord } from "../src/store/store.ts";
import { WORKER_PROTOCOL } from "../src/core/worker/wire.ts";
import { createNodeLink } from "../src/worker/node-link.ts";
import { answerOn } from "../test/chaos/machines/answer.ts";
import {
  type Cluster,
  type ClusterNode,
  kill,
  type Machine,
  makeKey,
  openCluster,
} from "../test/chaos/machines/cluster.ts";
import { buildProgram } from "../test/harness/build-program.ts";
import { ROOT } from "../test/harness/build-once.ts";
import { startPostgres } from "../test/harness/postgres-server.ts";
import { until } from "../test/harness/until.ts";
import { percentile, type Row } from "./measure.ts";
import { answerAtOnce } from "./workload.ts";

const RUNS = 10;
const SLEEP_S = 5;
/** Attempts of each worker. */
const ROUNDS = 5;
const PLAYER = join(ROOT, "test/fixtures/player/play.sh");

export async function measureMachines(isShort: boolean): Promise<readonly Row[]> {
  await buildProgram();
  const server = await startPostgres([]);
  const settings = { workers: { place: "workers-only" }, slots: 100 };
  const cluster = await openCluster({ nodes: 1, database: server.url, settings });
  try {
    const [node] = cluster.nodes;
    if (node === undefined) throw new Error("there is no node");
    await cluster.up(node);
    await makeKey(cluster, node);
    const handedOver = await measureHandOver(cluster, node, isShort ? 2 : RUNS);
    const workers = await measureWorkers(cluster, node, isShort ? 2 : ROUNDS);
    return [...handedOver, workers, await measureDeath(cluster, node)];
  } finally {
    await cluster.close();
    await server.stop();
  }
}

async function measureHandOver(cluster: Cluster, node: ClusterNode, runs: number): Promise<readonly Row[]> {
  const worker = openWorker(node.url, readFileSync(join(cluster.dir, "worker.token"), "utf8").trim());
  for (let run = 0; run <= runs; run += 1) {
    await command(cluster, node, ["run", "feature", `Do ${run}`, "--id", `F-${run}`, "--agent", "*=true", "--detach"]);
    await until(`run ${run} is completed`, async () => {
      await answerOn(node);
      const stored = await cluster.stored((store) => store.listRuns({ limit: 1000 }));
      return stored.filter(({ status }) => status === "completed").length > run ? true : undefined;
    });
    // The first one compiles what all others use.
    if (run === 0) worker.gaps.splice(0);
  }
  await worker.close();
  const note = `${worker.gaps.length} stages; from the report of one stage to the order of the next, with its commits, its record and its transaction; the agent and the worker's own workspace not counted`;
  return [
    {
      name: "next stage at a waiting worker, p50",
      value: percentile(worker.gaps, 0.5),
      unit: "ms",
      limit: { is: "at most", value: 50 },
      note,
    },
    { name: "next stage at a waiting worker, p99", value: percentile(worker.gaps, 0.99), unit: "ms" },
  ];
}

type BenchWorker = { readonly gaps: number[]; close(): Promise<void> };

/** Speaks as a worker does, has no agent, and reports at once. */
function openWorker(url: string, token: string): BenchWorker {
  const link = createNodeLink([url], () => token);
  const instance = randomBytes(16).toString("hex");
  const startedAt = new Date().toISOString();
  const hello = { name: "bench", instance, version: "0", protocol: WORKER_PROTOCOL, slots: 4, labels: [], startedAt };
  const gaps: number[] = [];
  const saidAt = new Map<string, number>();
  const held = new Map<string, number>();
  let isClosed = false;
  const report = async (node: string, claim: string, { n, message }: Numbered): Promise<void> => {
    if (message.type !== "start" || held.has(claim)) return;
    held.set(claim, n);
    const { job } = message.order;
    const since = saidAt.get(job.run.id);
    // Where a person answered in between, their time counts.
    if (since !== undefined && job.stage.id !== "spec") gaps.push(performance.now() - since);
    const messages = [{ type: "report", report: answerAtOnce(job), tip: null, work: null, problem: null } as const];
    saidAt.set(job.run.id, performance.now());
    const sent = await link.deliver(claim, { instance, node, from: 1, messages });
    if (!sent.ok) throw new Error(sent.error.detail);
    held.delete(claim);
  };
  const poll = async (leaving: boolean, node: string | null): Promise<string | null> => {
    const claims = [...held].map(([claim, seen]) => ({ claim, seen }));
    const answer = await link.poll({ hello, node, held: claims, leaving, leaseMs: 14_000 });
    if (!answer.ok) throw new Error(answer.error.detail);
    for (const { claim, messages } of answer.value.claims)
      for (const each of messages) void report(answer.value.node, claim, each);
    return answer.value.node;
  };
  const working = (async () => {
    for (let node: string | null = null; !isClosed; ) node = await poll(false, node);
  })();
  return {
    gaps,
    async close() {
      isClosed = true;
      await working;
      await poll(true, null);
    },
  };
}

/** Real workers with one slot each; agents sleep, so that the processor is not what they share. */
async function measureWorkers(cluster: Cluster, node: ClusterNode, rounds: number): Promise<Row> {
  const script = join(cluster.dir, "script", "sleep");
  mkdirSync(script, { recursive: true });
  writeFileSync(
    join(script, "scout.sh"),
    `sleep ${SLEEP_S}\nmkdir -p .brain && echo "$PASSRAIL_RUN" > .brain/RESEARCH.md\n`,
  );
  const workers = ["box-1", "box-2", "box-3", "box-4"].map((name) => cluster.join(name, { slots: 1 }));
  const rate = async (prefix: string, count: number, at: readonly Machine[]): Promise<number> => {
    const runs = await startRuns(cluster, node, script, prefix, count);
    for (const worker of at) cluster.start(worker);
    return attemptsPerSecond(cluster, runs, count);
  };
  // Each has a clone of the project afterwards, and keeps it.
  await rate("first-", workers.length, []);
  await stopAll(workers);
  const alone = await rate("one-", rounds, workers.slice(0, 1));
  await stopAll(workers);
  const four = await rate("four-", 4 * rounds, workers);
  return {
    name: "four workers against one",
    value: four / alone,
    unit: "x",
    limit: { is: "at least", value: 3.8 },
    note: `attempts per second with agents that sleep ${SLEEP_S} s, one slot each, after the first attempt of each worker: ${alone.toFixed(3)} and ${four.toFixed(3)}`,
  };
}

/** The workers of the row before are left: one of them is at work when it dies, the others have nothing to do. */
async function measureDeath(cluster: Cluster, node: ClusterNode): Promise<Row> {
  const prefix = "death-";
  await startRuns(cluster, node, join(cluster.dir, "script", "sleep"), prefix, 1);
  const attempts = (): Promise<readonly AttemptRecord[]> =>
    cluster.stored(async (store) => {
      const run = (await store.listRuns({ limit: 1000 })).find(({ subject }) => subject.id.startsWith(prefix));
      const all = run === undefined ? [] : await store.attempts(run.id);
      return all.filter((record) => attemptFacts(record).claim !== null && record.startedAt !== null);
    });
  const first = await until("it is at work", async () => (await attempts())[0]);
  const worker = cluster.workers.find(({ name }) => name === attemptFacts(first).claim?.worker);
  if (worker === undefined) throw new Error("nobody has it");
  await delay(1000);
  const diedAt = Date.now();
  kill(worker, "SIGKILL");
  const second = await until("another one has it", async () => (await attempts())[1], 60_000);
  return {
    name: "a dead worker's stage at another one",
    value: (Date.parse(second.startedAt ?? "") - diedAt) / 1000,
    unit: "s",
    limit: { is: "at most", value: 15 },
    note: "kill -9, with the default lease",
  };
}

async function stopAll(workers: readonly Machine[]): Promise<void> {
  for (const { child } of workers) child?.kill("SIGTERM");
  await until("they have left", () => (workers.every(({ child }) => child === undefined) ? true : undefined));
}

/** They wait for a worker. Returns what their ids begin with. */
async function startRuns(
  cluster: Cluster,
  node: ClusterNode,
  script: string,
  prefix: string,
  count: number,
): Promise<string> {
  const agent = `*=/bin/sh ${PLAYER} ${script}`;
  const words = ["run", "routed", "Look", "--input", "agent=scout", "--workspace", "worktree", "--agent", agent];
  for (let at = 0; at < count; at += 1) await command(cluster, node, [...words, "--id", `${prefix}${at}`, "--detach"]);
  return prefix;
}

async function attemptsPerSecond(cluster: Cluster, prefix: string, count: number): Promise<number> {
  for (;;) {
    const done = await cluster.stored(async (store) => {
      const runs = (await store.listRuns({ limit: 1000 })).filter(({ subject }) => subject.id.startsWith(prefix));
      const ended = runs.filter(({ status }) => status === "completed");
      if (runs.some(({ status }) => status === "stopped")) throw new Error(`${prefix}: a run has stopped`);
      return ended.length < count ? null : Promise.all(ended.map(({ id }) => store.attempts(id)));
    });
    if (done !== null) return rateOf(done.flat());
    await delay(500);
  }
}

/** What each worker gets done from the end of its first attempt to the end of its last one: how it joined is not in it. */
function rateOf(attempts: readonly AttemptRecord[]): number {
  const byWorker = Map.groupBy(attempts, (record) => attemptFacts(record).claim?.worker);
  byWorker.delete(undefined);
  const rates = [...byWorker.values()].map((records) => {
    const ends = records.map(({ endedAt }) => Date.parse(endedAt ?? ""));
    return ((records.length - 1) * 1000) / (Math.max(...ends) - Math.min(...ends));
  });
  return rates.reduce((sum, each) => sum + (Number.isFinite(each) ? each : 0), 0);
}

async function command(cluster: Cluster, node: ClusterNode, args: readonly string[]): Promise<void> {
  const { code, err } = await cluster.passrail(node, args);
  if (code !== 0) throw new Error(err);
}
