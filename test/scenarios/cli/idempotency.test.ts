// A script that repeats a command under one key gets the first run, or the first ticket.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Bench, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

test("R-X-12: run and ticket new with the same --idempotency-key have one effect; another task under it is refused", async () => {
  const agents = { "*": { command: ["/bin/true"] } };
  writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify({ agents }));
  const run = (task: string, key = "nightly-1") =>
    bench.passrail(["run", "feature", task, "--idempotency-key", key, "--quiet"]);
  const first = await run("Add login");
  expect(first.code).toBe(3);
  expect(await run("Add login")).toMatchObject({ code: 3, out: first.out });
  const other = await run("Add logout");
  expect(other.code).not.toBe(3);
  expect(other.err).toContain("idempotency_key_reused");
  const listed = await bench.passrail(["runs", "list", "--json"]);
  expect((JSON.parse(listed.out) as { runs: unknown[] }).runs).toHaveLength(1);

  const ticket = () => bench.passrail(["ticket", "new", "Mend it", "--idempotency-key", "t-1"]);
  const made = await ticket();
  expect(made).toMatchObject({ code: 0, out: "Created feature_requests/FR-1/AGI-1.md\n" });
  expect((await ticket()).out).toBe(made.out);
  const files = readdirSync(join(bench.project, "feature_requests"), { recursive: true, encoding: "utf8" });
  expect(files.filter((name) => name.endsWith(".md"))).toHaveLength(1);
  expect((await bench.passrail(["run", "feature", "x", "--idempotency-key", "a b"])).code).toBe(2);
});
