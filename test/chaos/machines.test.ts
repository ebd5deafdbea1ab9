// Nodes, workers, the database and the wire between them die while runs work. One seed here; thousands: npm run chaos -- --seeds 1000

import { expect, test } from "vitest";
import { runChaos } from "./machines/chaos.ts";

const FROM = Number(process.env["PASSRAIL_CHAOS_FROM"] ?? "1");
const SEEDS = Number(process.env["PASSRAIL_CHAOS_SEEDS"] ?? "1");

for (let seed = FROM; seed < FROM + SEEDS; seed += 1)
  test(`R-X-05, R-X-16: three nodes and six workers die at random moments, seed ${seed}: every run ends right, each verdict once, no stage is carried out twice, no commit is lost`, {
    timeout: 300_000,
  }, async () => {
    const { story, violations } = await runChaos({ seed, runs: 3, workers: 6, forMs: 12_000, healMs: 180_000 });
    expect(violations.length === 0 ? [] : [...story, ...violations]).toEqual([]);
    expect(story.length).toBeGreaterThan(4);
  });
