// The approved work of a run, and the request that proposed it. Its destination is in core/ticket/landed.ts.

import { attemptFacts } from "../../core/attempt-facts.ts";
import type { Landed } from "../../core/ticket/landed.ts";
import type { PullRequest } from "../../forge/forge.ts";
import type { EarlierAttempt } from "../../attempt/earlier-attempt.ts";

export type Approved = { readonly branch: string; readonly commit: string };

/** The commit at which the run's last agent ended: the one that was judged. */
export function approvedWork(attempts: readonly EarlierAttempt[]): Approved | undefined {
  return attempts
    .filter(({ status }) => status === "done")
    .toSorted((one, other) => ((one.endedAt ?? "") < (other.endedAt ?? "") ? -1 : 1))
    .map(attemptFacts)
    .flatMap(({ branch, to }) => (branch === null || to === null ? [] : [{ branch, commit: to }]))
    .at(-1);
}

export function requestOf(landed: Landed): PullRequest {
  const { branch, target, approved, pr } = landed;
  return { number: pr?.number ?? null, url: pr?.url ?? null, branch, target, commit: approved };
}
