// One attempt from start to end: workspace, work, verdict, workspace. It does no routing. Ordinary failures end as a report with a cause;
// only bugs throw.

import { join } from "node:path";
import type { Report } from "../core/flow/outcome.ts";
import { routeKey } from "../core/flow/outcome.ts";
import { MAIN_TRACK } from "../core/flow/flow.ts";
import { ROUTER_FALLBACKS, type RouterFallback } from "../core/flow/router-fallback.ts";
import { factOf } from "../core/run/sequence.ts";
import { routerPool } from "../core/flow/router-pool.ts";
import { chooseByRules } from "../core/flow/router-rules.ts";
import { ok } from "../core/result.ts";
import { joinOf } from "../core/run/track-branch.ts";
import { judge } from "../core/verdict/judge.ts";
import { TAMPERED } from "../file/confined.ts";
import type { GuardReport, Workspace } from "../workspace/workspace.ts";
import { openAttempt, writeRecord } from "./attempt-files.ts";
import { keepResults } from "./clean-results.ts";
import { failpoint } from "./failpoint.ts";
import { firstCutOff } from "./interruption.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { keepMemo } from "./memo.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import { NO_WORK } from "./required-files.ts";
import { type AgentPlace, type AgentResult, runAgent } from "./run-agent.ts";
import { prepareNotes } from "./shared-notes.ts";
import { lateCommits, quarantine } from "./strays.ts";
import { checkedEarly, looksAtWork, openForStage, settleStage, type Settling } from "./stage-workspace.ts";
import { TamperedError, tamperedReport } from "./tampered.ts";
import { workDir } from "./work-dir.ts";

/** The router gave no answer at all. A router whose answer cannot be used has failed and is not among these. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  "agent_not_found",
  "spawn_failed",
  "agent_exit_nonzero",
  "startup_timeout",
  "idle_timeout",
  "timeout",
  "auth",
  "rate_limit",
  "quota",
  "billing",
  "server_error",
  "unreachable",
  "agent_crashed",
]);

export async function runStage(job: AttemptJob, ports: AttemptPorts): Promise<Report> {
  try {
    const found = await openAttempt(job.files);
    const report = await runOpened(job, ports);
    return found === undefined ? report : withWarnings(report, [`attempt_folder_found: ${found} was not used`]);
  } catch (error) {
    if (error instanceof TamperedError) return tamperedReport(error.problem);
    throw error;
  } finally {
    await keepResults(job.files, ports.runners.redact);
  }
}

async function runOpened(job: AttemptJob, ports: AttemptPorts): Promise<Report> {
  const { stage } = job;
  if (stage.kind === "router" && job.play === null) return routeByRules(job);
  const earlier = await ports.earlierAttempts();
  // In the project's own folder such a process may be the person's.
  const quarantined = ports.workspaces.mode === "in-place" ? undefined : quarantine(earlier);
  if (quarantined !== undefined) return quarantined;
  prepareStart(ports);
  const opened = await openForStage(job, ports);
  if (!opened.ok) {
    const { code, message, hint } = opened.error;
    return { cause: code, reason: hint === undefined ? message : `${message} (${hint})` };
  }
  failpoint("workspace-opened");
  const workspace = opened.value;
  prepareStart(ports);
  const head = await ports.workspaces.head(workspace);
  const guarded = await guardFor(job, ports, workspace);
  if (!guarded.ok) {
    const report = { cause: guarded.error.code, reason: guarded.error.message };
    return settleStage(job, ports, { workspace, from: head, report, key: "failed" });
  }
  const guardReport = once(guarded.value);
  // Work of this stage that was cut off before is looked at together with what is added now.
  const from = head === null ? null : (firstCutOff(job, earlier)?.facts.from ?? head);
  if (looksAtWork(stage))
    ports.offerCheck((report) =>
      checkedEarly(job, ports, {
        workspace,
        from,
        ...judged(job, { report, missing: [] }),
        ...trackFolder(job, workspace),
      }),
    );
  let result: AgentResult;
  try {
    result = await workIn(job, ports, workspace, {
      from,
      head,
      onEnded: () => void guardReport().catch(() => undefined),
    });
  } catch (error) {
    const found = await guardReport();
    // Neither a bug of ours nor a violation keeps the branch locked. The work is kept like that of any attempt that failed.
    const report: Report =
      error instanceof TamperedError
        ? tamperedReport(error.problem)
        : { cause: "engine_error", reason: "the attempt was cut off" };
    const warned = withWarnings(report, [...found.tampered, ...found.warnings]);
    const settled = settleStage(job, ports, { workspace, from, report: warned, key: "failed" });
    if (error instanceof TamperedError) return settled;
    await settled.catch(() => undefined);
    throw error;
  }
  const { report, key } = judged(job, result);
  const { tampered, warnings } = await guardReport();
  const warned = withWarnings(report, [...lateCommits(earlier, head), ...warnings]);
  if (tampered.length === 0) {
    const settling = { workspace, from, report: warned, key, asShown: result.isShown, ...trackFolder(job, workspace) };
    return settleAndKeep(job, ports, settling, { head, memo: result.memo });
  }
  const spoiled = tamperedReport({ code: TAMPERED, message: tampered.join("; ") }, warned);
  return settleStage(job, ports, { workspace, from, report: spoiled, key: "failed" });
}

/** A sandbox has another start. Called again after the workspace was opened, which may take longer than this lasts. */
function prepareStart({ runners, workspaces }: AttemptPorts): void {
  if (workspaces.confine === undefined) runners.prepareStart?.();
}

/** A result that counts is kept where the stage has a memo, with the commit that its work became. */
async function settleAndKeep(
  job: AttemptJob,
  ports: AttemptPorts,
  settling: Settling,
  { head, memo }: { readonly head: string | null; readonly memo: AgentResult["memo"] },
): Promise<Report> {
  if (memo === undefined || settling.from !== head) return settleStage(job, ports, settling);
  let to = head;
  const note: AttemptPorts["note"] = (facts) => {
    to = attemptFacts({ facts }).to ?? to;
    return ports.note(facts);
  };
  const report = await settleStage(job, { ...ports, note }, settling);
  const { health } = judge(job.resolved.flow.words, job.stage, report);
  if (health === "complete" && report.undone === undefined) await keepMemo(job, ports, memo, { from: head, to });
  return report;
}

/** Passrail's own stages change the repository on purpose: they land work. */
async function guardFor({ stage }: AttemptJob, { workspaces }: AttemptPorts, workspace: Workspace) {
  const none = ok(async (): Promise<GuardReport> => ({ tampered: [], warnings: [] }));
  if (stage.kind === "builtin" || workspaces.guard === undefined) return none;
  return workspaces.guard(workspace);
}

/** The first call counts, whoever makes it. */
function once<T>(task: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => (done ??= task());
}

function withWarnings(report: Report, warnings: readonly string[]): Report {
  return warnings.length === 0 ? report : { ...report, warnings: [...(report.warnings ?? []), ...warnings] };
}

/** Judges the attempt's report, once. Only an agent that passes must have written its files. */
function judged(
  job: AttemptJob,
  { report, missing }: Pick<AgentResult, "report" | "missing">,
): Pick<Settling, "report" | "key"> {
  const { resolved, stage } = job;
  const key = routeKey(judge(resolved.flow.words, stage, report));
  if (key !== "pass" || missing.length === 0) return { report, key };
  const hint = missing.includes(NO_WORK)
    ? `; where the work exists already: passrail runs skip ${job.run.id} --reason "…"`
    : "";
  const reason = `${stage.shownAgent} did not write ${missing.join(", ")}${hint}`;
  return { report: { ...report, cause: "required_file_missing", reason }, key: "failed" };
}

/** A track that shares the workspace commits only its own folder: another track may be in the middle of its work. */
function trackFolder(job: AttemptJob, workspace: Workspace): Pick<Settling, "dir"> {
  const isShared = job.track !== MAIN_TRACK && joinOf(job.resolved.flow, job.track) === undefined;
  const dir = isShared ? workDir(job, workspace) : null;
  return dir?.ok === true ? { dir: dir.value } : {};
}

async function workIn(
  job: AttemptJob,
  ports: AttemptPorts,
  workspace: Workspace,
  start: Pick<AgentPlace, "from" | "head" | "onEnded">,
): Promise<AgentResult> {
  const { stage, play } = job;
  if (stage.kind === "builtin") return { report: await runBuiltin(job, ports, workspace), missing: [], isShown: false };
  if (play === null) {
    const reason = `no runner plays agent ${stage.shownAgent}; give --agent ${stage.id}=claude (or a command), or set it in passrail.yaml`;
    return { report: { cause: "agent_not_configured", reason }, missing: [], isShown: false };
  }
  await prepareNotes(job, ports, workspace);
  const result = await runAgent(job, ports, { play, workspace, ...start });
  const { cause = "", reason = cause } = result.report;
  const fallback = fallbackOf(job);
  if (stage.kind !== "router" || fallback === "stop") return result;
  const isUnreachable = UNREACHABLE.has(cause);
  const isUnusable = fallback === "rules" && (cause.startsWith("verdict_") || isWithoutList(result.report));
  if (!isUnreachable && !isUnusable) return result;
  const why = reason === "" ? "it named no agents" : reason;
  const warnings = [`${isUnreachable ? "router_unreachable" : "router_unusable"}: ${why}; the rules chose instead`];
  return {
    report: { ...(await routeByRules(job, join(job.files.dir, "rules.md"))), warnings },
    missing: [],
    isShown: false,
  };
}

/** The setting that the run was started with overrides its flow. */
function fallbackOf({ run, stage }: AttemptJob): RouterFallback {
  const set = factOf(run, ["config", "router_fallback"]);
  return ROUTER_FALLBACKS.find((known) => known === set) ?? stage.fallback;
}

/** It answered, and there is no list to follow. */
function isWithoutList({ cause, stages }: Report): boolean {
  return cause === undefined && (stages === undefined || stages.length === 0);
}

async function routeByRules(job: AttemptJob, record: string = job.files.prompt): Promise<Report> {
  if (fallbackOf(job) === "stop")
    return { cause: "agent_not_configured", reason: "no program is set for the router, and its fallback is stop" };
  const { rule, why, stages } = chooseByRules(`${job.run.subject.title}\n${job.run.subject.body}`);
  const pool = routerPool(job.resolved, job.stage);
  const known = stages.filter(({ agent }) => pool.includes(agent));
  await writeRecord(job.files, record, `no model: rules\nrule: ${rule}\nwhy: ${why}\n`);
  return {
    structured: true,
    stages: known,
    reason: `rule "${rule}" (${why})`,
    summary: `rule "${rule}" (${why}) chose ${known.map(({ agent }) => agent).join(", ")}`,
  };
}

async function runBuiltin(job: AttemptJob, ports: AttemptPorts, workspace: Workspace): Promise<Report> {
  const { run, stage, attempt, resolved, project } = job;
  const { builtins, workspaces, outward, signal, now, readYaml } = ports;
  const builtin = builtins[stage.agent];
  if (builtin === undefined) {
    const reason = `there is no builtin ${stage.agent}; known: ${Object.keys(builtins).join(", ")}`;
    return { cause: "builtin_unknown", reason };
  }
  const runDir = join(job.home, "runs", run.id);
  const attempts = await ports.earlierAttempts();
  const place = { run, stage, attempt, resolved, project, home: job.home, runDir, attempts };
  return builtin({ ...place, workspace, workspaces, outward, signal, now, readYaml });
}
