// One attempt from start to end: workspace, work, verdict, workspace. It does no routing. Ordinary failures end as a report with a cause;
// only bugs throw.

import { join } from "node:path";
import type { Report } from "../core/flow/outcome.ts";
import { routeKey } from "../core/flow/outcome.ts";
import { chooseByRules } from "../core/flow/router-rules.ts";
import { judge } from "../core/verdict/judge.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openAttempt, writeRecord } from "./attempt-files.ts";
import { failpoint } from "./failpoint.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { ensureProjectNotes } from "./project-notes.ts";
import { type AgentResult, runAgent } from "./run-agent.ts";
import { openForStage, settleStage } from "./stage-workspace.ts";

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
  "server_error",
  "unreachable",
  "agent_crashed",
]);

export async function runStage(job: AttemptJob, ports: AttemptPorts): Promise<Report> {
  const { stage } = job;
  await openAttempt(job.files);
  if (stage.kind === "router" && job.play === null) return routeByRules(job);
  const opened = await openForStage(job, ports);
  if (!opened.ok) {
    const { code, message, hint } = opened.error;
    return { cause: code, reason: hint === undefined ? message : `${message} (${hint})` };
  }
  failpoint("workspace-opened");
  const workspace = opened.value;
  const undoChanges = await ports.workspaces.guard?.(workspace);
  const from = await ports.workspaces.head(workspace);
  let result: AgentResult;
  try {
    result = await workIn(job, ports, workspace, from);
  } catch (error) {
    // A bug of ours must not keep the branch locked. The work is kept like that of any attempt that failed.
    const cutOff: Report = { cause: "engine_error", reason: "the attempt was cut off" };
    await settleStage(job, ports, { workspace, from, report: cutOff, passed: false }).catch(() => undefined);
    throw error;
  }
  const { report, passed } = judged(job, result);
  const undone = (await undoChanges?.()) ?? [];
  const warned = undone.length === 0 ? report : { ...report, warnings: [...(report.warnings ?? []), ...undone] };
  return settleStage(job, ports, { workspace, from, report: warned, passed });
}

/** Judges the attempt's report, once. Only an agent that passes must have written its files. */
function judged(job: AttemptJob, { report, missing }: AgentResult): { report: Report; passed: boolean } {
  const { resolved, stage } = job;
  const passed = routeKey(judge(resolved.flow.words, stage, report)) === "pass";
  if (!passed || missing.length === 0) return { report, passed };
  const reason = `${stage.shownAgent} did not write ${missing.join(", ")}`;
  return { report: { ...report, cause: "required_file_missing", reason }, passed: false };
}

async function workIn(
  job: AttemptJob,
  ports: AttemptPorts,
  workspace: Workspace,
  from: string | null,
): Promise<AgentResult> {
  const { stage, play } = job;
  if (stage.kind === "builtin") return { report: await runBuiltin(job, ports, workspace), missing: [] };
  if (play === null) {
    const reason = `no runner plays agent ${stage.shownAgent}; give --agent ${stage.id}=claude (or a command), or set it in passrail.yaml`;
    return { report: { cause: "agent_not_configured", reason }, missing: [] };
  }
  const { memory } = job.resolved.flow.workspace;
  if (memory !== undefined) await ensureProjectNotes(workspace.dir, memory, job.run.subject);
  const result = await runAgent(job, ports, { play, workspace, from });
  const { cause = "", reason = cause } = result.report;
  if (stage.kind !== "router" || stage.fallback === "stop" || !UNREACHABLE.has(cause)) return result;
  const warnings = [`router_unreachable: ${reason}; the rules chose instead`];
  return { report: { ...(await routeByRules(job)), warnings }, missing: [] };
}

async function routeByRules(job: AttemptJob): Promise<Report> {
  if (job.stage.fallback === "stop")
    return { cause: "agent_not_configured", reason: "no program is set for the router, and its fallback is stop" };
  const { rule, stages } = chooseByRules(`${job.run.subject.title}\n${job.run.subject.body}`);
  const known = stages.filter(({ agent }) => agent in job.resolved.agents);
  await writeRecord(job.files.prompt, `no model: rules\nrule: ${rule}\n`);
  return {
    structured: true,
    stages: known,
    summary: `rule "${rule}" chose ${known.map(({ agent }) => agent).join(", ")}`,
  };
}

async function runBuiltin(job: AttemptJob, ports: AttemptPorts, workspace: Workspace): Promise<Report> {
  const { run, stage, resolved, project } = job;
  const { builtins, workspaces, signal, now, readYaml } = ports;
  const builtin = builtins[stage.agent];
  if (builtin === undefined) {
    const reason = `there is no builtin ${stage.agent}; known: ${Object.keys(builtins).join(", ")}`;
    return { cause: "builtin_unknown", reason };
  }
  const runDir = join(job.home, "runs", run.id);
  const attempts = await ports.earlierAttempts();
  return builtin({ run, stage, resolved, project, workspace, workspaces, signal, now, runDir, attempts, readYaml });
}
