// `passrail settings` and the limits that it lists: a stage gets another time limit without a flow of one's own.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { approveFiles } from "../../harness/approve-files.ts";
import { type Bench, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

test("R-004-55: one command lists settings and limits with their origin, and a stage's limit from the settings ends its agent", async () => {
  writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify({ limits: { oneshot: { total: "700ms" } } }));
  approveFiles(bench.home, bench.project);
  const listed = await bench.passrail(["settings"], { env: { MAX_WORKERS: "2" } });
  expect(listed.out).toContain("slots\t2\tenvironment\n");
  expect(listed.out).toMatch(/^limits\.oneshot\t\{"total":"700ms",.*\}\tproject$/mu);
  expect(listed.out).toContain("tickets.idle_sleep\t30s\tdefault\n");
  expect((await bench.passrail(["settings", "merge", "-q"])).out).toContain("merge.check_timeout\n");
  expect((await bench.passrail(["settings", "slot"])).err).toContain('did you mean "slots"?');

  const input = ["--input", "ticket.workflow=oneshot"];
  const ended = await bench.passrail(["run", "ticket", "Wait", ...input, "--agent", "*=/bin/sleep 60", "--json"]);
  expect(ended.code).toBe(5);
  expect(`${ended.out}${ended.err}`).toMatch(/total|time limit|longer than/iu);
});
