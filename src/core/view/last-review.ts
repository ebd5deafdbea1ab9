// The commit of a person's last decision at a gate or an escalation. The next decision is about the changes since.

import type { RunEvent } from "../run/event.ts";

export type LastReview = {
  readonly commit: string;
  /** ISO 8601, UTC. */
  readonly at: string;
};

/** An attempt that ended, with its last commit. */
type Committed = { readonly endedAt: string | null; readonly to: string | null };

/** Null if the person has decided nothing about work. `events`: of one run; `attempts`: oldest first. */
export function lastReview(
  events: readonly RunEvent[],
  attempts: readonly Committed[],
  person: string,
): LastReview | null {
  const decided = events.findLast(
    (event) => event.actor === person && (event.type === "gate.answered" || event.type === "escalation.resolved"),
  );
  if (decided === undefined) return null;
  const { at } = decided;
  // An escalation records no commit: the person saw what the attempts had committed by then.
  const recorded = decided.type === "gate.answered" ? decided.commit : undefined;
  const commit = recorded ?? attempts.findLast(({ to, endedAt }) => to !== null && (endedAt ?? "9") <= at)?.to;
  return commit == null ? null : { commit, at };
}
