// The workspace of one attempt: opened before it, settled after it. Settling commits the changes that the attempt left, so that the run's
// branch has them before the store records the outcome. With one workspace per stage it then closes it unless a follow-up uses it.

import { optional } from "../core/optional.ts";
import { runFacts } from "../core/run/facts.ts";
import { createHash } from "node:crypto";
import { MARKER_VARIABLE } from "../runner/runner.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Flow, WorkStage } from "../core/flow/flow.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Health, Report, Verdict } from "../core/flow/outcome.ts";
import { err, type Problem, type Result } from "../core/result.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { Workspace, WorkspaceRequest } from "../workspace/workspace.ts";
import { branchOf } from "../core/run/branch.ts";
import { jointOf } from "../core/run/joint.ts";
import { joinOf, trackBranch } from "../core/run/track-branch.ts";
import { checkCommittedNotes, retireFiles } from "./as-built.ts";
import { checkWork, undoRed } from "./checks/check-work.ts";
import { verifyEvidence } from "./checks/verify-evidence.ts";
import { failpoint } from "./failpoint.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { TamperedError, tamperedReport } from "./tampered.ts";

type StagePlace = Pick<AttemptJob, "resolved" | "run" | "stage" | "project" | "track" | "attempt" | "marker" | "start">;
type Opening = Pick<AttemptPorts, "workspaces" | "signal">;

/** `more`: what the caller wants of the workspace besides. */
export async function openForStage(
  job: StagePlace,
  ports: Opening,
  more: Pick<WorkspaceRequest, "withoutSetup"> = {},
): Promise<Result<Workspace>> {
  const { resolved, run, stage, project, track, start } = job;
  const { workspaces, signal } = ports;
  if (start !== undefined) {
    const { key, branch, commit: base } = start;
    return workspaces.open({
      runId: run.id,
      project,
      key,
      branch,
      base,
      env: { [MARKER_VARIABLE]: job.marker },
      signal,
    });
  }
  if (workspaces.mode === "in-place") {
    if (joinOf(resolved.flow, track) !== undefined) return err({ code: "tracks_in_place", message: TRACKS_IN_PLACE });
    return workspaces.open({ runId: run.id, project });
  }
  const perStage = isPerStage(resolved, run) ? { key: keyOf(run, stage, job.attempt) } : {};
  const request = {
    ...branchRequest(resolved.flow, run, project),
    env: { [MARKER_VARIABLE]: job.marker },
    signal,
    ...more,
  };
  if (joinOf(resolved.flow, track) === undefined) return workspaces.open({ ...request, ...perStage });
  return openForTrack(job, ports, request, perStage);
}

/**
 * The track's own workspace, on a branch that begins at the run's branch and contains it again when the track works once more. Where the
 * two conflict the track is there to resolve it, so it opens as it is.
 */
async function openForTrack(
  { resolved, run, track }: StagePlace,
  { workspaces }: Opening,
  { adopts: _adopts, contains: _contains, ...request }: WorkspaceRequest,
  perStage: Pick<WorkspaceRequest, "key">,
): Promise<Result<Workspace>> {
  const { env: _env, signal: _signal, ...shared } = branchRequest(resolved.flow, run, request.project);
  const { withoutSetup } = request;
  const whole = await workspaces.open({ ...shared, ...optional({ withoutSetup }) });
  if (!whole.ok) return whole;
  const head = await workspaces.head(whole.value);
  const own = {
    ...request,
    key: trackKey(run, track),
    ...perStage,
    branch: trackBranch(resolved.flow, run, track),
    ...(head === null ? {} : { base: head }),
  };
  if (head === null) return workspaces.open(own);
  const opened = await workspaces.open({ ...own, contains: [head] });
  return !opened.ok && opened.error.code === "merge_conflict" ? workspaces.open(own) : opened;
}

export const TRACKS_IN_PLACE =
  "The tracks would overwrite each other in the project's own folder: they need worktrees of their own (--workspace worktree).";

/** The request for a workspace of this run; it is the same for every stage. */
export function branchRequest(flow: Flow, run: Run, project: string): WorkspaceRequest {
  const { config, ticket } = runFacts(run);
  const joint = jointOf(run);
  // The joint repository begins at the commits of its members.
  const base = joint === null ? (flow.workspace.base ?? config.base) : null;
  const branch = branchOf(flow, run);
  return {
    runId: run.id,
    project,
    branch,
    ...(joint === null ? {} : { joint: { ...joint, branch } }),
    ...(base === null || base === "" ? {} : { base }),
    ...(config.adoptBranch ? { adopts: true } : {}),
    // The merge refuses an entry that is no commit.
    ...(ticket.contains === null ? {} : { contains: ticket.contains }),
  };
}

export function isPerStage(resolved: ResolvedFlow, run: Run): boolean {
  return resolved.flow.workspace.per === "stage" && workspaceMode(resolved, run) !== "in-place";
}

/** The key of a track's own workspace, which its stages share. */
export function trackKey(run: Run, track: string): string {
  return `${run.id}-t-${track.toLowerCase()}`;
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
export function isShared(flow: Flow, stage: WorkStage): boolean {
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

/** The reason of an abort after which a person works on in the attempt's workspace. */
export const TAKEN_OVER = "taken over by a person";

export type Settling = {
  readonly workspace: Workspace;
  /** The commit that the attempt started from. */
  readonly from: string | null;
  readonly report: Report;
  /** The route that the report takes: a verdict, or the health of an attempt without one. */
  readonly key: Health | Verdict;
  /** The folder of the attempt's track, if other tracks work beside it in the same workspace. */
  readonly dir?: string;
  /** The diff of the attempt shows its work as it is: Passrail has written nothing into the workspace since. */
  readonly asShown?: boolean;
};

/** After the attempt, however it ended. Trouble with the work itself fails a pass; any other trouble is a warning. */
export async function settleStage(job: AttemptJob, ports: AttemptPorts, settling: Settling): Promise<Report> {
  const { resolved, run, stage } = job;
  const { workspaces } = ports;
  const { workspace, from } = settling;
  const perStage = isPerStage(resolved, run);
  const passed = settling.key === "pass";
  let { report } = settling;
  const trouble = (problem: Problem): Report => (passed ? spoiled(report, problem) : warned(report, problem));
  const facts: Record<string, Json> = {};
  let holdsAll = false;
  if (passed) report = await retired(job, ports, workspace, report);
  if (isCommitted(stage, settling.key, perStage) && workspaces.commit !== undefined) {
    const how = {
      ...optional({ dir: settling.dir }),
      asShown: settling.asShown === true && stage.retires === undefined,
    };
    const committed = await workspaces.commit(workspace, messageFor(job, settling.key), how);
    if (!committed.ok) report = trouble(committed.error);
    else if (committed.value !== null) facts["committed"] = committed.value;
    holdsAll = committed.ok && settling.dir === undefined && !looksAtWork(stage);
    failpoint("stage-work-committed");
  }
  if (passed && report.cause === undefined) report = await checkFinished(job, ports, { ...settling, report });
  const published = await workspaces.publish?.(workspace, run.id);
  if (published?.ok === false) report = trouble(published.error);
  else Object.assign(facts, published?.value);
  const synced = await workspaces.sync?.(workspace, from);
  if (synced?.ok === false) report = trouble(synced.error);
  const commits = (await workspaces.commits?.(workspace, from)) ?? [];
  if (commits.length > 0) Object.assign(facts, { commits: [...commits], to: commits.at(-1) ?? null });
  // A stage of Passrail's own that moved the branch says which: its commit may be the last one of the run.
  if (commits.length > 0 && stage.kind === "builtin") Object.assign(facts, { branch: workspace.branch ?? null });
  // A person who takes the stage over works on in it.
  const isTakenOver = ports.signal.reason === TAKEN_OVER;
  if (perStage && !isShared(resolved.flow, stage) && !isTakenOver) {
    const ended = await endWorkspace(job, ports, workspace, holdsAll);
    if (!ended.ok) report = warned(report, ended.error);
    else Object.assign(facts, ended.value);
    failpoint("stage-workspace-closed");
  }
  if (Object.keys(facts).length > 0) await ports.note(facts);
  return report;
}

/** Passrail's own look at committed work that passes: checks, evidence, and the way back where the flow names one. */
export async function checkFinished(job: AttemptJob, ports: AttemptPorts, settling: Settling): Promise<Report> {
  const { workspace, from } = settling;
  const dir = settling.dir ?? workspace.dir;
  let report = await checkCommittedNotes(job, ports, workspace, settling.report);
  if (report.cause !== undefined) return report;
  report = await checkWork(job, ports, workspace, report);
  report = await verifyEvidence(job, ports, { workspace, dir, report });
  return undoRed(job, ports, { workspace, from, report });
}

/** For a pass that comes through the API while the agent's program still runs: its work is committed and checked before it counts. */
export async function checkedEarly(job: AttemptJob, ports: AttemptPorts, settling: Settling): Promise<Report> {
  const { workspace, report, dir } = settling;
  if (settling.key !== "pass") return report;
  const left = await retired(job, ports, workspace, report);
  const committed = await ports.workspaces.commit?.(workspace, messageFor(job, settling.key), optional({ dir }));
  return committed?.ok === false
    ? spoiled(left, committed.error)
    : checkFinished(job, ports, { ...settling, report: left });
}

/** Documents that the work has used up leave the branch with it. */
async function retired(job: AttemptJob, ports: AttemptPorts, workspace: Workspace, report: Report): Promise<Report> {
  try {
    const left = await retireFiles(job, ports, workspace);
    return left.length === 0 ? report : { ...report, warnings: [...(report.warnings ?? []), ...left] };
  } catch (error) {
    if (error instanceof TamperedError) return tamperedReport(error.problem, report);
    throw error;
  }
}

/**
 * Only agents leave work to commit. A workspace of one stage keeps only the work of a pass. In a workspace of the whole run the next stage
 * sees all files anyway, and a person may accept work that did not pass: everything that was reported is committed. A failed attempt may
 * have been cut off in the middle of a file; its changes wait for the next one.
 */
function isCommitted({ kind }: WorkStage, key: Settling["key"], perStage: boolean): boolean {
  if (kind !== "agent") return false;
  return key === "pass" || (!perStage && key !== "failed");
}

const TITLE_CHARS = 60;
const MADE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;

/** `AGI-7: build`, `AGI-7: build (attempt 2)`, `AGI-7: qa (revise)`. Work without an id of its own goes by its title. */
function messageFor({ run, stage, attempt }: AttemptJob, key: Settling["key"]): string {
  const more = [...(attempt > 1 ? [`attempt ${attempt}`] : []), ...(key === "pass" ? [] : [key])];
  const what = `${stage.id}${more.length === 0 ? "" : ` (${more.join(", ")})`}`;
  return commitMessage(run, what, `Left uncommitted by attempt ${attempt} of run ${run.id}.`);
}

export function commitMessage({ subject: { id, title } }: Run, what: string, body: string): string {
  const short = title
    .replace(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, TITLE_CHARS);
  const name = MADE_ID.test(id) && short !== "" ? short : id;
  return `${name}: ${what}\n\n${body}`;
}

/** Whether Passrail looks at its finished work, perhaps with programs that write files. */
export function looksAtWork({ checks, evidence, notes, retires }: WorkStage): boolean {
  return (checks ?? evidence ?? notes ?? retires) !== undefined;
}

/**
 * Closes the workspace, or keeps it for people to look at. Returns the facts to store with the attempt. `isCommitted`: nobody has changed a
 * file since its work was committed.
 */
export async function endWorkspace(
  job: AttemptJob,
  { workspaces }: Pick<AttemptPorts, "workspaces">,
  workspace: Workspace,
  isCommitted = false,
): Promise<Result<JsonObject>> {
  const { run } = job;
  if (isKept(job.resolved.flow, job.keepWorkspaces)) {
    const left = await workspaces.letGo?.(workspace);
    return left?.ok === false ? left : { ok: true, value: { kept: workspace.dir } };
  }
  const closed = await workspaces.close(workspace, run.id, { later: true, isCommitted });
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
