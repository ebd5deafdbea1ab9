// Durable handoffs per second on a real Postgres, one run at a time and a hundred at once, beside a raw loop of pg-boss on the same server:
// fetch a job, complete it, send the next one. pg-boss is no part of Passrail: npm run bench:peers installs it elsewhere.

import { join } from "node:path";
import { Client } from "pg";
import { startPostgres } from "../test/harness/postgres-server.ts";
import { readAddress } from "../src/settings/database.ts";
import { openPostgresStore } from "../src/store/postgres/open.ts";
import { multiplyRuns } from "./many-runs.ts";
import { inFolder, median, percentile, type Row, ratio, sample } from "./measure.ts";
import type { Contestant } from "./peers/contestant.ts";
import { folderOf, isInstalled, loaderOf } from "./peers/install.ts";
import { openPgBoss, PG_BOSS } from "./peers/pg-boss.ts";
import { featureFlow, HANDOFFS_PER_RUN, openWorkload, unlimited, type Workload } from "./workload.ts";

const ROUNDS = 5;
const RUNS = 10;
const AT_ONCE = 100;
const FEW_RUNS = 10;
const REAL_RUNS = 100;
const MANY_RUNS = 100_000;
const GROWTH_ROUNDS = 9;

export function measurePostgres(base: string, isShort: boolean): Promise<readonly Row[]> {
  return inFolder(base, async (dir) => {
    const server = await startPostgres([]);
    try {
      const store = await openPostgresStore({ address: addressOf(server.url), owner: true });
      const workload = await openWorkload(dir, { flow: unlimited(featureFlow()), store });
      const boss = await openBoss(server.url);
      const rows = await rounds(workload, boss, isShort ? 1 : ROUNDS);
      await boss?.close();
      await workload.close();
      return [...rows, await measureGrowth(server.url, dir, isShort ? 200 : MANY_RUNS)];
    } finally {
      await server.stop();
    }
  });
}

function addressOf(url: string) {
  const address = readAddress(url, "the bench");
  if (!address.ok) throw new Error(address.error.message);
  return address.value;
}

async function rounds(workload: Workload, boss: Contestant | undefined, count: number): Promise<readonly Row[]> {
  const rates: Record<"one" | "many" | "bossOne" | "bossMany", number[]> = {
    one: [],
    many: [],
    bossOne: [],
    bossMany: [],
  };
  const latencies: { one: readonly number[]; many: readonly number[] } = { one: [], many: [] };
  for (let batch = 0; batch < 3; batch += 1) await workload.complete(AT_ONCE);
  const perSecond = async (handoffs: number, work: () => Promise<void>): Promise<number> =>
    (handoffs * 1000) / (await sample(work)).wallMs;
  const taken = (): readonly number[] => workload.latencies.splice(0);
  for (let round = 0; round < count; round += 1) {
    const handoffs = RUNS * HANDOFFS_PER_RUN;
    if (boss !== undefined) rates.bossOne.push(await perSecond(handoffs, () => oneByOne(boss, RUNS)));
    taken();
    rates.one.push(await perSecond(handoffs, () => oneByOne(workload, RUNS)));
    latencies.one = [...latencies.one, ...taken()];
    const all = AT_ONCE * HANDOFFS_PER_RUN;
    if (boss !== undefined) rates.bossMany.push(await perSecond(all, () => boss.complete(AT_ONCE)));
    taken();
    rates.many.push(await perSecond(all, () => workload.complete(AT_ONCE)));
    latencies.many = [...latencies.many, ...taken()];
  }
  const missing = boss === undefined ? { note: "npm run bench:peers -- --only pg-boss installs it" } : {};
  const of = (values: readonly number[]): number | undefined => (values.length === 0 ? undefined : median(values));
  const against = (mine: readonly number[], theirs: readonly number[]): number | undefined =>
    theirs.length === 0 ? undefined : ratio(mine, theirs);
  const bar = { is: "at least", value: 0.7 } as const;
  return [
    { name: "Postgres: pg-boss, 1 at a time", value: of(rates.bossOne), unit: "/s", ...missing },
    { name: "Postgres: handoffs, 1 run at a time", value: of(rates.one), unit: "/s" },
    { name: "Postgres: 1 run, against pg-boss", value: against(rates.one, rates.bossOne), unit: "x", limit: bar },
    { name: "Postgres: pg-boss, 100 at once", value: of(rates.bossMany), unit: "/s", ...missing },
    { name: "Postgres: handoffs, 100 runs at once", value: of(rates.many), unit: "/s" },
    { name: "Postgres: 100 runs, against pg-boss", value: against(rates.many, rates.bossMany), unit: "x", limit: bar },
    { name: "Postgres: latency p50, 1 run", value: percentile(latencies.one, 0.5), unit: "ms" },
    { name: "Postgres: latency p99, 1 run", value: percentile(latencies.one, 0.99), unit: "ms" },
    { name: "Postgres: latency p50, 100 runs", value: percentile(latencies.many, 0.5), unit: "ms" },
    { name: "Postgres: latency p99, 100 runs", value: percentile(latencies.many, 0.99), unit: "ms" },
  ];
}

/** What a handoff costs in a store with few runs and in one with many, in turns: a noisy machine slows both down. */
async function measureGrowth(server: string, base: string, runs: number): Promise<Row> {
  const [young, first] = [await openOn(server, base, "young"), await openOn(server, base, "old")];
  await young.complete(FEW_RUNS);
  for (let run = 0; run < REAL_RUNS; run += AT_ONCE) await first.complete(AT_ONCE);
  await first.close();
  await multiplyRuns(databaseOn(server, "old"), runs / REAL_RUNS);
  const old = await openOn(server, base, "old");
  // What the copies left in the caches of the server and the disk is gone before anything is measured.
  await old.complete(AT_ONCE);
  const cost = async (workload: Workload): Promise<number> => (await sample(() => oneByOne(workload, FEW_RUNS))).wallMs;
  const [early, late]: [number[], number[]] = [[], []];
  for (let round = 0; round < GROWTH_ROUNDS; round += 1) {
    late.push(await cost(old));
    early.push(await cost(young));
  }
  await young.close();
  await old.close();
  return {
    name: `Postgres: run ${runs.toLocaleString("en-US")} against run ${FEW_RUNS}`,
    value: ratio(late, early),
    unit: "x",
    limit: { is: "at most", value: 1.3 },
  };
}

/** A database of its own on the same server. */
async function openOn(server: string, base: string, name: string): Promise<Workload> {
  const client = new Client({ connectionString: server });
  await client.connect();
  const { rows } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
  if (rows.length === 0) await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const store = await openPostgresStore({ address: addressOf(databaseOn(server, name)), owner: true });
  return openWorkload(join(base, name), { flow: unlimited(featureFlow()), store });
}

function databaseOn(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function oneByOne(workload: Pick<Workload, "complete">, runs: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) await workload.complete(1);
}

/** `npm run bench:peers` installs it. */
async function openBoss(database: string): Promise<Contestant | undefined> {
  return isInstalled("pg-boss", PG_BOSS)
    ? openPgBoss({ database, load: await loaderOf(folderOf("pg-boss")) })
    : undefined;
}
