// One attempt from start to end: workspace, prompt, runner, verdict. Reads like the life of an attempt; knows nothing of routing.
// Whatever goes wrong in ordinary life ends as a report with a cause; only bugs throw.

import { mkdir, realpath } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { AttemptEnd, AttemptSpec, ProcessIdentity, Runner } from "../agents/runner.ts";
import type { ResolvedFlow } from "../core/agent.ts";
import type { WorkStage } from "../core/flow.ts";
import type { JsonObject } from "../core/json.ts";
import { judge } from "../core/judge.ts";
import { type Report, routeKey } from "../core/outcome.ts";
import { composePrompt, composeRepair } from "../core/prompt.ts";
import type { Result } from "../core/result.ts";
import { chooseByRules } from "../core/router-rules.ts";
import type { Carry, Run } from "../core/run.ts";
import { factOf } from "../core/sequence.ts";
import { fillFacts } from "../core/template.ts";
import type { AttemptRecord } from "../store/store.ts";
import type { Workspace, Workspaces } from "../workspace/workspace.ts";
import { type AttemptFiles, isInside, openAttempt, setAside, stamp, writeRecord } from "./attempt-files.ts";
import { branchOf } from "./branch.ts";
import { type Builtin, builtins } from "./builtins.ts";
import { changedFiles } from "./changed-files.ts";
import { failpoint } from "./failpoint.ts";
import { ensureProjectNotes } from "./project-notes.ts";
import { notedFacts, promptFacts } from "./prompt-facts.ts";
import { readReport } from "./read-report.ts";

export type StageJob = {
  readonly resolved: ResolvedFlow;
  readonly run: Run;
  readonly track: string;
  readonly stage: WorkStage;
  readonly attempt: number;
  readonly carry: Carry;
  readonly marker: string;
  readonly nonce: string;
  readonly files: AttemptFiles;
  readonly home: string;
  readonly runner: Runner;
  /** Program and arguments, or undefined where nothing was configured for this agent. */
  readonly argv: readonly string[] | undefined;
  readonly project: string;
  readonly workspaces: Workspaces;
  /** The child's environment before the attempt's own names. */
  readonly environment: Readonly<Record<string, string>>;
  readonly url: string;
  readonly earlierAttempts: () => Promise<readonly AttemptRecord[]>;
  /** Facts about the attempt, kept with it; awaited before the program may act. */
  readonly note: (facts: JsonObject) => Promise<void>;
  readonly readYaml: (text: string) => Result<unknown>;
  readonly signal: AbortSignal;
};

/** Between TERM and KILL; agents get a moment to save what they have. */
const GRACE_MS = 5000;
/** The router gave no answer at all; one that cannot be used is an error and not among these. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  "agent_not_found",
  "spawn_failed",
  "agent_exit_nonzero",
  "startup_timeout",
  "idle_timeout",
  "timeout",
]);

export async function runStage(job: StageJob): Promise<Report> {
  const { stage } = job;
  await openAttempt(job.files);
  if (stage.kind === "router" && job.argv === undefined) return routeByRules(job);
  const opened = await job.workspaces.open({
    runId: job.run.id,
    project: job.project,
    ...(job.workspaces.mode === "worktree" ? { branch: branchOf(job.resolved.flow, job.run) } : {}),
  });
  if (!opened.ok)
    return failed(
      opened.error.code,
      `${opened.error.message}${opened.error.hint === undefined ? "" : ` (${opened.error.hint})`}`,
    );
  failpoint("workspace-opened");
  const workspace = opened.value;
  if (stage.kind === "builtin") return runBuiltin(job, workspace);
  if (job.argv === undefined) {
    return failed(
      "agent_not_configured",
      `no program is set for agent ${stage.shownAgent}; give --agent ${stage.id}=COMMAND or set it in passrail.yaml`,
    );
  }
  const { memory } = job.resolved.flow.workspace;
  if (memory !== undefined) await ensureProjectNotes(workspace.dir, memory, job.run.subject);
  const report = await runAgent(job, workspace, job.argv);
  if (stage.kind !== "router" || stage.fallback === "stop" || !UNREACHABLE.has(report.cause ?? "")) return report;
  const chosen = await routeByRules(job);
  return { ...chosen, warnings: [`router_unreachable: ${report.reason ?? report.cause}; the rules chose instead`] };
}

async function runAgent(job: StageJob, workspace: Workspace, argv: readonly string[]): Promise<Report> {
  const { stage, files } = job;
  const dir = workDir(job, workspace);
  if (!(await isInside(workspace.dir, dir))) {
    return failed("workspace_dir_outside", `the folder ${dir} of this track leads out of the workspace`);
  }
  await mkdir(dir, { recursive: true });
  if (stage.result.from === "file-verdict" && stage.result.path !== undefined) {
    const review = join(dir, stage.result.path);
    if (!(await isInside(workspace.dir, dirname(review)))) {
      return failed("workspace_dir_outside", `the folder of ${stage.result.path} leads out of the workspace`);
    }
    await setAside(review, files, "replaced-verdict.md");
  }
  const required = requiredFiles(stage);
  const before = await Promise.all(required.map((path) => stamp(join(dir, path))));
  const from = await job.workspaces.head(workspace);
  // What lies uncommitted from earlier stages is not this one's work.
  const leavesNotes = job.resolved.flow.workspace.memory !== undefined || stage.writes.includes("git-commit");
  const diffBefore = leavesNotes ? await job.workspaces.diff(workspace, from) : "";
  const facts = await promptFacts(job, workspace, dir, from);
  const noted = notedFacts(job, facts);
  const prompt = composePrompt(job.resolved, job.run, job.track, stage, job.carry, facts);
  await writeRecord(files.prompt, prompt);
  failpoint("prompt-written");
  const spec = { ...attemptSpec(job, workspace, dir, argv), prompt, outputPath: files.output };
  let end = await start(job, spec, noted);
  failpoint("attempt-ended");
  const context = {
    flow: job.resolved.flow,
    stage,
    subjectId: job.run.subject.id,
    nonce: job.nonce,
    workspaceDir: dir,
    files,
    // A router chooses others, never itself.
    knownAgents: Object.keys(job.resolved.agents).filter((name) => stage.kind !== "router" || name !== stage.agent),
    readYaml: job.readYaml,
  };
  let reading = await readReport(context, end);
  let repaired = false;
  if (reading.unreadable !== undefined && repairWanted(job) && !job.signal.aborted) {
    repaired = true;
    const repair = composeRepair(job.resolved, job.run, job.track, stage, job.carry, facts, reading.unreadable.message);
    await writeRecord(files.repairPrompt, repair);
    await setAside(files.verdict, files, "rejected-verdict.json");
    const env = { ...spec.env, PASSRAIL_REPAIR: "1" };
    end = await start(job, { ...spec, env, prompt: repair, outputPath: files.repairOutput }, noted);
    const second = await readReport(context, end);
    const warning = `verdict_repaired: the first verdict was not accepted (${reading.unreadable.message})`;
    reading =
      second.unreadable === undefined && second.report.cause === undefined
        ? { report: { ...second.report, warnings: [...(second.report.warnings ?? []), warning] } }
        : reading;
  }
  const to = await job.workspaces.head(workspace);
  const diff = await job.workspaces.diff(workspace, from);
  await writeRecord(files.diff, diff);
  await job.note({
    ...exitFacts(end),
    workspace: workspace.dir,
    repository: workspace.repository ?? null,
    branch: workspace.branch ?? null,
    from,
    to,
    repaired,
    diffBytes: diff.length,
    files: changedFiles(diff, diffBefore),
  });
  const missing = await missingFiles(dir, required, before, stage, from !== to || diff !== diffBefore);
  const report = await checkHandoff(dir, reading.report);
  // Who asks, sends back or gives up need not have written anything; who passes must.
  if (missing.length > 0 && routeKey(judge(job.resolved.flow.words, stage, report)) === "pass") {
    return {
      ...report,
      cause: "required_file_missing",
      reason: `${stage.shownAgent} did not write ${missing.join(", ")}`,
    };
  }
  failpoint("report-read");
  return report;
}

/** The handoff document that an agent names lies inside the workspace, also where links lead; that it is missing is said on the stage. */
async function checkHandoff(dir: string, report: Report): Promise<Report> {
  const { path, ...rest } = report;
  if (path === undefined || report.cause !== undefined) return report;
  const real = await realpath(join(dir, path)).catch(() => undefined);
  if (real === undefined) {
    const warning = `handoff_file_missing: the handoff ${path} does not exist in the workspace`;
    return { ...report, warnings: [...(report.warnings ?? []), warning] };
  }
  if (real.startsWith(`${await realpath(dir)}${sep}`)) return report;
  return { ...rest, cause: "handoff_outside", reason: `the handoff ${path} leads out of the workspace` };
}

async function start(job: StageJob, spec: AttemptSpec, noted: JsonObject): Promise<AttemptEnd> {
  return job.runner.run(spec, {
    signal: job.signal,
    onStarted: async (identity: ProcessIdentity) => {
      failpoint("spawned");
      await job.note({
        process: { ...identity },
        prompt: job.files.prompt,
        output: job.files.output,
        ...noted,
      });
      failpoint("process-noted");
    },
  });
}

function attemptSpec(
  job: StageJob,
  workspace: Workspace,
  dir: string,
  argv: readonly string[],
): Omit<AttemptSpec, "prompt" | "outputPath"> {
  const { stage, run } = job;
  const [program = "", ...args] = argv;
  return {
    marker: job.marker,
    argv: [program, ...args],
    cwd: dir,
    env: {
      ...job.environment,
      PASSRAIL_RUN_ID: run.id,
      PASSRAIL_STAGE: stage.id,
      PASSRAIL_AGENT: stage.shownAgent,
      PASSRAIL_TRACK: job.track,
      PASSRAIL_ATTEMPT: String(job.attempt),
      PASSRAIL_LOOP: String(job.carry.loop),
      PASSRAIL_SUBJECT_ID: run.subject.id,
      PASSRAIL_VERDICT_FILE: job.files.verdict,
      PASSRAIL_HANDOFF_FILE: job.files.handoff,
      PASSRAIL_NONCE: job.nonce,
      PASSRAIL_URL: job.url,
      // The attempt's own right and nothing more; it ends with the attempt.
      PASSRAIL_TOKEN: `pr_at_${job.nonce}`,
      ...ownNames(job, workspace),
    },
    limits: { ...stage.limits, graceMs: GRACE_MS },
  };
}

/** Names that a source's agents expect, where the flow lists them. */
function ownNames(job: StageJob, workspace: Workspace): Record<string, string> {
  const known: Record<string, string> = {
    DASHBOARD_URL: job.url,
    STORY_ID: job.run.subject.id,
    BRANCH: workspace.branch ?? "",
  };
  return Object.fromEntries(job.stage.vars.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]])));
}

/** Tracks work in their own folder of the workspace where the flow and the run's facts name one. */
function workDir(job: StageJob, workspace: Workspace): string {
  const plan = job.resolved.flow.stages.find(
    (stage) => stage.kind === "parallel" && Object.hasOwn(stage.tracks, job.track),
  );
  const trackDir = plan?.kind === "parallel" ? plan.tracks[job.track]?.workspace?.dir : undefined;
  const dir = job.stage.workspace?.dir ?? trackDir;
  const filled = dir === undefined ? undefined : fillFacts(dir, (path) => factOf(job.run, path));
  return filled === undefined || filled.includes("..") || filled.startsWith("/")
    ? workspace.dir
    : join(workspace.dir, filled);
}

/** Files that the flow says this stage writes; the verdict's own file is judged by its reader. */
function requiredFiles(stage: WorkStage): readonly string[] {
  return stage.writes.filter(
    (name) => name !== "git-commit" && name !== stage.result.path && !name.startsWith("/") && !name.includes(".."),
  );
}

async function missingFiles(
  dir: string,
  required: readonly string[],
  before: readonly string[],
  stage: WorkStage,
  changed: boolean,
): Promise<string[]> {
  const missing: string[] = [];
  for (const [index, path] of required.entries()) {
    const now = await stamp(join(dir, path));
    if (now === "absent" || now === before[index]) missing.push(path);
  }
  if (stage.writes.includes("git-commit") && !changed) missing.push("any change (a commit or a diff)");
  return missing;
}

function repairWanted(job: StageJob): boolean {
  return factOf(job.run, ["config", "verdict_repair"]) !== false;
}

async function routeByRules(job: StageJob): Promise<Report> {
  if (job.stage.fallback === "stop")
    return failed("agent_not_configured", "no program is set for the router, and its fallback is stop");
  const { rule, stages } = chooseByRules(`${job.run.subject.title}\n${job.run.subject.body}`);
  const known = stages.filter(({ agent }) => agent in job.resolved.agents);
  await writeRecord(job.files.prompt, `no model: rules\nrule: ${rule}\n`);
  return {
    structured: true,
    stages: known,
    summary: `rule "${rule}" chose ${known.map(({ agent }) => agent).join(", ")}`,
  };
}

async function runBuiltin(job: StageJob, workspace: Workspace): Promise<Report> {
  const builtin: Builtin | undefined = builtins[job.stage.agent];
  if (builtin === undefined)
    return failed(
      "builtin_unknown",
      `there is no builtin ${job.stage.agent}; known: ${Object.keys(builtins).join(", ")}`,
    );
  return builtin({
    run: job.run,
    stage: job.stage,
    resolved: job.resolved,
    project: job.project,
    workspaceDir: workspace.dir,
    runDir: join(job.home, "runs", job.run.id),
    attempts: await job.earlierAttempts(),
    readYaml: job.readYaml,
  });
}

function exitFacts(end: AttemptEnd): JsonObject {
  return {
    ended: end.reason,
    exitCode: end.exitCode,
    signal: end.signal,
    durationMs: Math.round(end.durationMs),
    outputBytes: end.outputBytes,
    truncated: end.truncated,
    detail: end.detail,
  };
}

function failed(cause: string, reason: string): Report {
  return { cause, reason };
}
