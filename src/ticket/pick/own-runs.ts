// The runs of one project's ticket, newest first. Ids of tickets are the project's own: another project in the same store has an AGI-1 too.

import type { Run } from "../../core/run/run.ts";
import { factOf } from "../../core/run/sequence.ts";
import type { Store } from "../../store/store.ts";

export async function ownRuns(store: Store, project: string, id: string): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (const summary of await store.runsOf(id)) {
    const run = (await store.loadRun(summary.id))?.run;
    if (run === undefined) continue;
    const own = factOf(run, ["ticket", "project"]) ?? factOf(run, ["config", "project"]);
    if (own === project) runs.push(run);
  }
  return runs;
}
