// The work of a stage that is played outside, before its pass counts: Passrail runs the flow's checks on the commit that the report names, if it
// has that commit on the run's branch. Where it has not, nothing is refused and nothing passes in silence: the evidence says what is missing.

import { attemptFiles, channelFiles, markerOf, openAttempt } from "../attempt/attempt-files.ts";
import { createMailbox } from "../attempt/mailbox.ts";
import { keepResults } from "../attempt/clean-results.ts";
import type { AttemptJob, AttemptPorts } from "../attempt/job.ts";
import { checkFinished, isPerStage, openForStage } from "../attempt/stage-workspace.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import { type Report, routeKey } from "../core/flow/outcome.ts";
import { err, ok, type Result } from "../core/result.ts";
import { branchOf } from "../core/run/branch.ts";
import { projectOf, repositorySettings, workspaceMode } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { stageChecks } from "../core/run/stage-checks.ts";
import { criteriaIn, verified } from "../core/verdict/criteria.ts";
import { judge } from "../core/verdict/judge.ts";
import type { EngineOptions } from "./options.ts";

export type OutsideDeps = {
  readonly options: EngineOptions;
  readonly load: (runId: string) => Promise<Run | undefined>;
  readonly flowOf: (hash: string) => Promise<ResolvedFlow>;
  /** Only the process that performs opens workspaces. */
  readonly performs: () => boolean;
  /** Aborted when the engine closes. */
  readonly signal: AbortSignal;
};

/** The signal, with what Passrail found out where it brings a pass from outside. */
export async function checkOutside(deps: OutsideDeps, runId: string, body: SignalBody): Promise<SignalBody> {
  if (body.type !== "attempt.finished" || body.outside !== true) return body;
  const run = await deps.load(runId);
  const [track, at] =
    Object.entries(run?.tracks ?? {}).find(([, each]) => each.at !== "done" && each.stage === body.stage) ?? [];
  if (run === undefined || track === undefined || (at?.at !== "ready" && at?.at !== "running")) return body;
  const resolved = await deps.flowOf(run.flowHash);
  const stage = findWork(resolved.flow, run, track, body.stage);
  if (stage === undefined || (stage.checks ?? stage.evidence ?? stage.notes) === undefined) return body;
  // A pass that another channel already contradicts, or that comes late, is not looked at.
  if (routeKey(judge(resolved.flow.words, stage, body.report)) !== "pass") return body;
  if (run.stages[stage.id]?.attempts !== body.attempt) return body;
  const work = { resolved, run, track, stage, attempt: body.attempt, carry: at.carry };
  return { ...body, report: await looked(deps, work, body.report) };
}

type OutsideWork = Pick<AttemptJob, "resolved" | "run" | "track" | "stage" | "attempt" | "carry">;

async function looked(deps: OutsideDeps, work: OutsideWork, report: Report): Promise<Report> {
  const { resolved, run, stage } = work;
  const wanted = stageChecks(resolved.flow, run, stage);
  const isNone = wanted !== null && wanted.checks.length === 0 && wanted.unknown.length === 0;
  if (isNone && (stage.evidence ?? stage.notes) === undefined) return { ...report, checks: [] };
  const commit = namedCommit(report);
  const branch = branchOf(resolved.flow, run);
  if (commit === null) return unseen(report, `the report names no commit of ${branch} (payload.commit)`);
  if (workspaceMode(resolved, run) === "in-place")
    return unseen(report, "the run has no workspace of its own: it works in the project's folder");
  if (!deps.performs()) return unseen(report, "no engine is at work that could run them");
  const checked = await inWorkspace(deps, work, { report, commit, branch });
  return checked.ok ? checked.value : unseen(report, checked.error);
}

/** `commit` of the payload, as git writes it. */
function namedCommit({ payload }: Report): string | null {
  const named = payload?.["commit"];
  return typeof named === "string" && /^[0-9a-f]{7,64}$/u.test(named) ? named : null;
}

/** Neither a pass that Passrail has seen nor a red one. */
function unseen(report: Report, why: string): Report {
  const row = { what: "checks", isMet: null, evidence: "", state: "missing", why: `not run: ${why}` } as const;
  const rows = verified(criteriaIn(report.payload), { linesOf: () => undefined, checks: [], commit: null });
  return { ...report, evidence: [row, ...rows] };
}

async function inWorkspace(
  deps: OutsideDeps,
  work: OutsideWork,
  { report, commit, branch }: { readonly report: Report; readonly commit: string; readonly branch: string },
): Promise<Result<Report, string>> {
  const { resolved, run } = work;
  const job = jobOf(deps.options, work);
  const ports = portsOf(deps, work);
  const { workspaces } = ports;
  const wasOpen = ((await workspaces.left?.(run.id)) ?? []).length > 0;
  const opened = await openForStage(job, ports);
  if (!opened.ok) return err(opened.error.message);
  const workspace = opened.value;
  try {
    const head = await workspaces.head(workspace);
    if (head === null || !head.startsWith(commit))
      return err(
        `${branch} is at ${head?.slice(0, 12) ?? "no commit"}, and the report is about ${commit.slice(0, 12)}`,
      );
    await openAttempt(job.files);
    return ok(await checkFinished(job, ports, { workspace, from: null, report, key: "pass" }));
  } finally {
    await keepResults(job.files, deps.options.runners.redact);
    // The agent outside may want to go on with its branch.
    if (!wasOpen || isPerStage(resolved, run)) await workspaces.close(workspace, run.id);
  }
}

function jobOf(options: EngineOptions, work: OutsideWork): AttemptJob {
  const { run, stage, attempt } = work;
  return {
    ...work,
    rung: null,
    marker: markerOf(options.storeId, run.id, stage.id, attempt),
    nonce: options.newId(),
    token: options.newId(),
    files: channelFiles(attemptFiles(options.home, run.id, stage.id, attempt), options.store.incarnation()),
    home: options.home,
    play: null,
    repositorySettings: repositorySettings(run),
    project: projectOf(run),
    keepWorkspaces: options.keepWorkspaces === true,
    url: options.url(),
  };
}

/** Nobody converses and nothing lands: only what opens a workspace and runs checks is real. */
function portsOf({ options, signal }: OutsideDeps, { resolved, run, stage, attempt }: OutsideWork): AttemptPorts {
  return {
    runners: options.runners,
    builtins: {},
    workspaces: options.workspaces(workspaceMode(resolved, run)),
    earlierAttempts: () => options.store.attempts(run.id),
    note: (facts) => options.store.noteAttempt(run.id, stage.id, attempt, facts),
    isSettled: async () => true,
    checkCache: {
      find: (key, now) => options.store.findCheck(key, now),
      save: (check) => options.store.saveCheck(check),
    },
    offerCheck: () => {},
    outward: { intend: async () => ({ type: "refused", why: "a check lands nothing" }), see: async () => {} },
    askPermission: async () => "deny",
    expirePermission: async () => "deny",
    askQuestion: async () => ({ type: "none" }),
    expireQuestion: async () => ({ type: "none" }),
    room: () => [],
    messages: createMailbox([], async () => {}),
    spent: () => {},
    readYaml: options.readYaml,
    now: () => options.clock.now(),
    signal,
  };
}
