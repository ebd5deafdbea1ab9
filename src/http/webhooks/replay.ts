// Remembers the taken deliveries, so that each counts once. An id is under way until its effect is durable, and is remembered only then.
// After a crash in between, the sender's next try counts, and the engine drops signals that it has already applied. The memory is bounded,
// but an entry younger than a day never makes room for a new one.

import { createHash } from "node:crypto";

export type Claim =
  | {
      readonly type: "new";
      /** The effect is durable: every later delivery with one of the keys is a replay. */
      readonly keep: () => void;
      /** It had no effect: the next delivery counts. */
      readonly release: () => void;
    }
  | { readonly type: "seen" }
  | { readonly type: "full" };

export type Replays = {
  /** Waits while the same delivery is under way. */
  claim(source: string, keys: readonly string[]): Promise<Claim>;
  close(): void;
};

export type ReplayOptions = {
  readonly now: () => number;
  /** Maximum number of keys. */
  readonly capacity?: number;
};

export const DAY_MS = 24 * 60 * 60 * 1000;
/** GitHub's deliveries carry no time, so they are remembered longer than necessary. */
export const KEEP_MS = 30 * DAY_MS;
export const DEFAULT_CAPACITY = 50_000;

export type ReplayMemory = {
  /** Digest -> when, oldest first. */
  readonly seen: Map<string, number>;
  /** Makes new digests durable before they count. */
  readonly write: (digests: readonly string[], atMs: number) => void;
  readonly close: () => void;
};

export function replaysOver({ now, capacity = DEFAULT_CAPACITY }: ReplayOptions, memory: ReplayMemory): Replays {
  const { seen } = memory;
  const underWay = new Map<string, Promise<void>>();

  return {
    async claim(source, keys) {
      // Digests have one size and keep the sender's text out of the file.
      const digests = keys.map((key) => createHash("sha256").update(`${source}\n${key}`).digest("base64url"));
      for (;;) {
        forget();
        if (digests.some((digest) => seen.has(digest))) return { type: "seen" };
        const other = digests.map((digest) => underWay.get(digest)).find((found) => found !== undefined);
        if (other === undefined) break;
        await other;
      }
      if (seen.size + underWay.size + digests.length > capacity) return { type: "full" };
      const settled = Promise.withResolvers<void>();
      for (const digest of digests) underWay.set(digest, settled.promise);
      const end = () => {
        for (const digest of digests) underWay.delete(digest);
        settled.resolve();
      };
      return {
        type: "new",
        keep() {
          try {
            const at = now();
            memory.write(digests, at);
            for (const digest of digests) seen.set(digest, at);
          } finally {
            end();
          }
        },
        release: end,
      };
    },
    close: memory.close,
  };

  /** Oldest first: expired ones, and when room is short those older than a day. */
  function forget(): void {
    for (const [digest, at] of seen) {
      const age = now() - at;
      if (age <= DAY_MS || (age <= KEEP_MS && seen.size < capacity * 0.9)) return;
      seen.delete(digest);
    }
  }
}
