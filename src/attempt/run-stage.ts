// One attempt from start to end: workspace, prompt, runner, verdict. Reads like the life of an attempt; knows nothing of routing.
// Whatever goes wrong in ordinary life ends as a report with a cause; only bugs throw.

import { runFacts } from "../core/run/facts.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import { mkdir, realpath } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { AttemptEnd, Session } from "../runner/runner.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { ToldUsage } from "../core/budget/budget.ts";
import type { WorkStage } from "../core/flow/flow.ts";
import type { JsonObject } from "../core/json.ts";
import { judge } from "../core/verdict/judge.ts";
import { type Report, routeKey } from "../core/flow/outcome.ts";
import type { Play } from "../core/flow/runner-choice.ts";
import { composePrompt, composeRepair, composeResumed } from "../core/prompt/prompt.ts";
import type { Result } from "../core/result.ts";
import { chooseByRules } from "../core/flow/router-rules.ts";
import type { Carry, Run } from "../core/run/run.ts";
import { factOf } from "../core/run/sequence.ts";
import { fillFacts } from "../core/flow/template.ts";
import { nativeSchema, submissionSchema } from "../core/verdict/submission.ts";
import type { AttemptRecord } from "../store/store.ts";
import type { Workspace, Workspaces } from "../workspace/workspace.ts";
import { type AttemptFiles, isInside, openAttempt, setAside, stamp, writeRecord } from "./attempt-files.ts";
import type { Builtin } from "./builtins.ts";
import { changedFiles } from "./changed-files.ts";
import { failpoint } from "./failpoint.ts";
import { ensureProjectNotes } from "./project-notes.ts";
import type { Players } from "../runner/runners.ts";
import { notedFacts, promptFacts } from "./prompt-facts.ts";
import { type ReadContext, readReport, readSubmitted } from "./read-report.ts";
import { type ReportReading } from "../core/verdict/contract.ts";
import { openForStage, settleStage } from "./stage-workspace.ts";
import { openTalk, type Talk, type TalkPlace } from "./conversation.ts";
import { optional } from "../core/optional.ts";

export type StageJob = {
  readonly resolved: ResolvedFlow;
  readonly run: Run;
  readonly track: string;
  readonly stage: WorkStage;
  readonly attempt: number;
  readonly carry: Carry;
  readonly marker: string;
  readonly nonce: string;
  /** With which the attempt's program may speak to the API. */
  readonly token: string;
  /** Whether its verdict came through the API; then nobody asks it again. */
  readonly isSettled: () => boolean;
  readonly files: AttemptFiles;
  readonly home: string;
  readonly players: Players;
  /** Stages that are done without an agent, by name. */
  readonly builtins: Readonly<Record<string, Builtin>>;
  /** Who plays the agent and how; undefined where nothing was configured for it. */
  readonly play: Play | undefined;
  /** Whether settings that the repository brings for agents' programs may take effect. */
  readonly repositorySettings: boolean;
  readonly project: string;
  readonly workspaces: Workspaces;
  /** Workspaces stay when they are not needed any more, for people to look at. */
  readonly keepWorkspaces: boolean;
  readonly url: string;
  readonly earlierAttempts: () => Promise<readonly AttemptRecord[]>;
  /** Facts about the attempt, kept with it; awaited before the program may act. */
  readonly note: (facts: JsonObject) => Promise<void>;
  readonly readYaml: (text: string) => Result<unknown>;
  /** What was used so far, the last word counts; it is kept also when the attempt is cut off. */
  readonly spent: (told: ToldUsage) => void;
  readonly signal: AbortSignal;
  /** ISO 8601, for records. */
  readonly now: () => string;
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
  "auth",
  "rate_limit",
  "quota",
  "server_error",
  "unreachable",
  "agent_crashed",
]);

export async function runStage(job: StageJob): Promise<Report> {
  const { stage } = job;
  await openAttempt(job.files);
  if (stage.kind === "router" && job.play === undefined) return routeByRules(job);
  const opened = await openForStage(job);
  if (!opened.ok) {
    const { code, message, hint } = opened.error;
    return failed(code, hint === undefined ? message : `${message} (${hint})`);
  }
  failpoint("workspace-opened");
  const workspace = opened.value;
  const changes = await job.workspaces.guard?.(workspace);
  const from = await job.workspaces.head(workspace);
  let report: Report;
  try {
    report = await workIn(job, workspace, from);
  } catch (error) {
    // A mistake of ours must not leave the branch taken; the work is kept like that of any attempt that failed.
    await settleStage(job, workspace, from, failed("engine_error", "the attempt was cut off")).catch(() => undefined);
    throw error;
  }
  const undone = (await changes?.()) ?? [];
  if (undone.length > 0) report = { ...report, warnings: [...(report.warnings ?? []), ...undone] };
  return settleStage(job, workspace, from, report);
}

async function workIn(job: StageJob, workspace: Workspace, from: string | null): Promise<Report> {
  const { stage } = job;
  if (stage.kind === "builtin") return runBuiltin(job, workspace);
  if (job.play === undefined) {
    return failed(
      "agent_not_configured",
      `nobody plays agent ${stage.shownAgent}; give --agent ${stage.id}=claude (or a command), or set it in passrail.yaml`,
    );
  }
  const { memory } = job.resolved.flow.workspace;
  if (memory !== undefined) await ensureProjectNotes(workspace.dir, memory, job.run.subject);
  const report = await runAgent(job, workspace, job.play, from);
  if (stage.kind !== "router" || stage.fallback === "stop" || !UNREACHABLE.has(report.cause ?? "")) return report;
  const chosen = await routeByRules(job);
  return { ...chosen, warnings: [`router_unreachable: ${report.reason ?? report.cause}; the rules chose instead`] };
}

async function runAgent(job: StageJob, workspace: Workspace, play: Play, from: string | null): Promise<Report> {
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
  // What lies uncommitted from earlier stages is not this one's work.
  const leavesNotes = job.resolved.flow.workspace.memory !== undefined || stage.writes.includes("git-commit");
  const diffOf = async (): Promise<string> => job.players.redact(await job.workspaces.diff(workspace, from));
  const diffBefore = leavesNotes ? await diffOf() : "";
  const context = readContext(job, dir);
  const { end, reading, repaired, session, usage } = await converse(job, workspace, play, context, from);
  const to = await job.workspaces.head(workspace);
  const diff = await diffOf();
  await writeRecord(files.diff, diff);
  await job.note({
    ...exitFacts(end),
    ...conversationFacts(end, usage),
    ...(session === null
      ? {}
      : { session: { id: session.id, totals: session.totals === null ? null : { ...session.totals } } }),
    workspace: workspace.dir,
    mode: workspace.mode,
    repository: workspace.repository ?? null,
    branch: workspace.branch ?? null,
    from,
    to,
    repaired,
    diffBytes: diff.length,
    files: changedFiles(diff, diffBefore),
  });
  const missing = await missingFiles(dir, required, before, stage, from !== to || diff !== diffBefore);
  const report = { ...(await checkHandoff(dir, reading.report)), ...optional({ usage }) };
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

type Conversed = {
  readonly end: AttemptEnd;
  readonly reading: ReportReading;
  readonly repaired: boolean;
  readonly session: Session | null;
  readonly usage: Report["usage"];
};

/** Tells the agent what to do and hears what came of it; once more where its verdict cannot be read. */
async function converse(
  job: StageJob,
  workspace: Workspace,
  play: Play,
  context: ReadContext,
  head: string | null,
): Promise<Conversed> {
  const { stage, files, resolved, run, track, carry } = job;
  const dir = context.workspaceDir;
  const talks = play.runner !== "command";
  const facts = await promptFacts(job, workspace, dir, head);
  const told = { ...facts, submits: talks && offersDesk(stage) };
  const talk = await openTalk(job, play, {
    workspace,
    cwd: dir,
    env: attemptEnvironment(job, workspace),
    limits: { ...stage.limits, graceMs: GRACE_MS },
    noted: notedFacts(job, facts),
    desk: offersDesk(stage)
      ? {
          schema: submissionSchema(resolved.flow, stage, context.knownAgents),
          accept: (text) => readSubmitted(context, text),
        }
      : null,
  });
  try {
    const say = async (text: string, session?: Session): Promise<AttemptEnd> => {
      await writeRecord(files.prompt, job.players.redact(text));
      failpoint("prompt-written");
      return talk.say(text, { outputPath: files.output, ...optional({ session }) });
    };
    const whole = (): string => composePrompt(resolved, run, track, stage, carry, told);
    const earlier = talks ? await sessionToResume(job, play) : undefined;
    let end =
      earlier === undefined
        ? await say(whole())
        : await say(composeResumed(resolved, run, track, stage, carry, told), earlier);
    // A session that is gone costs nothing but its memory: the whole prompt says everything again.
    if (earlier !== undefined && end.conversation?.failure?.kind === "session_lost") end = await say(whole());
    failpoint("attempt-ended");
    let reading = await readReport(context, end, talk.submitted());
    let repaired = false;
    if (reading.unreadable !== undefined && repairWanted(job) && !job.signal.aborted && !job.isSettled()) {
      repaired = true;
      const reason = reading.unreadable.message;
      const repair = composeRepair(resolved, run, track, stage, carry, told, reason);
      end = await repairVerdict(job, talk, context, repair);
      const second = await readReport(context, end, talk.submitted());
      const warning = `verdict_repaired: the first verdict was not accepted (${reason})`;
      reading =
        second.unreadable === undefined && second.report.cause === undefined
          ? { report: { ...second.report, warnings: [...(second.report.warnings ?? []), warning] } }
          : reading;
    }
    return {
      end,
      reading: reading.unreadable === undefined ? reading : refusedPermissions(play, end, reading),
      repaired,
      session: talk.session(),
      usage: talk.usage(),
    };
  } finally {
    await talk.close();
  }
}

/** The one repeat: in the same session where there is one, else by starting the program again. */
async function repairVerdict(job: StageJob, talk: Talk, context: ReadContext, repair: string): Promise<AttemptEnd> {
  const { files, resolved, stage } = job;
  await writeRecord(files.repairPrompt, job.players.redact(repair));
  await setAside(files.verdict, files, "rejected-verdict.json");
  const session = talk.session();
  return talk.say(repair, {
    outputPath: files.repairOutput,
    env: { PASSRAIL_REPAIR: "1" },
    ...(session === null ? {} : { session }),
    ...(offersDesk(stage) ? { schema: nativeSchema(resolved.flow, stage, context.knownAgents) } : {}),
  });
}

/** An agent that could not work because it was refused something has not failed at its task: people decide, or it is said so. */
function refusedPermissions(play: Play, end: AttemptEnd, reading: ReportReading): ReportReading {
  const denials = end.conversation?.denials ?? [];
  if (denials.length === 0) return reading;
  const list = denials.slice(0, 20).join("\n");
  if (play.options.permission === "ask" && play.questions === "ask") {
    const question = `Its program refused this to the agent, and it gave no verdict:\n${list}\nHow shall it go on?`;
    const { summary = "" } = reading.report;
    return { report: { health: "blocked", structured: true, asked: true, questions: [question], summary } };
  }
  const reason = `the agent gave no verdict after it was refused: ${denials.slice(0, 3).join("; ")}`;
  return { report: { ...reading.report, cause: "denied", reason } };
}

/** The answer itself is the result of these; everything else can be submitted. */
function offersDesk(stage: WorkStage): boolean {
  return stage.result.from !== "prefix";
}

/** The session of the last attempt of this stage, where it was played by the same runner and shall be gone on with. */
async function sessionToResume(job: StageJob, play: Play): Promise<Session | undefined> {
  const { reason } = job.carry;
  const wanted =
    (reason === "answered" && play.session !== "clean") ||
    (play.session === "resume" && (reason === "sent-back" || reason === "again"));
  if (!wanted) return undefined;
  const own = (await job.earlierAttempts()).filter(({ stage }) => stage === job.stage.id).map(attemptFacts);
  return own.findLast(({ runner }) => runner === play.runner)?.session ?? undefined;
}

function readContext(job: StageJob, dir: string): ReadContext {
  const { stage } = job;
  return {
    flow: job.resolved.flow,
    stage,
    subjectId: job.run.subject.id,
    nonce: job.nonce,
    workspaceDir: dir,
    files: job.files,
    // A router chooses others, never itself.
    knownAgents: Object.keys(job.resolved.agents).filter((name) => stage.kind !== "router" || name !== stage.agent),
    readYaml: job.readYaml,
    redact: job.players.redact,
  };
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

/** What every program of an attempt finds in its environment. */
function attemptEnvironment(job: StageJob, workspace: Workspace): TalkPlace["env"] {
  const { stage, run } = job;
  return {
    ...workspace.env,
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
    PASSRAIL_TOKEN: job.token,
    ...ownNames(job, workspace),
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
  return runFacts(job.run).config.verdictRepair;
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
  const builtin = job.builtins[job.stage.agent];
  if (builtin === undefined)
    return failed(
      "builtin_unknown",
      `there is no builtin ${job.stage.agent}; known: ${Object.keys(job.builtins).join(", ")}`,
    );
  return builtin({
    run: job.run,
    stage: job.stage,
    resolved: job.resolved,
    project: job.project,
    workspace,
    workspaces: job.workspaces,
    signal: job.signal,
    now: job.now,
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

/** What an agent's program told besides its words; absent for programs that only print. */
function conversationFacts({ conversation }: AttemptEnd, told: Report["usage"]): JsonObject {
  if (conversation === undefined) return {};
  const { version, turns, toolCalls, denials } = conversation;
  const model = told?.model ?? conversation.model;
  return { model, version, turns, toolCalls, denials, usage: told === undefined ? null : { ...told.usage } };
}

function failed(cause: string, reason: string): Report {
  return { cause, reason };
}
