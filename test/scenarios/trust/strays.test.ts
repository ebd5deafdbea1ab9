// A process that an agent hid from its end is at least reported.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { onlyStages } from "../../harness/custom-flow.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { isAlive, pidIn } from "../cli/bench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

test.runIf(process.platform === "linux")(
  "P7: a process without session, environment and parent is named in a warning",
  async () => {
    const pidFile = join(bench.dir, "pid");
    const agent = join(bench.dir, "hides.mjs");
    const script = join(bench.dir, "hides.json");
    writeFileSync(
      script,
      JSON.stringify({ build: [{ via: "json-tail", verdict: "COMPLETE", write: { "a.txt": "1" } }] }),
    );
    // The shell between the two ends at once, so that nothing leads from the sleeper back to the agent.
    writeFileSync(
      agent,
      `import { execFileSync } from "node:child_process";
    execFileSync("setsid", ["env", "-i", "sh", "-c", "sleep 300 >/dev/null 2>&1 </dev/null & echo $! > ${pidFile}"]);
    await import(${JSON.stringify(join(import.meta.dirname, "../../fixtures/player/play.mjs"))});`,
    );
    const facts = { runners: { "*": [process.execPath, agent, script] } };
    const run = await bench.run(onlyStages("feature", ["build"]), {}, { facts });
    const pid = await until("it is noted", () => (readFileSync(pidFile, "utf8") === "" ? undefined : pidIn(pidFile)));
    try {
      const warning = (await bench.events(run.id)).find(
        (event) => event.type === "warning.raised" && event.code === "process_left",
      );
      expect([isAlive(pid), warning]).toMatchObject([true, { message: expect.stringContaining(`${pid} (sleep)`) }]);
    } finally {
      if (isAlive(pid)) process.kill(pid, "SIGKILL");
    }
  },
);
