// After a merge: removes the branches of finished tickets, if the settings ask for it. A branch that other open tickets work on stays.

import { runFacts, ticketProject } from "../../core/run/facts.ts";
import { err, type Result } from "../../core/result.ts";
import { branchesById } from "../../core/ticket/branches.ts";
import { isOver } from "../../core/ticket/status.ts";
import { projectOf } from "../../core/run/run-settings.ts";
import type { Forge } from "../../forge/forge.ts";
import type { Store } from "../../store/store.ts";
import type { TicketFolder } from "../file/folder.ts";
import { removeLanded } from "./branches.ts";
import { type Landed, landedRecord } from "../../core/ticket/landed.ts";
import { openActs } from "../../core/run/outward.ts";
import type { OutwardIntent, OutwardSight } from "../../core/run/outward-act.ts";
import type { Run } from "../../core/run/run.ts";
import type { SignalBody } from "../../core/run/signal.ts";
import type { Engine } from "../../engine/engine.ts";
import { sightOf } from "./sight.ts";

export type CleanupOptions = {
  readonly store: Pick<Store, "listRuns" | "loadRun" | "attempts">;
  readonly engine: Pick<Engine, "deliver">;
  readonly forgeOf: (project: string) => Promise<Result<Forge>>;
  readonly folderOf: (project: string) => Promise<TicketFolder>;
  /** A branch stays while the approval of the project's files is withdrawn. */
  readonly withdrawnTrust: (run: Run) => string | undefined;
  readonly now: () => number;
  readonly onProblem: (runId: string, error: unknown) => void;
};

const AT_MOST = 50;

/** Checks the last completed runs; each is settled once in the life of this process. */
export function createCleanup(options: CleanupOptions): () => Promise<void> {
  const { store, engine, forgeOf, folderOf, now, onProblem, withdrawnTrust } = options;
  const settled = new Set<string>();
  const record = ({ id }: Run, body: SignalBody, signalId: string) => engine.deliver(id, body, "engine", signalId);
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
    // The branches of several repositories stay: one record cannot say of each that its work is seen in its target.
    if (run === undefined || landed === undefined || landed.repositories !== undefined) return true;
    if (run.imported !== undefined) return true;
    if (withdrawnTrust(run) !== undefined) return false;
    const ticketsOf = ticketProject(run);
    if (runFacts(run).ticket.file !== null && ticketsOf !== null) {
      const { tickets } = await (await folderOf(ticketsOf)).scan();
      const branches = branchesById(tickets);
      const isUsed = tickets.some(({ id, status }) => branches.get(id) === landed.branch && !isOver(status));
      if (isUsed) return false;
    }
    const forge = await forgeOf(projectOf(run));
    if (!forge.ok) throw new Error(forge.error.message);
    const removed = await removeLanded(forge.value, projectOf(run), runId, landed, (remove) =>
      act(run, landed, remove),
    );
    if (!removed.ok) throw new Error(removed.error.message);
    // A dead process may have removed it without a record.
    if (removed.value.type === "removed") await closeLeft(run, landed);
    return removed.value.type !== "later";
  }

  async function closeLeft(run: Run, { approved }: Landed): Promise<void> {
    const left = openActs(run).find(({ verb }) => verb === "delete-branch");
    if (left === undefined) return;
    const sight: OutwardSight = { result: "done", ...sightOf(approved) };
    await record(run, { type: "outward.seen", key: left.key, sight }, `seen:${left.key}`);
  }

  /** An intent that a dead process left open is carried on. */
  async function act(run: Run, landed: Landed, remove: () => Promise<Result<null>>): Promise<Result<null>> {
    const { branch, target, approved: commit } = landed;
    const key = openActs(run).find(({ verb }) => verb === "delete-branch")?.key ?? `delete:${now()}`;
    const intent: OutwardIntent = { key, verb: "delete-branch", branch, target, commit, before: null };
    const body: SignalBody = { type: "outward.intended", stage: "", attempt: 0, ...intent };
    const { ignored, duplicate } = await record(run, body, `intend:${key}`);
    if (ignored !== undefined && !duplicate) return err({ code: "not_wanted", message: ignored });
    const removed = await remove();
    const sight: OutwardSight = removed.ok
      ? { result: "done", ...sightOf(commit) }
      : { result: "not-done", why: removed.error.message };
    await record(run, { type: "outward.seen", key, sight }, `seen:${key}`);
    return removed;
  }
}
