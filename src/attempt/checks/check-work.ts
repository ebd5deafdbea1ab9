// After an agent's pass: Passrail runs the stage's checks on the commit that holds the work, before anything else sees it. A red check
// contradicts the pass. A check that could not run fails the attempt: nobody can fix it in the code.

import { relative } from "node:path";
import type { NamedCheck } from "../../core/flow/check-result.ts";
import { areRed, CHECKS_FAILED, checkRule } from "../../core/flow/check-result.ts";
import type { Issue, Report } from "../../core/flow/outcome.ts";
import { MAIN_TRACK } from "../../core/flow/flow.ts";
import { attemptFacts } from "../../core/attempt-facts.ts";
import type { Result } from "../../core/result.ts";
import { runFacts } from "../../core/run/facts.ts";
import { stageChecks } from "../../core/run/stage-checks.ts";
import { TAMPERED } from "../../file/confined.ts";
import type { TreeState } from "../../git/tree-state.ts";
import { partMarker } from "../../runner/runner.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { checkLog } from "../attempt-files.ts";
import { failpoint } from "../failpoint.ts";
import type { AttemptJob, AttemptPorts } from "../job.ts";
import { tamperedReport } from "../tampered.ts";
import { type CheckPlace, type RanCheck, runCheck } from "./run-check.ts";

const CHANGED_AT_MOST = 20;

/** `report` is one that passes. */
export async function checkWork(
  job: AttemptJob,
  ports: AttemptPorts,
  workspace: Workspace,
  report: Report,
): Promise<Report> {
  const wanted = stageChecks(job.resolved.flow, job.run, job.stage);
  if (wanted === null) return report;
  const [unknown] = wanted.unknown;
  if (unknown !== undefined) {
    const reason = `nobody defines the check "${unknown}"; define it under checks in passrail.yaml or in the flow`;
    return { ...report, cause: "check_unknown", reason };
  }
  if (wanted.checks.length === 0) return { ...report, checks: [] };
  const guarded = await guardOf(job, ports, workspace);
  if (!guarded.ok) return { ...report, cause: guarded.error.code, reason: guarded.error.message };
  const ran = await runAll(job, ports, workspace, wanted.checks);
  const { tampered, warnings } = await guarded.value();
  const checked = withResults(report, ran, warnings);
  return tampered.length === 0 ? checked : tamperedReport({ code: TAMPERED, message: tampered.join("; ") }, checked);
}

/** A check runs the work itself, so the repository is guarded as it is around an agent. */
async function guardOf({ stage }: AttemptJob, { workspaces }: AttemptPorts, workspace: Workspace) {
  const guard = stage.kind === "builtin" ? undefined : workspaces.guard;
  if (guard !== undefined) return guard(workspace);
  return { ok: true, value: async () => ({ tampered: [], warnings: [] }) } as const;
}

async function runAll(
  job: AttemptJob,
  ports: AttemptPorts,
  workspace: Workspace,
  checks: readonly NamedCheck[],
): Promise<readonly RanCheck[]> {
  const { workspaces } = ports;
  const state = await workspaces.tree?.(workspace);
  let place = placeOf(job, ports, workspace, state);
  const ran: RanCheck[] = [];
  for (const check of checks) {
    if (ports.signal.aborted) break;
    failpoint("check-started");
    const each = await runCheck(check, place, {
      runners: ports.runners,
      findCached: runFacts(job.run).config.checkCache ? ports.checkCache.find : null,
      saveCached: ports.checkCache.save,
      now: ports.now,
      signal: ports.signal,
      onStarted: (process) => ports.note({ process: { ...process }, checking: check.name }),
    });
    failpoint("check-ended");
    const changed =
      each.result.cached === undefined ? await putBack(job, ports, workspace, place) : { files: [], isBack: true };
    // Changed files that could not be put back: what runs next does not run on this tree.
    if (!changed.isBack) place = { ...place, commit: null, tree: null, isExact: false };
    const { files } = changed;
    ran.push(
      files.length === 0 ? each : { ...each, result: { ...each.result, changed: files.slice(0, CHANGED_AT_MOST) } },
    );
  }
  return ran;
}

function placeOf(
  job: AttemptJob,
  { workspaces }: AttemptPorts,
  workspace: Workspace,
  state: Result<TreeState> | undefined,
): CheckPlace {
  const { run, stage, attempt, files, marker } = job;
  const seen = state?.ok === true && state.value.changed.length === 0 ? state.value : null;
  const { confine, ownPrograms } = workspaces;
  const folders = workspace.folders ?? [];
  return {
    dir: workspace.dir,
    commit: seen?.commit ?? null,
    tree: seen?.tree ?? null,
    isExact: seen !== null && !seen.hasUntracked,
    prefix: seen === null ? "" : relative(seen.top, workspace.dir),
    kind: workspace.mode,
    env: workspace.env ?? {},
    // An agent that handed over its work may still run, and is not to end with a check.
    marker: partMarker(marker, "check"),
    logFile: (name) => checkLog(files, name),
    by: { runId: run.id, stage: stage.id, attempt },
    confinement:
      confine === undefined
        ? {}
        : {
            confine: (launch) => confine(workspace, { ...launch, folders }),
            ...(ownPrograms === true ? { ownPrograms } : {}),
          },
  };
}

/** A check has no say in the work: tracked files that it changed are as they were in the commit again. The user's own folder stays as it is. */
async function putBack(
  { track }: AttemptJob,
  { workspaces }: AttemptPorts,
  workspace: Workspace,
  { tree }: CheckPlace,
): Promise<{ readonly files: readonly string[]; readonly isBack: boolean }> {
  if (tree === null || workspaces.tree === undefined) return { files: [], isBack: true };
  const now = await workspaces.tree(workspace);
  if (!now.ok) return { files: [], isBack: false };
  const files = now.value.changed;
  if (files.length === 0) return { files, isBack: now.value.tree === tree };
  // Another track may be in the middle of its work on the same files.
  const back = track === MAIN_TRACK ? await workspaces.restore?.(workspace) : undefined;
  return { files, isBack: back?.ok === true && now.value.tree === tree };
}

function withResults(report: Report, ran: readonly RanCheck[], found: readonly string[]): Report {
  const checks = ran.map(({ result }) => result);
  const changed = checks.flatMap(({ name, changed: files }) =>
    files === undefined
      ? []
      : [`check_changed_files: the check ${name} changed ${files.join(", ")}, which are part of the work`],
  );
  const warnings = [...(report.warnings ?? []), ...found, ...changed];
  const all: Report = { ...report, checks, ...(warnings.length === 0 ? {} : { warnings }) };
  const lost = checks.find(({ state }) => state === "not_started");
  if (lost !== undefined) {
    const reason = `the check ${lost.name} (${lost.command}) could not run: ${lost.why ?? ""}`;
    return { ...all, cause: "check_not_started", reason };
  }
  return areRed(checks) ? { ...all, checkIssues: ran.flatMap(issueOf) } : all;
}

/** The end of the output is what the builder needs. */
function issueOf({ result, excerpt }: RanCheck): readonly Issue[] {
  const { name, command, state, why, cached } = result;
  if (state === "passed") return [];
  const from = cached === undefined ? "" : ` (result of run ${cached.runId} on the same files)`;
  const said = `Passrail ran the check "${name}" (${command}) on your committed work, and it did not pass: ${why ?? state}${from}.`;
  const description = excerpt === "" ? said : `${said} The end of its output:\n${excerpt}`;
  return [{ severity: "major", description, rule: checkRule(name) }];
}

/**
 * Takes the attempt's commits off the branch, where the flow says so for red checks. Attempts before it that a crash cut off are its work,
 * too: nobody has checked what they left.
 */
export async function undoRed(
  job: AttemptJob,
  ports: AttemptPorts,
  { workspace, from, report }: { readonly workspace: Workspace; readonly from: string | null; readonly report: Report },
): Promise<Report> {
  const { stage, run } = job;
  if (!areRed(report.checks) || stage.route[CHECKS_FAILED]?.undo !== "work" || report.cause !== undefined)
    return report;
  const to = (await firstStart(job, ports)) ?? from;
  const head = await ports.workspaces.head(workspace);
  const { undo } = ports.workspaces;
  if (to === null || head === null || undo === undefined || job.track !== MAIN_TRACK)
    return {
      ...report,
      cause: "undo_impossible",
      reason: "there is no branch of this stage alone to take the work off",
    };
  if (head === to) return report;
  const undone = await undo(workspace, to, run.id);
  if (!undone.ok) return { ...report, cause: undone.error.code, reason: undone.error.message };
  failpoint("work-undone");
  await ports.note({ to, commits: [] });
  return { ...report, undone: { from: head, to, pinned: undone.value } };
}

/** Where the first of the attempts that a crash cut off began; undefined if the attempt before this one ended. */
async function firstStart({ stage, attempt }: AttemptJob, ports: AttemptPorts): Promise<string | undefined> {
  const own = (await ports.earlierAttempts()).filter((each) => each.stage === stage.id && each.attempt < attempt);
  let first: string | undefined;
  for (const each of own.toReversed()) {
    if (each.status !== "interrupted") break;
    first = attemptFacts(each).from ?? first;
  }
  return first;
}
