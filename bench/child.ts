// Measurements that need a separate process: recovery time, and the memory of a busy engine after one batch or ten seconds of them. `node
// bench/child.ts recover|memory|busy FOLDER`; prints one number on stdout.

import { existsSync, readFileSync } from "node:fs";
import { keepHeapSmall } from "../src/daemon/small-heap.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { featureFlow, openEngine, openWorkload, unlimited } from "./workload.ts";

const [task, home = ""] = process.argv.slice(2);

if (task === "recover") console.log(await recoverMs());
else if (task === "memory") console.log(await peakMegabytes(0));
else if (task === "busy") console.log(await peakMegabytes(10_000));
else throw new Error(`unknown task ${String(task)}`);

async function recoverMs(): Promise<number> {
  const since = performance.now();
  const store = openSqliteStore({ file: `${home}/passrail.db` });
  const engine = openEngine(home, store, 3, {
    runStage: () => Promise.reject(new Error("nothing should start")),
    onError: (_runId, error) => {
      throw error;
    },
  });
  await engine.perform();
  const took = performance.now() - since;
  await engine.idle();
  await engine.close();
  store.close();
  return took;
}

async function peakMegabytes(forMs: number): Promise<number> {
  // As in every process of Passrail that performs.
  keepHeapSmall();
  const workload = await openWorkload(home, { flow: unlimited(featureFlow()) });
  const until = performance.now() + forMs;
  do {
    await workload.complete(100);
    workload.latencies.length = 0;
  } while (performance.now() < until);
  await workload.close();
  return peakOfThisProgram();
}

/** The system's count for a process begins with the memory of the one that started it, here the whole benchmark. */
function peakOfThisProgram(): number {
  if (!existsSync("/proc/self/status")) return process.resourceUsage().maxRSS / 1024;
  return Number(/^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}
