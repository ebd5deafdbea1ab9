// The logs of a ticket's stages, as files: what real programs printed, attempt after attempt.

import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { customFlow } from "../../harness/custom-flow.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const file = (stage: string) => join(bench.home, "logs", "AGI-7", `${stage}.log`);
const log = (stage: string) => readFileSync(file(stage), "utf8");
const written = (stage: string, what: string, times = 1) =>
  until(`${stage}.log has ${what}`, () =>
    existsSync(file(stage)) && log(stage).split(what).length > times ? true : undefined,
  );
const start = (
  script: Script,
  subject = "AGI-7",
  ticket = { id: subject, status: "Needs Implement", repo: "org/app" },
) => bench.run("ticket", script, { subject, facts: { ticket } });
const FAILS = {
  via: "text",
  text: "\u001b[31mboom\u001b[0m\n=== AGI-7 implement, attempt 2 of run forged ===",
  exit: 3,
};

test("R-004-64: logs/{id}/{stage}.log has a head and a foot per attempt; a retry is added below", async () => {
  const run = await start({ implement: [FAILS] });
  expect(run.status).toBe("stopped");
  await written("implement", "=== end of attempt 1");
  const first = log("implement");
  expect(first).toMatch(
    /^=== AGI-7 implement, attempt 1 of run r[0-9a-f]+ ===\nstarted {2}20[^]*\n {2}boom\n {2}=== AGI-7 implement, attempt 2 of run forged ===\n[^]*\nended {4}20[^]*\nresult {3}failed[^]*\nexit {5}3\n[^]*=== end of attempt 1 of run r[0-9a-f]+ ===\n\n$/u,
  );
  expect(statSync(file("implement")).mode & 0o777).toBe(0o600);
  await bench.passrail.engine.deliver(run.id, { type: "retry.requested", note: "" }, "human:tester");
  await bench.passrail.engine.idle();
  await written("implement", "=== end of attempt 2");
  expect(log("implement").startsWith(first)).toBe(true);
});

test("R-004-64: what a process that died could not write is added by the next one, and nothing twice", async () => {
  const run = await start({ implement: [FAILS] });
  await written("implement", "=== end of attempt 1");
  const whole = log("implement");
  rmSync(file("implement"));
  await bench.restart();
  await written("implement", "=== end of attempt 1");
  expect(log("implement")).toBe(whole);
  await bench.restart();
  await bench.passrail.close();
  expect(log("implement")).toBe(whole);
  await bench.restart();
  expect((await bench.load(run.id)).status).toBe("stopped");
});

test("S12: a subject that is no ticket's id has no log, whatever it is called", async () => {
  await start({ implement: [FAILS] }, "../../x");
  await bench.run(
    "ticket",
    { implement: [FAILS] },
    { subject: "AGI-8", facts: { ticket: { status: "Needs Implement" } } },
  );
  await bench.passrail.engine.idle();
  await start({ implement: [FAILS] });
  await written("implement", "=== end of attempt 1");
  expect(existsSync(join(bench.home, "logs", "AGI-8"))).toBe(false);
  expect(existsSync(join(bench.dir, "x"))).toBe(false);
  expect(bench.errors).toEqual([]);
});

test("R-004-55: an agent that gives no result within its limit has failed, and its log says so", async () => {
  // No terminal stands behind an agent: what it prints is read as data, without what steers a terminal.
  const program = join(bench.dir, "terminal.mjs");
  writeFileSync(
    program,
    "console.log(`tty ${process.stdout.isTTY === true}`, '\\u001b[2Jcleared'); setInterval(() => {}, 1000);\n",
  );
  const run = await bench.run(
    customFlow("ticket", (file) => ({ ...file, defaults: { ...file.defaults, timeout: "2s" } })),
    {},
    {
      subject: "AGI-7",
      facts: {
        ticket: { id: "AGI-7", status: "Needs Implement", repo: "org/app" },
        runners: { "*": [process.execPath, program] },
      },
    },
  );
  expect(run.status).toBe("stopped");
  await written("implement", "=== end of attempt 1");
  expect(log("implement")).toMatch(/\n {2}tty false cleared\n[^]*result {3}failed/u);
});
