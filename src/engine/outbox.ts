// Performs the commands that the store holds, in order, beside everything else. A command that fails stays for the next time.

import type { Command } from "../core/run/command.ts";
import type { Store, WorkRecord } from "../store/store.ts";

export type OutboxOptions = {
  readonly store: Pick<Store, "pendingWork" | "settleWork">;
  readonly perform: (runId: string, command: Command) => Promise<void>;
  readonly onError: (runId: string | null, error: unknown) => void;
};

export type Outbox = {
  /** Performs the pending commands, and those that become pending meanwhile. Calling it while it works is fine. */
  perform(): Promise<void>;
  /** Stops after the current commands. */
  stop(): void;
};

export function createOutbox({ store, perform, onError }: OutboxOptions): Outbox {
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
    },
  };

  /** `state` changes during every await; the compiler believes the last assignment. */
  function isState(asked: typeof state): boolean {
    return state === asked;
  }

  async function performPending(): Promise<void> {
    try {
      const settling: Promise<void>[] = [];
      for (const work of await store.pendingWork()) {
        if (await performOne(work)) settling.push(settle(work));
      }
      // Before the next look, which would otherwise find the same work again.
      await Promise.all(settling);
    } catch (error) {
      onError(null, error);
    }
  }

  async function performOne({ runId, command }: WorkRecord): Promise<boolean> {
    try {
      await perform(runId, command);
      return true;
    } catch (error) {
      onError(runId, error);
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
