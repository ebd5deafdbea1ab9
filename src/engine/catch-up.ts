// Finds the changes that other processes stored since the last look.

import type { Run } from "../core/run/run.ts";
import type { Store } from "../store/store.ts";
import type { Holds } from "./schedule/holds.ts";

export type CatchUp = {
  /** Later looks find only changes after this one. */
  begin(): Promise<void>;
  look(): Promise<void>;
};

export type CatchUpDeps = {
  readonly store: Pick<Store, "lastSeq" | "changedElsewhere" | "events">;
  /** The run as another process stored it; undefined when this process knows it already. */
  readonly reload: (runId: string) => Promise<Run | undefined>;
  readonly onChanged: (run: Run) => Promise<void>;
  /** A person may lift one by a command. */
  readonly holds: Pick<Holds, "load" | "size">;
};

const PAGE = 500;

export function createCatchUp({ store, reload, onChanged, holds }: CatchUpDeps): CatchUp {
  let seenSeq = 0;

  async function changedRuns(): Promise<ReadonlySet<string>> {
    const changed = new Set<string>();
    for (;;) {
      const events = await store.events({ after: seenSeq, limit: PAGE });
      for (const { runId, seq } of events) {
        changed.add(runId);
        seenSeq = seq;
      }
      if (events.length < PAGE) return changed;
    }
  }

  return {
    async begin() {
      seenSeq = await store.lastSeq();
      await holds.load();
    },
    async look() {
      if (holds.size > 0) await holds.load();
      if (!(await store.changedElsewhere())) return;
      for (const runId of await changedRuns()) {
        const run = await reload(runId);
        if (run !== undefined) await onChanged(run);
      }
    },
  };
}
