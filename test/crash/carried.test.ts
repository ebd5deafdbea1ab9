// The same kills where each attempt has a process of its own, and kills of these processes beside them: what works on is adopted, what is
// gone is repeated, and every invariant holds. Tracks that work side by side, a workspace per stage, and several runs at once.

import { expect, test } from "vitest";
import { closeStage, drive, openStage } from "./drive.ts";
import { inspect } from "./invariants.ts";
import { scenarioOf } from "./seeds.ts";

const KILLS = [
  [{ since: "working", afterMs: 600 }, []],
  [{ since: "ready", afterMs: 300 }, [100]],
  [{ since: "working", afterMs: 400 }, [50, 150]],
] as const;

test.each(["complex", "staged", "several"])(
  "R-X-05, R-001-39: killed twice while attempts work in processes of their own, every invariant holds (%s)",
  { timeout: 240_000 },
  async (name) => {
    const stage = openStage(scenarioOf(name));
    try {
      let carriersKilled = 0;
      for (const [kill, killCarriers] of KILLS) {
        const driven = await drive(stage, { kill, own: true, killCarriers });
        expect(driven).not.toMatchObject({ end: "failed" });
        carriersKilled += driven.carriersKilled;
      }
      // Processes of attempts die under a living engine, too.
      const last = await drive(stage, { own: true, killCarriers: [150, 250] });
      expect(last).toMatchObject({ end: "settled" });
      expect(carriersKilled + last.carriersKilled > 0).toBe(true);
      const { ending, violations } = await inspect(stage);
      expect(violations).toEqual([]);
      expect(Object.values(ending).map(({ status }) => status)).toEqual(Object.values(ending).map(() => "completed"));
    } finally {
      await closeStage(stage);
    }
  },
);
