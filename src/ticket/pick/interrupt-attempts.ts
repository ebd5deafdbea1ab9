// After an end in a hurry: what worked until now is recorded as interrupted at once, not by the next start. So tickets' files say that
// these stages wait to be done again, instead of that something works on them.

import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";

/** To be called when the engine is closed and the store is not. */
export async function interruptAttempts({
  engine,
  store,
}: {
  readonly engine: Pick<Engine, "deliver">;
  readonly store: Store;
}): Promise<void> {
  for (const runId of await store.activeRuns()) {
    const run = (await store.loadRun(runId))?.run;
    for (const track of Object.values(run?.tracks ?? {})) {
      if (track.at !== "running" || track.outside === true) continue;
      const { stage, attempt } = track;
      // The id that a recovery would use: done once, whoever does it.
      await engine.deliver(
        runId,
        { type: "attempt.interrupted", stage, attempt, cause: "stopped by a person" },
        "engine",
        `interrupt:${stage}:${attempt}`,
      );
    }
  }
}
