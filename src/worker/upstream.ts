// What a worker says about one claim, in order, until the node has it. Messages are numbered; a node that was started again begins to
// count at one, and gets again what the earlier one did not confirm. A message is made when it is sent, so that large files are not held.

import { setTimeout as delay } from "node:timers/promises";
import type { FromWorker } from "../core/worker/wire.ts";
import type { NodeLink } from "./node-link.ts";

export type Upstream = {
  push(message: FromWorker | (() => FromWorker | null), how?: { readonly keep: boolean }): void;
  /** Resolves when the node has everything that was pushed so far; rejects if the claim is lost. */
  flushed(): Promise<void>;
  readonly length: number;
  /** Another process is the node now; `again` are said first. */
  turnTo(node: string, again: readonly FromWorker[]): void;
  /** Sends nothing more. */
  close(): void;
};

export type UpstreamOptions = {
  readonly link: Pick<NodeLink, "deliver">;
  readonly claim: string;
  readonly instance: string;
  readonly node: string;
  readonly onLost: (why: string) => void;
};

type Item = { readonly make: () => FromWorker | null; readonly keep: boolean };

const BATCH_CHARS = 640 * 1024;
const BATCH_ITEMS = 200;
const RETRY_MS = 300;

export function createUpstream({ link, claim, instance, onLost, ...first }: UpstreamOptions): Upstream {
  let { node } = first;
  let waiting: readonly Item[] = [];
  /** Confirmed, and wanted again by a node that has not seen the end. */
  let kept: readonly Item[] = [];
  let from = 1;
  let isClosed = false;
  let isSending = false;
  let flushes: readonly PromiseWithResolvers<void>[] = [];

  function settle(): void {
    if (waiting.length > 0) return;
    for (const each of flushes) each.resolve();
    flushes = [];
  }

  function close(): void {
    isClosed = true;
    for (const each of flushes) each.reject(new Error("the claim is no longer good"));
    flushes = [];
  }

  function batch(): { readonly items: readonly Item[]; readonly messages: readonly FromWorker[] } {
    const messages: FromWorker[] = [];
    let chars = 0;
    let count = 0;
    for (const item of waiting.slice(0, BATCH_ITEMS)) {
      const message = item.make();
      const size = message === null ? 0 : JSON.stringify(message).length;
      if (count > 0 && chars + size > BATCH_CHARS) break;
      count += 1;
      chars += size;
      if (message !== null) messages.push(message);
    }
    return { items: waiting.slice(0, count), messages };
  }

  async function send(): Promise<void> {
    while (waiting.length > 0 && !isClosed) {
      const { items, messages } = batch();
      const to = node;
      const sent = messages.length === 0 ? undefined : await link.deliver(claim, { instance, node, from, messages });
      if (isClosed) return;
      // Meanwhile another node has begun to count.
      if (to !== node) continue;
      if (sent?.ok === false) {
        if (sent.error.code === "claim_lost" || sent.error.status === 401 || sent.error.status === 422) {
          close();
          return onLost(sent.error.detail);
        }
        await delay(RETRY_MS);
        continue;
      }
      const taken = sent === undefined ? from - 1 : sent.value;
      if (taken < from + messages.length - 1) {
        // The node stopped in the middle: the same numbers again, those that it has change nothing.
        await delay(RETRY_MS);
        continue;
      }
      from = taken + 1;
      waiting = waiting.slice(items.length);
      kept = [...kept, ...items.filter(({ keep }) => keep)];
      settle();
    }
  }

  function kick(): void {
    if (isSending || isClosed) return;
    isSending = true;
    void send().finally(() => {
      isSending = false;
      if (waiting.length > 0 && !isClosed) kick();
    });
  }

  return {
    push(message, { keep } = { keep: false }) {
      if (isClosed) return;
      waiting = [...waiting, { make: typeof message === "function" ? message : () => message, keep }];
      kick();
    },
    flushed() {
      if (isClosed) return Promise.reject(new Error("the claim is no longer good"));
      const flush = Promise.withResolvers<void>();
      flushes = [...flushes, flush];
      settle();
      return flush.promise;
    },
    get length() {
      return waiting.length;
    },
    turnTo(next, again) {
      if (next === node) return;
      node = next;
      from = 1;
      waiting = [...again.map((message): Item => ({ make: () => message, keep: false })), ...kept, ...waiting];
      kept = [];
      kick();
    },
    close,
  };
}
