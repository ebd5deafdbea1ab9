// `npm run chaos -- --seeds 100 --from 1 [--runs 200] [--seconds 30] [--heal 1800]`: nodes, workers, the database and the wire between them die at random
// moments; afterwards every run must have ended right, each verdict once, and no commit may be lost.

import { parseArgs } from "node:util";
import { buildProgram } from "../test/harness/build-program.ts";
import { runChaos } from "../test/chaos/machines/chaos.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    from: { type: "string", default: "1" },
    runs: { type: "string", default: "6" },
    workers: { type: "string", default: "6" },
    seconds: { type: "string", default: "20" },
    heal: { type: "string", default: "180" },
  },
});

await buildProgram();
let failed = 0;
for (let seed = Number(values.from); seed < Number(values.from) + Number(values.seeds); seed += 1) {
  const result = await runChaos({
    seed,
    runs: Number(values.runs),
    workers: Number(values.workers),
    forMs: Number(values.seconds) * 1000,
    healMs: Number(values.heal) * 1000,
  });
  const { story, violations, interruptions, takeovers, healedMs, isNetwork } = result;
  const wire = isNetwork ? "a namespace" : "a proxy";
  console.log(
    `seed ${seed}: ${story.length} faults, ${interruptions} attempts interrupted, ${takeovers} takeovers, all ended ${healedMs} ms after the last, the wire was ${wire}; ${violations.length} violations`,
  );
  if (violations.length === 0) continue;
  failed += 1;
  console.log([...story.map((line) => `    ${line}`), ...violations.map((line) => `  ! ${line}`)].join("\n"));
}
console.log(`${values.seeds} seeds, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
