// What an attempt had used when it was cut off: the most that its records, its carrier or the session file of the vendor tell. Without it
// its reservation would stay booked, and a resumed session would be paid for twice in the books.

import type { ReportedUsage } from "../core/budget/budget.ts";
import { largerUsage, type Usage, usageSince } from "../core/budget/usage.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import { runnerLadder } from "../core/flow/runner-choice.ts";
import type { JsonObject } from "../core/json.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import type { Runners } from "../runner/runners.ts";
import { sessionUsage } from "../runner/session-usage.ts";
import type { PrivateFolders, Workspaces } from "../workspace/workspace.ts";

export type CutOffAttempt = { readonly stage: string; readonly track: string; readonly facts: JsonObject };

export type SessionSources = {
  readonly runners: Pick<Runners, "runnerFor">;
  readonly workspaces: (mode: WorkspaceMode) => Workspaces;
};

/** `told`: the last that its process reported. Undefined where nobody tells anything. */
export async function interruptedUsage(
  sources: SessionSources,
  resolved: ResolvedFlow,
  run: Run,
  record: CutOffAttempt,
  told?: ReportedUsage,
): Promise<ReportedUsage | undefined> {
  const { runner, model, session, sessionBefore, usage } = attemptFacts(record);
  const stage = findWork(resolved.flow, run, record.track, record.stage);
  const ladder = stage === undefined ? [] : runnerLadder(resolved, run.facts, stage);
  const play = ladder.find((choice) => choice.runner === runner);
  if (runner === null) return told;
  let inFile: Usage | null = null;
  // Settings may have changed since: another program's files say nothing of this attempt.
  if (session !== null && play !== undefined && runner !== "command" && runner !== "outside") {
    const { environment: env } = sources.runners.runnerFor(play);
    for (const confined of await homesOf(sources.workspaces(workspaceMode(resolved, run)), run))
      inFile ??= sessionUsage(play.runner, session.id, { env, cwd: projectOf(run), confined });
  }
  const seen = [told?.usage ?? null, usage, inFile === null ? null : usageSince(inFile, sessionBefore)];
  const most = seen.reduce((one, other) => (one === null || other === null ? (one ?? other) : largerUsage(one, other)));
  return most === null ? undefined : { runner, model: told?.model ?? model, usage: most };
}

/** The homes of its sandboxes, one of which has the session; without a sandbox only the user's own, which is undefined here. */
async function homesOf(workspaces: Workspaces, run: Run): Promise<readonly (PrivateFolders | undefined)[]> {
  const { privateFolders } = workspaces;
  if (privateFolders === undefined) return [undefined];
  return Promise.all(((await workspaces.left?.(run.id)) ?? []).map((workspace) => privateFolders(workspace)));
}
