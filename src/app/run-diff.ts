// The committed changes of a run: from the commit where its first attempt began to the head of its branch, or to its last commit where the
// branch is gone; or only those since a commit that a person has looked at. Null where there is nothing to compare.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { JsonObject } from "../core/json.ts";
import type { Actor } from "../core/run/event.ts";
import { type LastReview, lastReview } from "../core/view/last-review.ts";
import { type DiffStat, type Readable, statOfDiff } from "../file/diff-stat.ts";
import type { Store } from "../store/store.ts";
import { allEvents } from "./find-run.ts";

type Attempt = { readonly facts: JsonObject; readonly endedAt: string | null };

export type DiffLook = {
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
  /** The head of the branch; null if there is none. */
  readonly head: string | null;
  /** Only what changed since this commit. */
  readonly since?: string | undefined;
  /** The changes between two commits, without secrets. */
  readonly diff: (from: string, to: string) => Promise<string>;
};

export type RunDiff = {
  readonly from: string;
  readonly to: string;
  readonly bytes: Buffer;
  readonly stat: DiffStat;
};

export async function diffOfRun({ attempts, head, since, diff }: DiffLook): Promise<RunDiff | null> {
  const { first, last } = commitsOf(attempts);
  const from = since ?? first;
  const to = head ?? last;
  if (from === null || to === null || from === to) return null;
  const bytes = Buffer.from(await diff(from, to));
  return { from, to, bytes, stat: await statOfDiff(readable(bytes)) };
}

/** The commit that the person looked at last; null if that was before the first change. */
export async function reviewOf(
  store: Store,
  run: string,
  attempts: readonly Attempt[],
  person: Actor,
): Promise<LastReview | null> {
  const committed = attempts.map((each) => ({ endedAt: each.endedAt, to: attemptFacts(each).to }));
  const review = lastReview(await allEvents(store, run), committed, person);
  return review === null || review.commit === commitsOf(attempts).first ? null : review;
}

function commitsOf(attempts: readonly Attempt[]): { readonly first: string | null; readonly last: string | null } {
  const facts = attempts.map(attemptFacts);
  return {
    first: facts.find((each) => each.from !== null)?.from ?? null,
    last: facts.findLast((each) => each.to !== null)?.to ?? null,
  };
}

function readable(bytes: Buffer): Readable {
  return {
    read: async (piece, offset, length, position) => ({
      bytesRead: bytes.copy(piece, offset, position, Math.min(bytes.length, position + length)),
    }),
  };
}
