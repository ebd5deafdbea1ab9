// Performs the commands that the store holds, in order, beside everything else. A command that fails stays, and is performed again after
// a pause that grows.

import type { Store, WorkRecord } from "../store/store.ts";

export type OutboxOptions = {
  readonly store: Pick<Store, "pendingWork" | "settleWork">;
  /** False: not now. */
  readonly perform: (work: Pick<WorkRecord, "id" | "runId" | "command">) => Promise<boolean>;
  /** Time to try the commands again that are left. */
  readonly onRetry: () => void;
  readonly onError: (runId: string | null, error: unknown) => void;
};

export type Outbox = {
  /** Performs the pending commands, and those that become pending meanwhile. Calling it while it works is fine. */
  perform(): Promise<void>;
  /** Stops after the current commands. */
  stop(): void;
};

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

export function createOutbox({ store, perform, onRetry, onError }: OutboxOptions): Outbox {
  let retry: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let state: "waiting" | "working" | "asked again" | "stopped" = "waiting";

  return {
    async perform() {
      if (state === "working") state = "asked again";
      if (state !== "waiting") return;
      do {
        state = "working";
        await performPending();
      } while (isState("asked again"));
      if (!isState("stopped")) state = "waiting";
    },
    stop() {
      state = "stopped";
      clearTimeout(retry);
    },
  };

  /** `state` changes during every await; the compiler believes the last assignment. */
  function isState(asked: typeof state): boolean {
    return state === asked;
  }

  async function performPending(): Promise<void> {
    try {
      const settling: Promise<void>[] = [];
      const pending = await store.pendingWork();
      for (const work of pending) {
        if (await performOne(work)) settling.push(settle(work));
      }
      retryLater(pending.length > settling.length);
      // Before the next look, which would otherwise find the same work again.
      await Promise.all(settling);
    } catch (error) {
      onError(null, error);
    }
  }

  function retryLater(isLeft: boolean): void {
    clearTimeout(retry);
    pauseMs = isLeft ? Math.min(pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    if (isLeft && !isState("stopped")) retry = setTimeout(onRetry, pauseMs).unref();
  }

  async function performOne(work: WorkRecord): Promise<boolean> {
    try {
      return await perform(work);
    } catch (error) {
      onError(work.runId, error);
      return false;
    }
  }

  /** Not awaited before the next command, so that many share one transaction. */
  async function settle({ id, runId }: WorkRecord): Promise<void> {
    try {
      await store.settleWork(id);
    } catch (error) {
      onError(runId, error);
    }
  }
}
