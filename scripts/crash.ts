// `npm run crash -- --seeds 5000 --from 1 [--at-once 2] [--store postgres]`: kills the engine at random moments, thousands of times, and checks
// that nothing was lost, doubled or left behind. The tests in test/crash do the same with fewer seeds. `--store postgres` starts a server of its
// own, or uses the one that DATABASE_URL names.

import { parseArgs } from "node:util";
import { buildProgram } from "../test/harness/build-program.ts";
import { describeFailure, runSeeds, spread } from "../test/crash/seeds.ts";
import { startPostgres } from "../test/harness/postgres-server.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    "at-once": { type: "string", default: "2" },
    store: { type: "string", default: "sqlite" },
  },
});
const seeds = numberOf("seeds", values.seeds);
const from = numberOf("from", values.from);
const atOnce = numberOf("at-once", values["at-once"]);

if (values.store !== "sqlite" && values.store !== "postgres")
  throw new Error(`--store must be sqlite or postgres, not ${values.store}`);

await buildProgram();
const server = values.store === "postgres" ? await startPostgres() : undefined;
if (server !== undefined) Object.assign(process.env, { PASSRAIL_TEST_STORE: "postgres", DATABASE_URL: server.url });
const startedAt = performance.now();
let done = 0;
const results = await runSeeds(from, seeds, atOnce, (result) => {
  done += 1;
  if (result.violations.length > 0) console.log(describeFailure(result));
  if (done % 20 === 0)
    console.log(`${done} of ${seeds} seeds, ${Math.round((performance.now() - startedAt) / 1000)} s`);
});
await server?.stop();
const failed = results.filter(({ violations }) => violations.length > 0);
const sum = (count: (result: (typeof results)[number]) => number): number =>
  results.reduce((total, result) => total + count(result), 0);
console.log(`recovered: ${spread(results.map(({ readyMs }) => readyMs))}`);
console.log(`settled after the last start: ${spread(results.map(({ settledMs }) => settledMs))}`);
console.log(
  `${seeds} seeds, ${sum(({ kills }) => kills)} kills, ${sum(({ interruptions }) => interruptions)} attempts interrupted, ${failed.length} seeds failed`,
);
process.exitCode = failed.length > 0 ? 1 : 0;

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} must be a number from 1, not ${text}`);
  return value;
}
