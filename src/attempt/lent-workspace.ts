// The workspace of a stage that a person takes over: lent when its agent is gone, taken back when the person is done. Both acts can be
// repeated after a crash.

import { existsSync } from "node:fs";
import { diffStat } from "../core/prompt/diff-stat.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { HandedBack, LentWorkspace, Returning } from "../core/run/run.ts";
import type { Workspace, Workspaces } from "../workspace/workspace.ts";
import type { AttemptJob } from "./job.ts";
import { commitMessage, openForStage } from "./stage-workspace.ts";
import { workDir } from "./work-dir.ts";

/** The attempt that ended for the person, or that never started. */
export type LentPlace = Pick<AttemptJob, "resolved" | "run" | "track" | "stage" | "attempt" | "project" | "marker">;

type Ports = {
  readonly workspaces: Workspaces;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
};

/** What the agent left uncommitted becomes a commit, so that everything after it is the person's. */
export async function lendWorkspace(place: LentPlace, ports: Ports): Promise<Result<LentWorkspace>> {
  const { workspaces } = ports;
  const opened = await openForStage(place, ports);
  if (!opened.ok) return opened;
  const workspace = opened.value;
  await workspaces.unlock(workspace);
  const dir = workDir(place, workspace);
  if (!dir.ok) return dir;
  const { run, stage, attempt } = place;
  const left = `Left uncommitted by attempt ${attempt} of run ${run.id}, which a person took over.`;
  const committed = await workspaces.commit?.(workspace, commitMessage(run, `${stage.id} (taken over)`, left));
  if (committed?.ok === false) return committed;
  return ok({ dir: dir.value, base: await workspaces.head(workspace) });
}

/** The person's commits and uncommitted changes stay on the branch, or are set aside under a ref. The folder is theirs until it succeeds. */
export async function takeBackWorkspace(
  place: LentPlace,
  ports: Ports,
  lent: LentWorkspace,
  returning: Returning,
): Promise<Result<Pick<HandedBack, "commits" | "stat" | "discarded">>> {
  if (!returning.discard && !existsSync(lent.dir)) return err(gone(lent.dir));
  const opened = await openForStage(place, ports);
  if (!opened.ok) return opened;
  const workspace = opened.value;
  return returning.discard ? setAside(place, ports, workspace, lent) : keep(place, ports, workspace, lent, returning);
}

async function keep(
  place: LentPlace,
  { workspaces, redact }: Ports,
  workspace: Workspace,
  { base }: LentWorkspace,
  { by }: Returning,
) {
  const { run, stage, attempt } = place;
  const who = `Done by ${by}, who had taken over attempt ${attempt} of run ${run.id}.`;
  const committed = await workspaces.commit?.(workspace, commitMessage(run, `${stage.id} (by ${by})`, who));
  if (committed?.ok === false) return committed;
  const synced = await workspaces.sync?.(workspace, base);
  if (synced?.ok === false) return synced;
  if (base === null) return ok({ commits: 0, stat: "", discarded: null });
  const commits = (await workspaces.commits?.(workspace, base)) ?? [];
  const stat = redact(diffStat(await workspaces.diff(workspace, base)));
  return ok({ commits: commits.length, stat, discarded: null });
}

async function setAside({ run }: LentPlace, { workspaces }: Ports, workspace: Workspace, { dir, base }: LentWorkspace) {
  if (workspaces.setAside === undefined || base === null) return err(own(dir));
  const kept = await workspaces.setAside(workspace, run.id, base);
  return kept.ok ? ok({ commits: 0, stat: "", discarded: kept.value }) : kept;
}

const gone = (dir: string) => ({
  code: "workspace_gone",
  message: `The folder ${dir} no longer exists. Commits on its branch are safe; to continue from the branch as it was when you took over, hand back with --discard.`,
});

const own = (dir: string) => ({
  code: "workspace_own",
  message: `The agents work in ${dir} itself, where Passrail takes nothing back. Undo your changes there, and hand back without --discard.`,
});
