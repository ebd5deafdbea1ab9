import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

test("waiting for an engine that has nothing to do ends at once, also after a signal that changed nothing", async () => {
  const run = await bench.run("feature", {});
  const late = await bench.passrail.engine.deliver(
    run.id,
    { type: "attempt.started", stage: "spec", attempt: 7 },
    "engine",
  );
  await bench.passrail.engine.idle();
  expect(late.ignored).toBe("attempt 7 of spec is not ready");
  expect((await bench.events(run.id)).at(-1)).toMatchObject({ type: "signal.ignored", signal: "attempt.started" });
});
