// Triggers where they live: in the daemon, and at the command line.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { openMemory } from "../../../src/trigger/memory.ts";
import type { TriggerSettings } from "../../../src/settings/triggers.ts";
import { openBench, type Bench } from "../cli/bench.ts";
import { startDaemon, type Running } from "../daemon/running.ts";
import { until } from "../../harness/until.ts";

vi.setConfig({ testTimeout: 240_000 });

let opened: (Running | Bench)[] = [];
afterEach(async () => {
  for (const each of opened) await ("close" in each ? each.close() : each.remove());
  opened = [];
});

const settings = (bench: Bench, triggers: readonly unknown[]) => {
  const [program = "", ...args] = bench.player({ "*": [{ via: "text", text: "QUESTIONS:\n1. Which?\n" }] }).split(" ");
  const agents = { spec: { command: [program, ...args] } };
  writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify({ agents, triggers }));
};
const listed = async (bench: Bench) =>
  (JSON.parse((await bench.passrail(["runs", "list", "--json"])).out) as { runs: { subject: { title: string } }[] })
    .runs;

test("a schedule and a changed file start runs in the daemon, and a restart starts none again", async () => {
  const running = await startDaemon();
  opened.push(running);
  running.process.child.kill("SIGTERM");
  await running.process.ended;
  const yearly: TriggerSettings = { name: "yearly", flow: "intake", schedule: "0 3 1 1 *", title: "By time" };
  settings(running, [yearly, { name: "spec-files", flow: "intake", files: ["*.spec.md"], title: "{file}" }]);
  // It was looked at two years ago: two times have passed since.
  const memory = openMemory(running.home, running.project, yearly);
  const last = new Date(Date.now() - 2 * 366 * 86_400_000).toISOString();
  memory.write({ ...memory.read(), seen: { last } });
  await running.up();
  await until(
    "the daemon has looked at the files",
    async () => {
      const { out } = await running.passrail(["trigger", "test", "spec-files"]);
      return out.includes("nothing has changed") ? true : undefined;
    },
    60_000,
  );
  writeFileSync(join(running.project, "shop.spec.md"), "# A shop\n");
  await until("both have started", async () => ((await listed(running)).length === 2 ? true : undefined), 60_000);
  expect((await listed(running)).map(({ subject }) => subject.title).sort()).toEqual(["By time", "shop.spec.md"]);
  running.process.child.kill("SIGKILL");
  await running.process.ended;
  await running.up();
  const list = await running.passrail(["trigger", "list", "--json"]);
  expect(JSON.parse(list.out)).toMatchObject({
    daemon: true,
    triggers: [
      { name: "yearly", kind: "schedule", last: { runId: expect.any(String) }, problem: null },
      { name: "spec-files", kind: "files", last: { runId: expect.any(String) } },
    ],
  });
  const tested = await running.passrail(["trigger", "test", "spec-files"]);
  expect(tested).toMatchObject({ code: 0, out: expect.stringContaining("1 file(s) are watched") });
  expect(await listed(running)).toHaveLength(2);
});

test("a schedule that cannot be read keeps the daemon from starting, by the trigger's name", async () => {
  const bench = openBench();
  opened.push(bench);
  settings(bench, [{ name: "nightly", flow: "intake", schedule: "every night" }]);
  const refused = await bench.passrail(["up", "--port", "0"]);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("The trigger nightly has a schedule that cannot be read");
});

test("trigger run starts it by hand, trigger test starts nothing, and an unknown name is corrected", async () => {
  const bench = openBench();
  opened.push(bench);
  settings(bench, [
    { name: "nightly", flow: "intake", schedule: "0 3 * * *", title: "Nightly" },
    { name: "lost", flow: "nowhere", schedule: "0 3 * * *" },
  ]);
  const tested = await bench.passrail(["trigger", "test", "nightly"]);
  expect(tested).toMatchObject({ code: 0, out: expect.stringContaining('starts: intake "Nightly"') });
  expect(await bench.passrail(["trigger", "test", "lost"])).toMatchObject({ code: 1 });
  const started = await bench.passrail(["trigger", "run", "nightly"]);
  expect(started.code).toBe(3);
  expect((await listed(bench)).map(({ subject }) => subject.title)).toEqual(["Nightly"]);
  const wrong = await bench.passrail(["trigger", "run", "nightyl"]);
  expect(wrong.err).toContain("nightly");
});
