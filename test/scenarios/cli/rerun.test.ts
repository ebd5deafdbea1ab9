// `runs rerun`: a person takes a run back to an earlier stage, and it goes on from there.

import { afterAll, expect, test } from "vitest";
import { openBench } from "./bench.ts";

const bench = openBench();
afterAll(() => bench.remove());

test("rerun goes back to an earlier stage and rests at the gate again; anything else is refused with a reason", async () => {
  const player = bench.player({
    spec: [{ verdict: "APPROVED" }],
    design: [{ verdict: "APPROVED" }],
    build: [{ verdict: "COMPLETE" }],
    qa: [{ verdict: "SHIP" }],
  });
  await bench.passrail(["run", "feature", "Export", "--agent", `*=${player}`]);
  await bench.passrail(["gate", "approve"]);
  const back = await bench.passrail(["runs", "rerun", "1", "--from", "build", "--note", "use the cache"]);
  expect(back).toMatchObject({ code: 3, out: expect.stringMatching(/waiting\treview\tgate/) });
  expect(back.err).toContain("build: attempt 2 by IN2");
  const refused = await bench.passrail(["runs", "rerun", "1", "--from", "nowhere"]);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain("not an earlier one that works");
});
