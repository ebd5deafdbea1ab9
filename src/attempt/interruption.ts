// The attempts of a stage that were cut off right before this one: by a crash, a kill, a restart of the machine. This one goes on with
// their session where the vendor still has it, and is told what Passrail finds in the work tree.

import { type AttemptFacts, attemptFacts } from "../core/attempt-facts.ts";
import { diffStat } from "../core/prompt/diff-stat.ts";
import { OVER_BUDGET } from "../core/run/spending.ts";
import type { InterruptedWork } from "../core/prompt/interrupted.ts";
import type { Session } from "../runner/runner.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";

/** A session that was cut off so often in a row may be what ends its process: then a new one begins. */
const MOST_RESUMPTIONS = 3;

type CutOff = { readonly attempt: number; readonly facts: AttemptFacts };

/** Undefined where none of them was about to start its program: then nothing is half done. */
export async function interruptedWork(
  job: Pick<AttemptJob, "stage" | "attempt">,
  { workspaces, runners }: Pick<AttemptPorts, "workspaces" | "runners">,
  workspace: Workspace,
  attempts: readonly EarlierAttempt[],
): Promise<InterruptedWork | undefined> {
  const cut = cutOff({ stage: job.stage.id, attempt: job.attempt }, attempts);
  const [first] = cut;
  if (first === undefined) return undefined;
  const { from } = first.facts;
  const numbers = cut.map(({ attempt }) => attempt);
  if (from === null) return { attempts: numbers, found: null };
  const commits =
    (await workspaces.commits?.(workspace, from))?.length ?? ((await workspaces.head(workspace)) === from ? 0 : "some");
  const stat = runners.redact(diffStat(await workspaces.diff(workspace, from)));
  return { attempts: numbers, found: { from, commits, stat } };
}

/** The first of them: where the work began that this attempt goes on with. */
export function firstCutOff(
  job: Pick<AttemptJob, "stage" | "attempt">,
  attempts: readonly EarlierAttempt[],
): CutOff | undefined {
  return cutOff({ stage: job.stage.id, attempt: job.attempt }, attempts)[0];
}

/** The session that the last of them told, where the same runner played it. */
export function interruptedSession(
  at: { readonly stage: string; readonly attempt: number },
  attempts: readonly EarlierAttempt[],
  runner: string,
): Session | undefined {
  const cut = cutOff(at, attempts);
  if (cut.length > MOST_RESUMPTIONS || cut.at(-1)?.facts.runner !== runner) return undefined;
  return cut.findLast(({ facts }) => facts.session !== null && facts.runner === runner)?.facts.session ?? undefined;
}

/** Oldest first; those that were not about to start a program left nothing. */
function cutOff(
  { stage, attempt }: { readonly stage: string; readonly attempt: number },
  attempts: readonly EarlierAttempt[],
) {
  const own = attempts.filter((each) => each.stage === stage && each.attempt < attempt);
  // A budget that was used up ends a program in the middle of its work as well.
  const last = own.findLastIndex(
    ({ status, outcome }) => status !== "interrupted" && outcome?.["cause"] !== OVER_BUDGET,
  );
  return own.slice(last + 1).flatMap((each): readonly CutOff[] => {
    const facts = attemptFacts(each);
    return facts.runner === null ? [] : [{ attempt: each.attempt, facts }];
  });
}
