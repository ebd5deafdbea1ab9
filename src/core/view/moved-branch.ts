// Whether a run's branch has moved after its last stage: then the commits that a person decides about are not those that the stages
// judged.

import { attemptFacts } from "../attempt-facts.ts";
import type { WorkedAttempt } from "./work-lines.ts";

/** `from`: the commit that the last attempt left. */
export type MovedBranch = { readonly branch: string; readonly from: string; readonly to: string };

/** `attempts`: oldest first. `head`: the commit of the branch now; null without one. */
export function movedBranch(
  attempts: readonly Pick<WorkedAttempt, "facts">[],
  branch: string,
  head: string | null,
): MovedBranch | null {
  const last = attempts.at(-1);
  if (last === undefined || head === null) return null;
  const facts = attemptFacts(last);
  const from = facts.to ?? facts.from;
  // Only an attempt on this very branch records where it left it.
  return facts.branch !== branch || from === null || from === head ? null : { branch, from, to: head };
}
