// After a merge: removes the branches of finished tickets, if the settings ask for it. A branch that other open tickets work on stays.

import { runFacts, ticketProject } from "../../core/run/facts.ts";
import type { Result } from "../../core/result.ts";
import { branchName } from "../../core/ticket/plan.ts";
import { isOver } from "../../core/ticket/status.ts";
import { projectOf } from "../../core/run/run-settings.ts";
import type { Forge } from "../../forge/forge.ts";
import type { Store } from "../../store/store.ts";
import type { TicketFolder } from "../file/folder.ts";
import { removeLanded } from "./branches.ts";
import { landedRecord } from "../../core/ticket/landed.ts";

export type CleanupOptions = {
  readonly store: Pick<Store, "listRuns" | "loadRun" | "attempts">;
  readonly forgeOf: (project: string) => Promise<Result<Forge>>;
  readonly folderOf: (project: string) => Promise<TicketFolder>;
  readonly onProblem: (runId: string, error: unknown) => void;
};

const AT_MOST = 50;

/** Checks the last completed runs; each is settled once in the life of this process. */
export function createCleanup({ store, forgeOf, folderOf, onProblem }: CleanupOptions): () => Promise<void> {
  const settled = new Set<string>();
  return async () => {
    for (const { id } of await store.listRuns({ status: "completed", limit: AT_MOST })) {
      if (settled.has(id)) continue;
      try {
        if (await settle(id)) settled.add(id);
      } catch (error) {
        settled.add(id);
        onProblem(id, error);
      }
    }
  };

  async function settle(runId: string): Promise<boolean> {
    const run = (await store.loadRun(runId))?.run;
    const landed = landedRecord(await store.attempts(runId));
    if (run === undefined || landed === undefined) return true;
    const ticketsOf = ticketProject(run);
    if (runFacts(run).ticket.file !== null && ticketsOf !== null) {
      const { tickets } = await (await folderOf(ticketsOf)).scan();
      const isUsed = tickets.some((ticket) => branchName(ticket) === landed.branch && !isOver(ticket.status));
      if (isUsed) return false;
    }
    const forge = await forgeOf(projectOf(run));
    if (!forge.ok) throw new Error(forge.error.message);
    const removed = await removeLanded(forge.value, projectOf(run), runId, landed);
    if (!removed.ok) throw new Error(removed.error.message);
    return removed.value.type !== "later";
  }
}
