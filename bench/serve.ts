// The server beside a busy engine: a hundred runs commit while clients read over HTTP. The engine is the benchmark's, because its agents
// must answer at once; the server is the daemon's. `node bench/serve.ts HOME PROJECT` prints its address. A line on stdin starts the work,
// the next line ends it and prints the numbers.

import { createInterface } from "node:readline/promises";
import { loadSettings } from "../src/settings/load.ts";
import { err } from "../src/core/result.ts";
import { systemClock } from "../src/engine/clock.ts";
import { openServer } from "../src/http/open-server.ts";
import { percentile } from "./measure.ts";
import { featureFlow, openWorkload, unlimited } from "./workload.ts";

/** The engine's numbers while clients read. */
export type Told = {
  readonly handoffs: number;
  /** Events stored meanwhile. */
  readonly events: number;
  readonly tookMs: number;
  readonly p50: number;
  readonly p99: number;
};

const AT_ONCE = 100;
const PERSON = "human:owner";

const [home = "", project = ""] = process.argv.slice(2);
const workload = await openWorkload(home, { flow: unlimited(featureFlow()), project });
const { engine, latencies, store } = workload;
const config = await loadSettings({ home, environment: {}, project, flags: {} });
if (!config.ok) throw new Error(config.error.message);
const server = await openServer(
  {
    clock: systemClock,
    config: config.value,
    budgets: { now: () => config.value.budgets, refresh: async () => undefined },
    engine,
    home,
    person: PERSON,
    store,
    mirror: null,
    notifications: null,
    redact: (text) => text,
    listen: () => undefined,
    wakeMerges: () => undefined,
  },
  {
    environment: {},
    project,
    flags: {},
    version: "0",
    log: (line) => console.error(line),
    demo: async () => err({ code: "demo_failed", message: "The benchmark has no demo." }),
  },
);
setInterval(() => server.deps.events.catchUp(), 10).unref();
const listening = await server.listen({ port: 0 });
console.log(listening.url);

let working = false;
let work: Promise<Told> | undefined;
for await (const _line of createInterface({ input: process.stdin })) {
  working = !working;
  if (working) work = keepBusy();
  else console.log(JSON.stringify(await work));
}
// The parent process is gone.
process.exit();

/** Keeps this many runs going; each completed one makes room for the next. */
async function keepBusy(): Promise<Told> {
  latencies.length = 0;
  const seq = await store.lastSeq();
  const since = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (working) await workload.complete(1);
    }),
  );
  const tookMs = performance.now() - since;
  const events = (await store.lastSeq()) - seq;
  return {
    handoffs: latencies.length,
    events,
    tookMs,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}
