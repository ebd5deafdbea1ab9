// The server beside an engine that never rests: a hundred runs commit as fast as they can while others read over HTTP. Agents answer at
// once, which those of the real command cannot, so the engine is the benchmark's own; the server is the daemon's.
// `node bench/serve.ts HOME PROJECT`: prints its address. At a line on stdin it takes up work until the next line, and says how that went.

import { createInterface } from "node:readline/promises";
import { loadSettings } from "../src/settings/load.ts";
import { err } from "../src/core/result.ts";
import { openServer } from "../src/http/open-server.ts";
import { percentile } from "./measure.ts";
import { featureFlow, openWorkload, unlimited } from "./workload.ts";

/** How the work went while others read. */
export type Told = {
  readonly handoffs: number;
  /** Stored meanwhile. */
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
const config = await loadSettings({ environment: {}, project, flags: {} });
if (!config.ok) throw new Error(config.error.message);
const server = await openServer(
  {
    config: config.value,
    engine,
    home,
    person: PERSON,
    store,
    mirror: null,
    notifications: null,
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
setInterval(() => server.parts.events.catchUp(), 10).unref();
const listening = await server.listen({ port: 0 });
console.log(listening.url);

let working = false;
let work: Promise<Told> | undefined;
for await (const _line of createInterface({ input: process.stdin })) {
  working = !working;
  if (working) work = keepBusy();
  else console.log(JSON.stringify(await work));
}
// Whoever asked is gone.
process.exit();

/** So many runs at every moment; each one that is completed makes room for the next. */
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
