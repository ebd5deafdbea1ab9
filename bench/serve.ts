// The server beside an engine that never rests: a hundred runs commit as fast as they can while others read over HTTP. Agents answer at
// once, which those of the real command cannot, so the parts of the daemon are put together here.
// `node bench/serve.ts HOME PROJECT`: prints its address. At a line on stdin it takes up work until the next line, and says how that went.

import { createCommitOf } from "../src/app/commit-of.ts";
import { planRun } from "../src/app/start-run/start-run.ts";
import { createUseCases } from "../src/app/use-cases.ts";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { loadSettings } from "../src/settings/load.ts";
import { systemClock } from "../src/engine/clock.ts";
import { serverParts } from "../src/daemon/server-parts.ts";
import { createApp } from "../src/http/server/app.ts";
import { createEventHub } from "../src/http/server/events/hub.ts";
import { createKeys } from "../src/http/server/keys.ts";
import { listen } from "../src/http/server/listen.ts";
import { loadWeb } from "../src/http/server/web.ts";
import { percentile } from "./measure.ts";
import { featureFlow, openWorkload, unlimited } from "./workload.ts";
import { optional } from "../src/core/optional.ts";

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
const hub = createEventHub({ store, now: () => systemClock.monotonicMs() });
setInterval(() => hub.catchUp(), 10).unref();
const keys = await createKeys(home, { person: PERSON, now: () => systemClock.now() });
const app = createUseCases({
  engine,
  store,
  now: () => systemClock.now(),
  commitOf: createCommitOf(store),
  planRun: (request) => planRun({ project, settings: async () => config }, request),
});
const acting = {
  app,
  config: config.value,
  engine,
  home,
  person: PERSON,
  store,
  mirror: null,
  notifications: null,
  wakeMerges: () => undefined,
} as const;
const log = { file: null, write: (line: string) => console.error(line) };
const address = { port: 0, host: "127.0.0.1", hosts: [] };
const parts = serverParts(acting, {
  ...address,
  home,
  project,
  environment: {},
  version: "0",
  flags: {},
  log,
  keys,
  hub,
});
const web = loadWeb(join(import.meta.dirname, "../dist/web"));
const listening = await listen((port) => createApp(parts, { port, ...optional({ web }) }), address);
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
