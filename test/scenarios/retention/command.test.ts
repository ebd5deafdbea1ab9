// `passrail prune` as a person calls it.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, openBench } from "../cli/bench.ts";

let bench: Bench;
beforeAll(() => {
  bench = openBench();
});
afterAll(() => bench.remove());

const runs = (): readonly string[] => readdirSync(join(bench.home, "runs")).toSorted();

test("prune lists, removes, says what it freed; then the files are told as removed, and a second call finds nothing", async () => {
  const empty = await bench.passrail(["prune"]);
  expect([empty.code, empty.err]).toEqual([0, "Nothing to remove: there are no runs yet.\n"]);

  // Their first agents say nothing that counts, and a person gives up: both runs end without work.
  const script = `*=${bench.player({})}`;
  for (const title of ["One", "Two"]) {
    const started = await bench.passrail([
      "run",
      "routed",
      title,
      "--agent",
      script,
      "--workspace",
      "in-place",
      "--json",
    ]);
    expect([3, 5]).toContain(started.code);
  }
  for (const number of ["1", "2"]) await bench.passrail(["runs", "cancel", number]);
  expect(runs()).toHaveLength(2);

  const wrong = await bench.passrail(["prune", "--older-than", "soon"]);
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('--older-than: "soon" is not 12h, 30d or none.');

  const dry = await bench.passrail(["prune", "--keep", "1", "--dry-run"]);
  expect(dry.out).toMatch(/#1\s.*retention\.files\.count newer runs have theirs\nWould free /u);
  expect(dry.out).not.toContain("#2");

  const done = await bench.passrail(["prune", "--keep", "1"]);
  expect(done.out).toMatch(/\nFreed [0-9.]+ [kMG]B\.\n$/u);
  const first = runs().find((id) => existsSync(join(bench.home, "runs", id, "removed.json"))) ?? "";
  expect(readdirSync(join(bench.home, "runs", first))).toEqual(["removed.json"]);

  const again = await bench.passrail(["prune", "--keep", "1"]);
  expect([again.code, again.err]).toEqual([0, "Nothing to remove.\n"]);
  const shown = await bench.passrail(["runs", "show", "1"]);
  expect(shown.code).toBe(0);
  const log = await bench.passrail(["runs", "logs", "1"]);
  expect(log.err).toContain("Passrail removed the files of this run's attempts on");

  const status = await bench.passrail(["status", "--json"]);
  expect(JSON.parse(status.out)).toMatchObject({ disk: { store: expect.any(Number), files: expect.any(Number) } });
  expect((await bench.passrail(["status"])).out).toMatch(
    /^disk {5}[0-9.]+ [kMG]B \(.*measured .* ago: passrail prune --dry-run$/mu,
  );
});
