// After a stop: records the attempts that were ended as interrupted at once, not at the next start. Ticket files then show that these stages
// wait for a retry. Attempts that work on in processes of their own stay as they are.

import { attemptFacts } from "../../core/attempt-facts.ts";
import type { CarriedPlace, CarrierIdentity, ClaimIdentity } from "../../attempt/carriers.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";

/** Call it when the engine is closed and the store is not. */
export async function interruptAttempts({
  engine,
  store,
  isCarried,
}: {
  readonly engine: Pick<Engine, "deliver">;
  readonly store: Store;
  readonly isCarried: (carrier: CarrierIdentity | ClaimIdentity, place: CarriedPlace) => boolean;
}): Promise<void> {
  for (const runId of await store.activeRuns()) {
    const run = (await store.loadRun(runId))?.run;
    const carriedOnes = (await store.attempts(runId)).flatMap((record) => {
      const facts = attemptFacts(record);
      const carried = facts.carrier ?? facts.claim;
      return carried !== null && isCarried(carried, record) ? [`${record.stage}/${record.attempt}`] : [];
    });
    const carriers = new Set(carriedOnes);
    for (const track of Object.values(run?.tracks ?? {})) {
      if (track.at !== "running" || track.outside === true) continue;
      const { stage, attempt } = track;
      if (carriers.has(`${stage}/${attempt}`)) continue;
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
