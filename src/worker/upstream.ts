// The messages of a worker about one claim, in order, until the node has them. Messages are numbered; a restarted node
// counts from one, and gets the unconfirmed messages again. A message is made when it is sent, so that large files are
// not held.

import { setTimeout as delay } from "node:timers/promises";
import type { FromWorker } from "../core/worker/wire.ts";
import type { ApiProblem } from "../http/client/answer.ts";
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

type State = UpstreamOptions & {
  node: string;
  waiting: readonly Item[];
  /** Confirmed, and wanted again by a node that has not seen the end. */
  kept: readonly Item[];
  from: number;
  isClosed: boolean;
  isSending: boolean;
  flushes: readonly PromiseWithResolvers<void>[];
};

const BATCH_CHARS = 640 * 1024;
const BATCH_ITEMS = 200;
const RETRY_MS = 300;

export function createUpstream(options: UpstreamOptions): Upstream {
  const state: State = { ...options, waiting: [], kept: [], from: 1, isClosed: false, isSending: false, flushes: [] };
  return {
    push(message, { keep } = { keep: false }) {
      if (state.isClosed) return;
      state.waiting = [...state.waiting, { make: typeof message === "function" ? message : () => message, keep }];
      kick(state);
    },
    flushed() {
      if (state.isClosed) return Promise.reject(new Error(NO_LONGER_GOOD));
      const flush = Promise.withResolvers<void>();
      state.flushes = [...state.flushes, flush];
      settle(state);
      return flush.promise;
    },
    get length() {
      return state.waiting.length;
    },
    turnTo(next, again) {
      if (next === state.node) return;
      const repeated = again.map((message): Item => ({ make: () => message, keep: false }));
      Object.assign(state, { node: next, from: 1, waiting: [...repeated, ...state.kept, ...state.waiting], kept: [] });
      kick(state);
    },
    close: () => close(state),
  };
}

const NO_LONGER_GOOD = "the claim is no longer good";

function close(state: State): void {
  state.isClosed = true;
  for (const each of state.flushes) each.reject(new Error(NO_LONGER_GOOD));
  state.flushes = [];
}

function settle(state: State): void {
  if (state.waiting.length > 0) return;
  for (const each of state.flushes) each.resolve();
  state.flushes = [];
}

function kick(state: State): void {
  if (state.isSending || state.isClosed) return;
  state.isSending = true;
  void send(state).finally(() => {
    state.isSending = false;
    if (state.waiting.length > 0) kick(state);
  });
}

async function send(state: State): Promise<void> {
  const { link, claim, instance } = state;
  while (state.waiting.length > 0 && !state.isClosed) {
    const { count, messages } = batchOf(state.waiting);
    const { node, from } = state;
    const sent = messages.length === 0 ? undefined : await link.deliver(claim, { instance, node, from, messages });
    // Meanwhile the claim was lost, or another node has begun to count.
    if (state.isClosed || node !== state.node) continue;
    if (sent?.ok === false && isRefused(sent.error)) {
      close(state);
      return state.onLost(sent.error.detail);
    }
    const taken = sent === undefined ? from - 1 : sent.ok ? sent.value : null;
    // Not reached, or stopped in the middle: the same numbers again. Those that the node has change nothing.
    if (taken === null || taken < from + messages.length - 1) {
      await delay(RETRY_MS);
      continue;
    }
    state.kept = [...state.kept, ...state.waiting.slice(0, count).filter(({ keep }) => keep)];
    state.waiting = state.waiting.slice(count);
    state.from = taken + 1;
    settle(state);
  }
}

function isRefused({ code, status }: ApiProblem): boolean {
  return code === "claim_lost" || status === 401 || status === 422;
}

function batchOf(waiting: readonly Item[]): { readonly count: number; readonly messages: readonly FromWorker[] } {
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
  return { count, messages };
}
