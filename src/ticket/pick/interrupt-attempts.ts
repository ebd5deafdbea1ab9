// After a forced stop: records the running attempts as interrupted at once, not at the next start. Ticket files then show that these stages
// wait for a retry.

import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";

/** Call it when the engine is closed and the store is not. */
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
      // The same id as in a recovery: applied once.
      await engine.deliver(
        runId,
        { type: "attempt.interrupted", stage, attempt, cause: "stopped by a person" },
        "engine",
        `interrupt:${stage}:${attempt}`,
      );
    }
  }
}
