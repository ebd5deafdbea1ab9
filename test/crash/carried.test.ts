// The same kills where each attempt has a process of its own: what works on is adopted, and every invariant holds. Tracks that work side by
// side, a workspace per stage, and several runs at once.

import { expect, test } from "vitest";
import { closeStage, drive, openStage } from "./drive.ts";
import { inspect } from "./invariants.ts";
import { scenarioOf } from "./seeds.ts";

test.each(["complex", "staged", "several"])(
  "R-X-05, R-001-39: killed twice while attempts work in processes of their own, every invariant holds (%s)",
  { timeout: 240_000 },
  async (name) => {
    const stage = openStage(scenarioOf(name));
    try {
      for (const kill of [
        { since: "working", afterMs: 600 },
        { since: "ready", afterMs: 300 },
      ] as const)
        expect(await drive(stage, { kill, own: true })).not.toMatchObject({ end: "failed" });
      expect(await drive(stage, { own: true })).toMatchObject({ end: "settled" });
      const { ending, violations } = await inspect(stage);
      expect(violations).toEqual([]);
      expect(Object.values(ending).map(({ status }) => status)).toEqual(Object.values(ending).map(() => "completed"));
    } finally {
      await closeStage(stage);
    }
  },
);
