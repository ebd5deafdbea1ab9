// Work that survives crashes by itself: telling people, and letting go of workspaces. It lies in the store until it is done; what fails
// stays for the next look.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ResolvedFlow } from "../core/agent.ts";
import type { Run } from "../core/run.ts";
import type { Notifier } from "../notify/notify.ts";
import type { AttemptRecord, Store, WorkRecord } from "../store/store.ts";
import type { Workspace, WorkspaceMode, Workspaces } from "../workspace/workspace.ts";
import { branchOf } from "./branch.ts";
import { failpoint } from "./failpoint.ts";
import { projectOf, workspaceMode } from "./run-settings.ts";

export type OutboxOptions = {
  readonly store: Store;
  readonly notifier: Notifier | null;
  readonly workspaces: (mode: WorkspaceMode) => Workspaces;
  readonly home: string;
  readonly loadRun: (runId: string) => Promise<Run | undefined>;
  readonly flowOf: (hash: string) => Promise<ResolvedFlow>;
  /** Resolves when no attempt of the run works any more. */
  readonly attemptsEnded: (runId: string) => Promise<unknown>;
  /** The workspace is gone: others may have its branch. */
  readonly onReleased: (runId: string) => void;
  readonly onError: (runId: string, error: unknown) => void;
};

export type Outbox = {
  /** Does what is pending, and what becomes pending meanwhile. Calling it while it works is fine. */
  perform(): Promise<void>;
  /** After the piece of work at hand. */
  stop(): void;
};

export function createOutbox(options: OutboxOptions): Outbox {
  const { store } = options;
  let working = false;
  let wanted = false;
  let stopped = false;

  return {
    async perform() {
      wanted = true;
      if (working || stopped) return;
      working = true;
      try {
        while (wanted && !stopped) {
          wanted = false;
          const settling: Promise<void>[] = [];
          for (const work of await store.pendingWork()) {
            if (await performOne(work)) settling.push(settle(work));
          }
          // Before the next look, which would otherwise find the same work again.
          await Promise.all(settling);
        }
      } catch (error) {
        options.onError("", error);
      } finally {
        working = false;
      }
    },
    stop() {
      stopped = true;
    },
  };

  /** Whether it is done; what is not stays for the next look. */
  async function performOne({ runId, command }: WorkRecord): Promise<boolean> {
    try {
      if (command.type === "notify") {
        const { to, event } = command;
        const item = command.item === null ? null : `${runId}.${command.item}`;
        await options.notifier?.notify({ runId, to, event, text: `${await subjectOf(runId)}${command.text}`, item });
        failpoint("notify-sent");
      } else if (command.type === "release-workspace") {
        await releaseWorkspace(runId);
        failpoint("workspace-released");
      }
      return true;
    } catch (error) {
      options.onError(runId, error);
      return false;
    }
  }

  /** Not waited for before the next piece of work, so that many share one transaction. */
  async function settle({ id, runId }: WorkRecord): Promise<void> {
    try {
      await store.settleWork(id);
    } catch (error) {
      options.onError(runId, error);
    }
  }

  /** A message is read away from the board: it names the ticket. */
  async function subjectOf(runId: string): Promise<string> {
    const run = await options.loadRun(runId);
    return run === undefined ? "" : `${run.subject.id}: `;
  }

  async function releaseWorkspace(runId: string): Promise<void> {
    const run = await options.loadRun(runId);
    if (run === undefined) return;
    // The last attempt of a canceled run may still be ending in there.
    await options.attemptsEnded(runId);
    const resolved = await options.flowOf(run.flowHash);
    if (workspaceMode(resolved, run) === "worktree" && resolved.flow.workspace.delete !== "never")
      await closeWorktree(resolved, run);
    options.onReleased(runId);
  }

  async function closeWorktree(resolved: ResolvedFlow, run: Run): Promise<void> {
    // Never opened, or released before a crash: nothing to pin and nothing to remove.
    if (!existsSync(join(options.home, "worktrees", run.id))) return;
    const workspaces = options.workspaces("worktree");
    const workspace = workspaceIn(await store.attempts(run.id)) ?? (await leftWorkspace(workspaces, resolved, run));
    const closed = await workspaces.close(workspace, run.id);
    if (!closed.ok) throw new Error(closed.error.message);
  }

  /** An attempt notes its workspace when its program has ended; one that never came so far may still have opened it. */
  async function leftWorkspace(workspaces: Workspaces, resolved: ResolvedFlow, run: Run): Promise<Workspace> {
    const branch = branchOf(resolved.flow, run);
    const opened = await workspaces.open({ runId: run.id, project: projectOf(run), branch });
    if (!opened.ok) throw new Error(opened.error.message);
    return opened.value;
  }
}

/** Where the last attempt that told so has worked. */
function workspaceIn(records: readonly AttemptRecord[]): Workspace | undefined {
  const facts = records.findLast((record) => typeof record.facts["workspace"] === "string")?.facts;
  if (typeof facts?.["workspace"] !== "string") return undefined;
  const branch = typeof facts["branch"] === "string" ? { branch: facts["branch"] } : {};
  const repository = typeof facts["repository"] === "string" ? { repository: facts["repository"] } : {};
  return { mode: "worktree", dir: facts["workspace"], lockKeys: [], ...branch, ...repository };
}
