// All committed changes of a run: from the commit where its first attempt began to the head of its branch, or to its last commit where the
// branch is gone. Null where there is nothing to compare.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { JsonObject } from "../core/json.ts";
import { type DiffStat, type Readable, statOfDiff } from "../file/diff-stat.ts";

export type DiffLook = {
  /** Oldest first. */
  readonly attempts: readonly { readonly facts: JsonObject }[];
  /** The head of the branch; null if there is none. */
  readonly head: string | null;
  /** The changes between two commits, without secrets. */
  readonly diff: (from: string, to: string) => Promise<string>;
};

export type RunDiff = {
  readonly from: string;
  readonly to: string;
  readonly bytes: Buffer;
  readonly stat: DiffStat;
};

export async function diffOfRun({ attempts, head, diff }: DiffLook): Promise<RunDiff | null> {
  const facts = attempts.map(attemptFacts);
  const from = facts.find((each) => each.from !== null)?.from ?? null;
  const to = head ?? facts.findLast((each) => each.to !== null)?.to ?? null;
  if (from === null || to === null || from === to) return null;
  const bytes = Buffer.from(await diff(from, to));
  return { from, to, bytes, stat: await statOfDiff(readable(bytes)) };
}

function readable(bytes: Buffer): Readable {
  return {
    read: async (piece, offset, length, position) => ({
      bytesRead: bytes.copy(piece, offset, position, Math.min(bytes.length, position + length)),
    }),
  };
}
