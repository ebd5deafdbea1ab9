// One claim: a worker's right to carry out one attempt. It is good until it is settled or lost; from then on everything that names it is
// refused. Messages go both ways by number, so that a repeated request changes nothing.

import type { FromWorker } from "../core/worker/wire.ts";
import type { Numbered, ToWorker } from "./messages.ts";

export type ClaimEnd = { readonly type: "lost"; readonly why: string } | { readonly type: "settled" };

export type WorkClaim = {
  readonly id: string;
  readonly worker: string;
  readonly key: string;
  /** Queues a message for the worker. */
  send(message: ToWorker): void;
  /** What the worker has not confirmed; those up to `seen` are forgotten. */
  unseen(seen: number): readonly Numbered[];
  /** Applies messages in order, each once; returns the number of the last one. */
  take(from: number, messages: readonly FromWorker[]): Promise<number>;
  /** The function that applies the messages; without one they wait with their sender. */
  serve(apply: ((message: FromWorker) => Promise<void>) | undefined): void;
  readonly isServed: boolean;
  end(how: ClaimEnd): void;
  readonly ended: Promise<ClaimEnd>;
  readonly isOver: boolean;
};

export type ClaimHooks = {
  /** There is a message for the worker. */
  readonly onSend: () => void;
  /** Its agent has ended: the report is being taken. */
  readonly onReport: () => void;
};

export function createClaim(
  identity: Pick<WorkClaim, "id" | "worker" | "key">,
  { onSend, onReport }: ClaimHooks,
): WorkClaim {
  const end = Promise.withResolvers<ClaimEnd>();
  const down: { queued: readonly Numbered[]; last: number } = { queued: [], last: 0 };
  let taken = 0;
  let apply: ((message: FromWorker) => Promise<void>) | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let isOver = false;

  async function takeNow(from: number, messages: readonly FromWorker[]): Promise<number> {
    for (const [index, message] of messages.entries()) {
      if (isOver || apply === undefined) break;
      // One that was applied already, and whose answer was lost; or one behind a gap.
      if (from + index !== taken + 1) continue;
      if (message.type === "report") onReport();
      await apply(message);
      taken += 1;
    }
    return taken;
  }

  return {
    ...identity,
    send(message) {
      down.last += 1;
      down.queued = [...down.queued, { n: down.last, message }];
      onSend();
    },
    unseen(seen) {
      down.queued = down.queued.filter(({ n }) => n > seen);
      return down.queued;
    },
    take(from, messages) {
      const done = turn.then(() => takeNow(from, messages));
      turn = done.catch(() => undefined);
      return done;
    },
    serve: (next) => void (apply = next),
    get isServed() {
      return apply !== undefined;
    },
    end(how) {
      isOver = true;
      end.resolve(how);
    },
    ended: end.promise,
    get isOver() {
      return isOver;
    },
  };
}
