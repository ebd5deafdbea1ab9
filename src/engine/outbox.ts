// Work that survives crashes by itself: telling people, and letting go of workspaces. It lies in the store until it is done; what fails
// stays for the next look.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Run } from "../core/run/run.ts";
import type { Notifier } from "../notify/notify.ts";
import type { Store, WorkRecord } from "../store/store.ts";
import { failpoint } from "../attempt/failpoint.ts";

export type OutboxOptions = {
  readonly store: Store;
  readonly notifier: Notifier | null;
  /** Closes what the run has left; throws where that is to be tried again. */
  readonly release: (resolved: ResolvedFlow, run: Run) => Promise<void>;
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
    await options.release(await options.flowOf(run.flowHash), run);
    options.onReleased(runId);
  }
}
