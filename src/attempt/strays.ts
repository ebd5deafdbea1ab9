// Processes that escaped from an attempt: orphans that work in its folder and can no longer be told to be its own. The attempt has failed,
// whatever it says, and nothing else works in the workspace while one of them lives.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { JsonObject } from "../core/json.ts";
import { isAlive } from "../runner/process/process-table.ts";
import type { Stray } from "../runner/runner.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";

const NAMED = 5;

/** Its work may still change under the hands of whoever looks at it. */
export function escapedReport(report: Report, strays: readonly Stray[]): Report {
  if (strays.length === 0) return report;
  const reason = `it left processes in its folder that Passrail cannot end for certain: ${named(strays)}. Look at them, end them with kill, then retry the stage.`;
  return { ...report, cause: "process_escaped", reason };
}

export function strayFacts(strays: readonly Stray[]): JsonObject {
  return { strays: strays.map((stray) => ({ ...stray })) };
}

/** Why nothing may work in the workspaces of this run now; undefined where nothing is in the way. */
export function quarantine(attempts: readonly EarlierAttempt[]): Report | undefined {
  const living = attempts.flatMap((record) =>
    attemptFacts(record)
      .strays.filter((stray) => isAlive(stray))
      .map((stray) => ({ record, stray })),
  );
  const [first] = living;
  if (first === undefined) return undefined;
  const { stage, attempt } = first.record;
  const reason = `${stage}, attempt ${attempt}, left processes that still work in this run's folder: ${named(living.map(({ stray }) => stray))}. End them with kill, then retry.`;
  return { cause: "workspace_quarantined", reason };
}

/** Commits that nobody of Passrail made: after the end of the last attempt, if that one left processes. */
export function lateCommits(attempts: readonly EarlierAttempt[], head: string | null): readonly string[] {
  // One that was kept out has no commit of its own.
  const last = attempts.findLast((record) => record.status === "done" && attemptFacts(record).to !== null);
  const { strays, to } = last === undefined ? { strays: [], to: null } : attemptFacts(last);
  if (last === undefined || strays.length === 0 || to === null || head === null || to === head) return [];
  return [
    `commits_after_the_end: the branch moved from ${to} to ${head} after ${last.stage}, attempt ${last.attempt}, had ended and left processes: git diff ${to}..${head} shows what came`,
  ];
}

function named(strays: readonly Stray[]): string {
  const shown = strays.slice(0, NAMED).map(({ pid, name }) => `${pid} (${name})`);
  return strays.length > NAMED ? `${shown.join(", ")} and ${strays.length - NAMED} more` : shown.join(", ");
}
