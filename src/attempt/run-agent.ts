// The work of an agent in its workspace: clear the way, hold the conversation, record the result.

import { join } from "node:path";
import { attemptFacts } from "../core/attempt-facts.ts";
import type { Report } from "../core/flow/outcome.ts";
import { ownCommand, runsOwnCommand } from "../core/flow/own-command.ts";
import { isSentBack } from "../core/verdict/exit-code.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import type { JsonObject } from "../core/json.ts";
import { optional } from "../core/optional.ts";
import { excerptOf } from "../core/prompt/excerpt.ts";
import { makeFolders } from "../file/confined.ts";
import type { AttemptEnd } from "../runner/runner.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { attemptFiles, readAgentFile, setAside, writeRecord } from "./attempt-files.ts";
import { changedFiles, changedParts } from "./changed-files.ts";
import { checkChanges, watchesChanges } from "./changes-allowed.ts";
import { converse, type Conversed } from "./converse.ts";
import { REPLACED_REVIEW } from "./read-context.ts";
import { failpoint } from "./failpoint.ts";
import { type HandedOver, handOver } from "./handed-over.ts";
import { firstCutOff } from "./interruption.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import type { KeptResult } from "./memo.ts";
import { checkHandoff, missingFiles, mustWork, stampRequired } from "./required-files.ts";
import { untampered } from "./tampered.ts";
import { workDir } from "./work-dir.ts";

export type AgentResult = {
  readonly report: Report;
  /** Files that the flow says the stage writes, and that this attempt did not write. */
  readonly missing: readonly string[];
  /** Its recorded diff shows the workspace as it is now. */
  readonly isShown: boolean;
  /** Where its result is kept, if it comes to one. */
  readonly memo?: KeptResult;
};

export type AgentPlace = {
  readonly play: RunnerChoice;
  readonly workspace: Workspace;
  /** The commit that its work is compared with: where it started, or where attempts that were cut off right before it did. */
  readonly from: string | null;
  /** The commit that it finds. */
  readonly head: string | null;
  /** Called when nothing of the agent works any more, while git lists what it has changed. */
  readonly onEnded: () => void;
};

export async function runAgent(job: AttemptJob, ports: AttemptPorts, place: AgentPlace): Promise<AgentResult> {
  const { workspace } = place;
  const folder = workDir(job, workspace);
  if (!folder.ok)
    return { report: { cause: folder.error.code, reason: folder.error.message }, missing: [], isShown: false };
  const dir = folder.value;
  await clearTheWay(job, workspace, dir);
  const handed = await handOver(job, ports, workspace);
  if (!handed.ok) {
    const { code, message, hint } = handed.error;
    return {
      report: { cause: code, reason: hint === undefined ? message : `${message} (${hint})` },
      missing: [],
      isShown: false,
    };
  }
  try {
    return await workIn(job, ports, place, { dir, handed: handed.value });
  } finally {
    await handed.value.close();
  }
}

async function workIn(
  job: AttemptJob,
  ports: AttemptPorts,
  place: AgentPlace,
  { dir, handed }: { readonly dir: string; readonly handed: HandedOver },
): Promise<AgentResult> {
  const { stage, files } = job;
  const { workspace, from } = place;
  const stamps = stampRequired(workspace.dir, dir, stage);
  // Changes that earlier stages left uncommitted are not this stage's work.
  const comparesDiffs = job.resolved.flow.workspace.memory !== undefined || mustWork(stage) || watchesChanges(job);
  const diffOf = async (): Promise<string> => ports.runners.redact(await ports.workspaces.diff(workspace, from));
  const diffBefore = comparesDiffs ? await diffAtStart(job, ports, diffOf) : "";
  const conversed = await converse(job, ports, { ...place, dir, handed });
  const changing = diffOf();
  place.onEnded();
  const [to, diff] = await Promise.all([ports.workspaces.head(workspace), changing]);
  const facts = {
    ...conversedFacts(conversed),
    workspace: workspace.dir,
    mode: workspace.mode,
    repository: workspace.repository ?? null,
    branch: workspace.branch ?? null,
    from,
    to,
    repaired: conversed.repaired,
    heard: (conversed.reading.heard ?? []).map((each) => ({ ...each })),
    ...commandFacts(job, ports, place.play),
    diffBytes: diff.length,
    files: changedFiles(diff, diffBefore),
  };
  await Promise.all([writeRecord(files, files.diff, diff), ports.note(facts)]);
  const changed = facts.files;
  // Whatever an agent did to its ignored folder: a handoff is no work.
  const hasChanges = diff !== diffBefore && (changed.length === 0 || changed.some((file) => !handed.isHandoff(file)));
  const hasWork = from !== to || hasChanges || !mustWork(stage) || (await hasEarlierWork(job, ports, place, diff));
  const missing = missingFiles(stage, stamps, stampRequired(workspace.dir, dir, stage), hasWork);
  const said = withNotes(job, place.play, conversed, withOutput(job, place.play, conversed));
  const found = { ...checkHandoff(workspace.dir, dir, said), ...optional({ usage: conversed.usage }) };
  const parts = changedParts(diff, diffBefore);
  const report = await checkChanges(job, ports, { workspace, from, to, parts }, found);
  failpoint("report-read");
  // What it handed over in the workspace leaves it now, or stops being ignored.
  return { report, missing, isShown: !handed.inWorkspace, ...optional({ memo: conversed.memo }) };
}

/** What this stage left when it was cut off is its work: then the state counts that it found at first, as it was recorded. */
async function diffAtStart(job: AttemptJob, ports: AttemptPorts, diffOf: () => Promise<string>): Promise<string> {
  const { home, run, stage, files } = job;
  const name = (dir: string): string => join(dir, "before.diff");
  const first = firstCutOff(job, await ports.earlierAttempts());
  const before =
    first === undefined
      ? await diffOf()
      : ((await readAgentFile(home, name(attemptFiles(home, run.id, stage.id, first.attempt).dir), BEFORE_BYTES)) ??
        "");
  if (before !== "") await writeRecord(files, name(files.dir), before);
  return before;
}

const BEFORE_BYTES = 64 * 1024 * 1024;

/**
 * An attempt that finds the work of its stage done has not failed: an earlier attempt of this run, perhaps one that a crash cut off, left
 * it. Without git nobody can tell.
 */
async function hasEarlierWork(
  { stage, attempt }: AttemptJob,
  ports: AttemptPorts,
  { workspace, from }: AgentPlace,
  diff: string,
): Promise<boolean> {
  if (from === null && diff === "") return true;
  for (const earlier of await ports.earlierAttempts()) {
    if (earlier.stage !== stage.id || earlier.attempt >= attempt) continue;
    const facts = attemptFacts(earlier);
    if (facts.files.length > 0 || (facts.to !== null && facts.from !== facts.to)) return true;
    const isCutOff = facts.ended === null && facts.from !== null;
    if (isCutOff && (await ports.workspaces.diff(workspace, facts.from)) !== "") return true;
  }
  return false;
}

function commandFacts({ stage }: AttemptJob, { runners }: AttemptPorts, play: RunnerChoice): JsonObject {
  if (play.runner !== "command" || play.command === null) return {};
  return { command: runners.redact(play.command.join(" ")), ownCommand: runsOwnCommand(stage, play) };
}

/** The router or the flow wanted a team, and this runner cannot lead one; or its gateway refused something: the run says so. */
function withNotes(
  { stage }: AttemptJob,
  { runner, options }: RunnerChoice,
  { warnings }: Conversed,
  report: Report,
): Report {
  const team = `teams_not_supported: ${stage.shownAgent} was to lead a team of agents; ${runner} cannot, so it worked alone`;
  const notes = [...(stage.teams && !options.teams ? [team] : []), ...warnings];
  return notes.length === 0 ? report : { ...report, warnings: [...(report.warnings ?? []), ...notes] };
}

/**
 * A check has no words: the end of its output is the issue that the builder gets. Where the flow sends work back from the check, a check
 * that says no is a revise; a check that could not run has failed.
 */
function withOutput({ stage }: AttemptJob, play: RunnerChoice, { end, reading }: Conversed): Report {
  const { report } = reading;
  const isCheck = stage.result.from === "exit-code" && ownCommand(stage) !== null && play.runner === "command";
  if (!isCheck || report.cause !== "agent_exit_nonzero") return report;
  const output = [end.stdoutTail, end.stderrTail].map(excerptOf).filter((text) => text !== "");
  const summary = `The check "${stage.id}" ended with exit code ${end.exitCode}.`;
  const description = [`${summary} The end of its output:`, ...output].join("\n");
  const issues = [{ severity: "major", description }];
  if (!isSentBack(stage, end.exitCode)) return { ...report, issues };
  const { cause: _cause, reason: _reason, ...rest } = report;
  return { ...rest, structured: true, verdict: "revise", summary, issues };
}

/** Makes the agent's folder and moves an old review away. */
async function clearTheWay({ stage, files }: AttemptJob, workspace: Workspace, dir: string): Promise<void> {
  untampered(makeFolders(workspace.dir, dir));
  if (stage.result.from !== "file-verdict" || stage.result.path === undefined) return;
  await setAside(workspace.dir, join(dir, stage.result.path), files, REPLACED_REVIEW);
}

function conversedFacts({ end, usage, session }: Conversed): JsonObject {
  return {
    ended: end.reason,
    exitCode: end.exitCode,
    signal: end.signal,
    durationMs: Math.round(end.durationMs),
    outputBytes: end.outputBytes,
    truncated: end.truncated,
    detail: end.detail,
    ...reportedFacts(end, usage),
    ...(session === null
      ? {}
      : { session: { id: session.id, totals: session.totals === null ? null : { ...session.totals } } }),
  };
}

/** Metadata that the agent's program reported; none for programs that only print. */
function reportedFacts({ conversation }: AttemptEnd, reported: Report["usage"]): JsonObject {
  if (conversation === undefined) return {};
  const { version, turns, toolCalls, denials, reportedMs } = conversation;
  const model = reported?.model ?? conversation.model;
  const took = optional({ reportedMs });
  return {
    model,
    version,
    turns,
    toolCalls,
    denials,
    ...took,
    usage: reported === undefined ? null : { ...reported.usage },
  };
}
