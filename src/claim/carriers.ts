// Attempts of this engine, carried out here or by workers. An attempt with a slot of a worker becomes a claim: the node opens its branch,
// names the claim in the store, and sends the order; then it attends the claim as it attends a process of its own.

import type {
  CarriedEnd,
  CarriedPorts,
  Carriers,
  ClaimIdentity,
  FoundCarrier,
  LocalCarriers,
} from "../attempt/carriers.ts";
import { attemptFiles, openAttempt } from "../attempt/attempt-files.ts";
import type { AttemptJob } from "../attempt/job.ts";
import { endWorkspace, isPerStage, isShared, openForStage } from "../attempt/stage-workspace.ts";
import { readReport } from "../carrier/report-file.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";
import type { JsonObject } from "../core/json.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { hashedToken } from "../attempt/hashed-token.ts";
import { attemptKey } from "../core/run/attempt-key.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import { bundleCommits, knownOf, setRef, workRef } from "../git/carried-commits.ts";
import { findProject, findRepository } from "../git/repository.ts";
import { makeFolders } from "../file/confined.ts";
import type { WorkspaceSettings } from "../settings/workspaces.ts";
import type { Workspace, Workspaces } from "../workspace/workspace.ts";
import { attendClaim, type ReportedWork } from "./attend.ts";
import type { WorkerBoard } from "./board.ts";
import type { WorkClaim } from "./claim.ts";
import { forHere, orderOf } from "./order.ts";

export type WorkerCarriersOptions = {
  readonly local: LocalCarriers;
  readonly board: WorkerBoard;
  readonly home: string;
  readonly incarnation: () => string;
  readonly workspaces: (mode: WorkspaceMode) => Workspaces;
  readonly settings: WorkspaceSettings;
  /** Copies what an attempt left for other nodes of the same database, where there are any. */
  readonly keep: (runId: string, stage: string, attempt: number) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

export type WorkerCarriers = Carriers & {
  /** The commits of a claim's start that the worker does not have, as a bundle in a file. */
  bundleFor(claim: WorkClaim, known: readonly string[], file: string): Promise<Result<null>>;
};

/** What a worker gets its commits from. */
type Source = { readonly repository: string; readonly commit: string };

export function withWorkers(options: WorkerCarriersOptions): WorkerCarriers {
  const { local, board } = options;
  const sources = new Map<string, Source>();
  const isThere = ({ run, stage, attempt }: AttemptJob): boolean =>
    board.isBooked(attemptKey(run.id, stage.id, attempt));
  return {
    takes: (job) => isThere(job) || local.takes(job),
    carryOut(job, ports) {
      if (isThere(job)) return carryOutThere(options, sources, job, ports);
      const earlierAttempts = async () => (await ports.earlierAttempts()).map(forHere);
      return local.carryOut(job, { ...ports, earlierAttempts });
    },
    find: (identity, place) =>
      "pid" in identity ? local.find(identity, place) : findClaim(options, sources, identity, place),
    endOthers: (kept) => local.endOthers(kept),
    // Only its worker knows; the engine that starts next asks it.
    isAtWork: (identity, place) =>
      "pid" in identity ? local.isAtWork(identity, place) : !hasReported(options, identity, place),
    async bundleFor({ id }, known, file) {
      const source = sources.get(id);
      if (source === undefined) return err({ code: "claim_lost", message: `The claim ${id} is no longer good.` });
      const { repository, commit } = source;
      const ref = `refs/passrail/outgoing/${id}`;
      const made = await bundleCommits({ repository, ref, commit, known: await knownOf(repository, known), file });
      await setRef(repository, ref, null);
      return made;
    },
    close() {
      local.close();
    },
  };
}

async function carryOutThere(
  options: WorkerCarriersOptions,
  sources: Map<string, Source>,
  job: AttemptJob,
  ports: CarriedPorts,
): Promise<CarriedEnd> {
  const { home, board, settings } = options;
  const { run, stage, attempt } = job;
  const workspaces = options.workspaces(workspaceMode(job.resolved, run));
  await openAttempt(attemptFiles(home, run.id, stage.id, attempt));
  const opened = await openHere(job, workspaces, ports.signal);
  if (!opened.ok) return failed(opened.error);
  const { workspace, head } = opened.value;
  const found = await findProject(job.project);
  const repository = found.ok ? await findRepository(found.value) : found;
  if (!repository.ok) return failed(repository.error);
  const claim = board.open(attemptKey(run.id, stage.id, attempt));
  const key = workspace.key ?? run.id;
  const identity: ClaimIdentity = {
    id: claim.id,
    worker: claim.worker,
    key,
    branch: workspace.branch ?? "",
    mode: workspace.mode,
    from: head,
    project: job.project,
    token: hashedToken(job.token),
  };
  try {
    // The store names the claim before its worker can do anything: a starting engine waits for no other.
    const [aside, earlier] = await Promise.all([
      keepAside(workspaces, workspace, run.id, head),
      ports.earlierAttempts(),
      ports.note({ claim: { ...identity } }),
    ]);
    if (!aside.ok) {
      board.forget(claim.id);
      return failed(aside.error);
    }
    const start = { key, branch: workspace.branch ?? "", commit: head };
    const room = ports.room();
    const parts = { job, start, repository: repository.value, worker: claim.worker, earlier, room };
    sources.set(claim.id, { repository: repository.value.commonDir, commit: head });
    claim.send({ type: "start", order: await orderOf({ ...parts, workspaces: settings }) });
    const place = { runId: run.id, stage: stage.id, attempt };
    const end = await attendAt(options, { identity, place, claim, workspaces, workspace }, ports);
    if (end.type === "left") return end;
    board.forget(claim.id);
    if (end.type === "reported" && isPerStage(job.resolved, run) && !isShared(job.resolved.flow, stage)) {
      const closed = await endWorkspace(job, { workspaces }, workspace);
      if (!closed.ok) options.onError(new Error(closed.error.message));
    }
    return end;
  } catch (error) {
    board.forget(claim.id);
    throw error;
  } finally {
    sources.delete(claim.id);
  }
}

type HereAtWork = { readonly workspace: Workspace; readonly head: string };

/** The node's own workspace: it makes the branch, merges what it must contain, and takes the commits when the attempt has ended. */
async function openHere(job: AttemptJob, workspaces: Workspaces, signal: AbortSignal): Promise<Result<HereAtWork>> {
  const opened = await openForStage(job, { workspaces, signal }, { withoutSetup: true });
  if (!opened.ok) return opened;
  const workspace = opened.value;
  const head = await workspaces.head(workspace);
  if (head === null)
    return err({ code: "unborn_head", message: `${job.project} has no commit that a worker could begin at.` });
  return ok({ workspace, head });
}

/** Commits travel, uncommitted changes do not: what an attempt that was cut off left here is kept under a ref. */
async function keepAside(
  workspaces: Workspaces,
  workspace: Workspace,
  runId: string,
  head: string,
): Promise<Result<null>> {
  const tree = await workspaces.tree?.(workspace);
  const isClean = tree?.ok !== true || (tree.value.changed.length === 0 && !tree.value.hasUntracked);
  const aside = isClean ? undefined : await workspaces.setAside?.(workspace, runId, head);
  return aside?.ok === false ? aside : ok(null);
}

function failed({ code, message, hint }: Problem): CarriedEnd {
  const reason = hint === undefined ? message : `${message} (${hint})`;
  return { type: "reported", report: { cause: code, reason }, strays: [] };
}

type Attending = {
  readonly identity: ClaimIdentity;
  readonly place: { readonly runId: string; readonly stage: string; readonly attempt: number };
  readonly claim: WorkClaim;
  readonly workspaces: Workspaces;
  readonly workspace: Workspace;
};

function attendAt(options: WorkerCarriersOptions, attending: Attending, ports: CarriedPorts): Promise<CarriedEnd> {
  const { home, incarnation, onError } = options;
  const { identity, place, claim } = attending;
  const keep = async () => options.keep(place.runId, place.stage, place.attempt);
  const settle = (landed: ReportedWork): Promise<Result<JsonObject>> => settleWork(attending, landed);
  return attendClaim({ home, incarnation, identity, place, claim, settle, keep, onError }, ports);
}

/** Puts the worker's commits on the run's branch, in the node's own workspace. */
async function settleWork(
  { identity, place, workspaces, workspace }: Attending,
  { incoming, tip, work }: ReportedWork,
): Promise<Result<JsonObject>> {
  const { from } = identity;
  const branch = workspace.branch ?? "";
  const facts = { branch, mode: workspace.mode, repository: workspace.repository ?? null, from };
  if (tip === null || work === null) return ok({ ...facts, to: from });
  const { repository } = workspace;
  if (repository === undefined)
    return err({ code: "not_a_git_repository", message: "There is no repository for its commits." });
  const { runId, stage, attempt } = place;
  const ref = workRef(runId, stage, attempt);
  const taken = await incoming.take({ repository, ref, from, tip, work });
  if (!taken.ok) return taken;
  if (tip !== from) {
    const request = { runId, key: identity.key, project: identity.project, branch, withoutSetup: true };
    const moved = await workspaces.open({ ...request, contains: [tip] });
    if (!moved.ok) return moved;
    const published = await workspaces.publish?.(moved.value, runId);
    if (published?.ok === false) return published;
  }
  const commits = (await workspaces.commits?.(workspace, from)) ?? [];
  const leftover = work === tip ? {} : { leftover: work, pinned: ref };
  return ok({ ...facts, to: tip, ...(commits.length === 0 ? {} : { commits: [...commits] }), ...leftover });
}

const hasReported = ({ home, incarnation }: WorkerCarriersOptions, { id }: ClaimIdentity, place: Attending["place"]) =>
  readReport(home, attemptFiles(home, place.runId, place.stage, place.attempt).dir, {
    id,
    incarnation: incarnation(),
  }) !== undefined;

/** For an engine that starts: the report, if it is here already; else the worker is expected to come back with the attempt. */
async function findClaim(
  options: WorkerCarriersOptions,
  sources: Map<string, Source>,
  identity: ClaimIdentity,
  place: Attending["place"],
): Promise<FoundCarrier> {
  const { home, board, incarnation } = options;
  const { dir } = attemptFiles(home, place.runId, place.stage, place.attempt);
  const file = readReport(home, dir, { id: identity.id, incarnation: incarnation() });
  if (file !== undefined) {
    const end: CarriedEnd = { type: "reported", report: file.report, strays: [] };
    return { type: "reported", token: "", channel: null, carryOn: async () => end };
  }
  const workspaces = options.workspaces(identity.mode as WorkspaceMode);
  const workspace = await workspaceOf(workspaces, identity, place.runId);
  if (workspace === undefined) return { type: "gone", notes: [], spent: null, forget: () => {} };
  // Another node may have made the attempt's folder on its machine.
  makeFolders(home, dir, 0o700);
  const claim = board.adopt(
    identity,
    attemptKey(place.runId, place.stage, place.attempt),
    `${place.runId}/${place.stage}`,
  );
  if (workspace.repository !== undefined)
    sources.set(claim.id, { repository: workspace.repository, commit: identity.from });
  const carryOn = async (ports: CarriedPorts): Promise<CarriedEnd> => {
    const end = await attendAt(options, { identity, place, claim, workspaces, workspace }, ports);
    sources.delete(claim.id);
    if (end.type !== "left") board.forget(claim.id);
    return end;
  };
  return { type: "living", token: identity.token, channel: null, carryOn };
}

/** The node's own workspace of a claim. Another node may have opened it on its machine; then it is opened here at the same commit. */
async function workspaceOf(
  workspaces: Workspaces,
  { branch, from, key, project }: ClaimIdentity,
  runId: string,
): Promise<Workspace | undefined> {
  const here = (await workspaces.left?.(runId))?.find((left) => left.key === key);
  if (here !== undefined || branch === "") return here;
  const opened = await workspaces.open({ runId, key, project, branch, base: from, withoutSetup: true });
  return opened.ok && (await workspaces.head(opened.value)) === from ? opened.value : undefined;
}
