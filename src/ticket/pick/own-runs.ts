// The runs of one project's ticket, newest first. Ids of tickets are the project's own: another project in the same store has an AGI-1 too.

import { runFacts, ticketProject } from "../../core/run/facts.ts";
import type { Run } from "../../core/run/run.ts";
import type { Store } from "../../store/store.ts";

/** Works on the ticket, which a run that only lands the finished work of another one does not. */
export function worksOnTicket(run: Run): boolean {
  return runFacts(run).land.run === null;
}

export async function ownRuns(store: Store, project: string, id: string): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (const summary of await store.runsOf(id)) {
    const run = (await store.loadRun(summary.id))?.run;
    if (run === undefined) continue;
    if (ticketProject(run) === project) runs.push(run);
  }
  return runs;
}
