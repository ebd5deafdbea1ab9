// The workspace of one attempt: opened before it, settled after it. With one workspace per stage, settling closes it unless a follow-up
// uses it. It first commits the changes that a passed attempt left, so that the next stage has them.

import { runFacts } from "../core/run/facts.ts";
import { createHash } from "node:crypto";
import { MARKER_VARIABLE } from "../runner/runner.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Flow, WorkStage } from "../core/flow/flow.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { Problem, Result } from "../core/result.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { Workspace, WorkspaceRequest } from "../workspace/workspace.ts";
import { branchOf } from "../core/run/branch.ts";
import { failpoint } from "./failpoint.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";

export function openForStage(job: AttemptJob, { workspaces, signal }: AttemptPorts): Promise<Result<Workspace>> {
  const { resolved, run, stage, project } = job;
  if (workspaces.mode === "in-place") return workspaces.open({ runId: run.id, project });
  return workspaces.open({
    ...branchRequest(resolved.flow, run, project),
    ...(isPerStage(resolved, run) ? { key: keyOf(run, stage, job.attempt) } : {}),
    env: { [MARKER_VARIABLE]: job.marker },
    signal,
  });
}

/** The request for a workspace of this run; it is the same for every stage. */
export function branchRequest(flow: Flow, run: Run, project: string): WorkspaceRequest {
  const { config, ticket } = runFacts(run);
  const base = flow.workspace.base ?? config.base;
  return {
    runId: run.id,
    project,
    branch: branchOf(flow, run),
    ...(base === null || base === "" ? {} : { base }),
    // The merge refuses an entry that is no commit.
    ...(ticket.contains === null ? {} : { contains: ticket.contains }),
  };
}

export function isPerStage(resolved: ResolvedFlow, run: Run): boolean {
  return resolved.flow.workspace.per === "stage" && workspaceMode(resolved, run) !== "in-place";
}

/** A follow-up has the key of the attempt that it follows. */
export function keyOf(run: Run, stage: WorkStage, attempt: number): string {
  const base = stage.sameWorkspaceAs;
  if (base !== undefined) return keyName(run.id, base, run.stages[base]?.attempts ?? 1);
  return keyName(run.id, stage.id, attempt);
}

/** Some file systems ignore case in folder names. */
function keyName(runId: string, stage: string, attempt: number): string {
  const lower = stage.toLowerCase();
  if (lower === stage) return `${runId}-${stage}-${attempt}`;
  return `${runId}-${lower}-${createHash("sha256").update(stage).digest("hex").slice(0, 6)}-${attempt}`;
}

/** Whether another stage of the flow works where this one does. */
function isShared(flow: Flow, stage: WorkStage): boolean {
  if (stage.sameWorkspaceAs !== undefined) return true;
  const all = flow.stages.flatMap((each) =>
    each.kind === "parallel" ? Object.values(each.tracks).flatMap(({ stages }) => stages) : [each],
  );
  return all.some((each) => "sameWorkspaceAs" in each && each.sameWorkspaceAs === stage.id);
}

/** Whether the workspace of a stage outlives its attempt, and so the branch is not free between attempts. */
export function holdsBranch(
  resolved: ResolvedFlow,
  run: Run,
  at: { readonly track: string; readonly stage: string },
): boolean {
  if (!isPerStage(resolved, run)) return workspaceMode(resolved, run) !== "in-place";
  const stage = findWork(resolved.flow, run, at.track, at.stage);
  return stage !== undefined && isShared(resolved.flow, stage);
}

export type Settling = {
  readonly workspace: Workspace;
  /** The commit that the attempt started from. */
  readonly from: string | null;
  readonly report: Report;
  /** Whether the report is judged a pass. */
  readonly passed: boolean;
};

/** After the attempt, however it ended. Trouble with the work itself fails a pass; any other trouble is a warning. */
export async function settleStage(job: AttemptJob, ports: AttemptPorts, settling: Settling): Promise<Report> {
  const { resolved, run, stage } = job;
  const { workspaces } = ports;
  const { workspace, from } = settling;
  const perStage = isPerStage(resolved, run);
  let { report, passed } = settling;
  const facts: Record<string, Json> = {};
  if (perStage && passed && workspaces.commit !== undefined) {
    const message = `${run.subject.id}: ${stage.id}\n\nLeft uncommitted by attempt ${job.attempt} of run ${run.id}.`;
    const committed = await workspaces.commit(workspace, message);
    if (!committed.ok) [report, passed] = [spoiled(report, committed.error), false];
    else if (committed.value !== null) facts["committed"] = committed.value;
    failpoint("stage-work-committed");
  }
  const published = await workspaces.publish?.(workspace, run.id);
  if (published?.ok === false) report = passed ? spoiled(report, published.error) : warned(report, published.error);
  const commits = (await workspaces.commits?.(workspace, from)) ?? [];
  if (commits.length > 0) Object.assign(facts, { commits: [...commits], to: commits.at(-1) ?? null });
  if (perStage && !isShared(resolved.flow, stage)) {
    const ended = await endWorkspace(job, ports, workspace);
    if (!ended.ok) report = warned(report, ended.error);
    else Object.assign(facts, ended.value);
    failpoint("stage-workspace-closed");
  }
  if (Object.keys(facts).length > 0) await ports.note(facts);
  return report;
}

/** Closes the workspace, or keeps it for people to look at. Returns the facts to store with the attempt. */
async function endWorkspace(
  job: AttemptJob,
  { workspaces }: AttemptPorts,
  workspace: Workspace,
): Promise<Result<JsonObject>> {
  const { run } = job;
  if (isKept(job.resolved.flow, job.keepWorkspaces)) {
    const left = await workspaces.letGo?.(workspace);
    return left?.ok === false ? left : { ok: true, value: { kept: workspace.dir } };
  }
  const closed = await workspaces.close(workspace, run.id);
  if (!closed.ok) return closed;
  const { pinned, leftover } = closed.value;
  return { ok: true, value: leftover === null ? {} : { leftover, pinned } };
}

/** Whether workspaces outlive their stages. With `when-merged` the end of the run decides. */
export function isKept({ workspace }: Flow, keep: boolean): boolean {
  return keep || workspace.delete === "never" || workspace.delete === "when-merged";
}

function spoiled(report: Report, { code, message, hint }: Problem): Report {
  return { ...report, cause: code, reason: hint === undefined ? message : `${message} (${hint})` };
}

function warned(report: Report, { code, message }: Problem): Report {
  return { ...report, warnings: [...(report.warnings ?? []), `${code}: ${message}`] };
}
