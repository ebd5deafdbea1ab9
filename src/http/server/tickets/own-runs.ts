// The runs of a ticket. Ticket ids are unique only within a project: another project in the same store may have an AGI-1 too, and its runs
// are not about this file.

import { ticketProject } from "../../../core/run/facts.ts";
import type { PlannedTicket } from "../../../core/ticket/plan.ts";
import type { Store, SubjectRecord } from "../../../store/store.ts";
import type { ServerDeps } from "../deps.ts";

export type RunDeps = {
  readonly store: Pick<Store, "listSubjects" | "loadRun">;
  readonly tickets?: ServerDeps["tickets"];
};

/** Undefined without one. */
export async function runsOfTicket(
  { store, tickets }: RunDeps,
  id: string,
  file: PlannedTicket | undefined,
): Promise<SubjectRecord | undefined> {
  const [found] = await store.listSubjects({ id, limit: 1 });
  if (found === undefined || file === undefined || tickets === undefined) return found;
  const run = (await store.loadRun(found.newest.id))?.run;
  if (run === undefined) return undefined;
  const project = ticketProject(run);
  return project === null || project === tickets.project ? found : undefined;
}
