// Durable handoffs per second: one run at a time, and a hundred at once, each beside two raw loops: one of the same statements, and one of
// the smallest schema that does this workload.

import { statSync } from "node:fs";
import { inFolder, median, percentile, type Row, ratio, type Sample, sample } from "./measure.ts";
import { openMinimalLoop } from "./minimal.ts";
import { openRawLoop, record } from "./raw.ts";
import { featureFlow, HANDOFFS_PER_RUN, openWorkload, unlimited, type Workload } from "./workload.ts";

const ROUNDS = 11;
const RUNS = 40;
const AT_ONCE = 100;
/** Batches of a hundred in one sample: long enough that the work before it in the turn no longer matters. */
const BATCHES = 4;
/** An engine lives for days: it is measured after its code has been compiled, about ten thousand handoffs in. */
const WARM_UP = 12;

export function measureThroughput(base: string): Promise<readonly Row[]> {
  return inFolder(base, async (dir) => {
    const raw = openRawLoop(`${dir}/raw/passrail.db`, await record(`${dir}/recorded`));
    const minimal = openMinimalLoop(`${dir}/minimal/minimal.db`);
    const single = await openWorkload(`${dir}/single`);
    const many = await openWorkload(`${dir}/many`, { flow: unlimited(featureFlow()) });
    const limited = await openWorkload(`${dir}/limited`);
    const samples: Record<"minimal" | "rawBefore" | "single" | "rawBetween" | "many" | "limited", Sample[]> = {
      minimal: [],
      rawBefore: [],
      single: [],
      rawBetween: [],
      many: [],
      limited: [],
    };
    const rawRuns = () => sample(raw.prepare(RUNS));
    for (let batch = 0; batch < WARM_UP; batch += 1) await many.complete(AT_ONCE);
    // The first round warms up the others and is not kept.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const taken = {
        minimal: await sample(async () => minimal.run(RUNS)),
        rawBefore: await rawRuns(),
        single: await sample(() => oneByOne(single, RUNS)),
        rawBetween: await rawRuns(),
        many: await sample(() => batches(many)),
        limited: await sample(() => limited.complete(AT_ONCE)),
      };
      if (round === 0) for (const { latencies } of [single, many]) latencies.length = 0;
      else for (const name of Object.keys(samples) as (keyof typeof samples)[]) samples[name].push(taken[name]);
    }
    for (const each of [single, many, limited]) await each.close();
    raw.close();
    minimal.close();
    const pages = await pagesPerHandoff(`${dir}/pages`);
    const perSecond = (name: keyof typeof samples, runs: number) =>
      samples[name].map(({ wallMs }) => (runs * HANDOFFS_PER_RUN * 1000) / wallMs);
    const cpu = (name: keyof typeof samples, runs: number) =>
      median(samples[name].map(({ cpuMs }) => (cpuMs * 1000) / (runs * HANDOFFS_PER_RUN)));
    const rates = {
      minimal: perSecond("minimal", RUNS),
      rawBefore: perSecond("rawBefore", RUNS),
      single: perSecond("single", RUNS),
      rawBetween: perSecond("rawBetween", RUNS),
      many: perSecond("many", AT_ONCE * BATCHES),
      limited: perSecond("limited", AT_ONCE),
    };
    const bytes = statSync(`${dir}/many/passrail.db`).size / ((WARM_UP + (ROUNDS + 1) * BATCHES) * AT_ONCE);
    return [
      {
        name: "raw loop, one transaction per handoff",
        value: median([...rates.rawBefore, ...rates.rawBetween]),
        unit: "/s",
      },
      { name: "minimal raw loop", value: median(rates.minimal), unit: "/s", note: "the smallest durable schema" },
      { name: "handoffs, 1 run at a time", value: median(rates.single), unit: "/s" },
      {
        name: "handoffs, 1 run, against the raw loop",
        value: ratio(rates.single, rates.rawBefore),
        unit: "x",
        limit: { is: "at least", value: 0.6 },
      },
      {
        name: "handoffs, 1 run, against the minimal loop",
        value: ratio(rates.single, rates.minimal),
        unit: "x",
        limit: { is: "at least", value: 0.65 },
      },
      { name: "handoffs, 100 runs at once", value: median(rates.many), unit: "/s" },
      {
        name: "handoffs, 100 runs, against the raw loop",
        value: ratio(rates.many, rates.rawBetween),
        unit: "x",
        limit: { is: "at least", value: 3 },
      },
      {
        name: "handoffs, 100 runs, against the minimal loop",
        value: ratio(rates.many, rates.minimal),
        unit: "x",
        limit: { is: "at least", value: 3 },
      },
      {
        name: "handoffs, 100 runs, one build at a time",
        value: median(rates.limited),
        unit: "/s",
        note: "the flow as shipped: its builds queue",
      },
      { name: "latency p50, 1 run", value: percentile(single.latencies, 0.5), unit: "ms" },
      {
        name: "latency p99, 1 run",
        value: percentile(single.latencies, 0.99),
        unit: "ms",
        limit: { is: "at most", value: 2 },
      },
      { name: "latency p50, 100 runs", value: percentile(many.latencies, 0.5), unit: "ms" },
      { name: "latency p99, 100 runs", value: percentile(many.latencies, 0.99), unit: "ms" },
      { name: "CPU per handoff, raw loop", value: cpu("rawBetween", RUNS), unit: "us" },
      { name: "CPU per handoff, 1 run", value: cpu("single", RUNS), unit: "us" },
      { name: "CPU per handoff, 100 runs", value: cpu("many", AT_ONCE * BATCHES), unit: "us" },
      { name: "bytes on disk per run", value: bytes, unit: "B", limit: { is: "at most", value: 9000 } },
      {
        name: "pages written per handoff",
        value: pages,
        unit: "pages",
        limit: { is: "at most", value: 6.5 },
        note: "in the log, one run at a time; creations and settled work included",
      },
    ];
  });
}

async function batches(workload: Workload): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch += 1) await workload.complete(AT_ONCE);
}

async function oneByOne(workload: Workload, runs: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) await workload.complete(1);
}

const PAGE_BYTES = 4096;
const FRAME_HEADER_BYTES = 24;
/** So few that nothing is copied from the log into the file meanwhile. */
const LOGGED_RUNS = 25;

async function pagesPerHandoff(home: string): Promise<number> {
  const workload = await openWorkload(home);
  const log = `${home}/passrail.db-wal`;
  const before = statSync(log).size;
  await oneByOne(workload, LOGGED_RUNS);
  await workload.engine.idle();
  const written = statSync(log).size - before;
  await workload.close();
  return written / (PAGE_BYTES + FRAME_HEADER_BYTES) / (LOGGED_RUNS * HANDOFFS_PER_RUN);
}
