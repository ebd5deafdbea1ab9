// Reads a report at the end of a program, from the channels in order of trust: the desk, the program's structured output, the verdict file,
// the form that the flow names. An unreadable verdict carries its reason; nothing is guessed.

import { isAbsolute, join } from "node:path";
import type { AttemptEnd } from "../runner/runner.ts";
import type { Flow, WorkStage } from "../core/flow/flow.ts";
import { judge } from "../core/verdict/judge.ts";
import type { Report } from "../core/flow/outcome.ts";
import { err, ok, type Result } from "../core/result.ts";
import { readExitCode } from "../core/verdict/exit-code.ts";
import { readFileVerdict } from "../core/verdict/file-verdict.ts";
import { readHandoffFile } from "../core/verdict/handoff-file.ts";
import { readJsonTail } from "../core/verdict/json-tail.ts";
import { readPrefix } from "../core/verdict/prefix.ts";
import type { Reading, Unreadable } from "../core/verdict/reading.ts";
import { readRouteList } from "../core/verdict/route-list.ts";
import { readSubmission } from "../core/verdict/submission.ts";
import { readVerdictFile } from "../core/verdict/verdict-file.ts";
import { readWorkResult } from "../core/verdict/work-result.ts";
import { type AttemptFiles, readAgentFile } from "./attempt-files.ts";
import { checkContract, type ReportReading } from "../core/verdict/contract.ts";
import { optional } from "../core/optional.ts";

export type ReadContext = {
  readonly flow: Flow;
  readonly stage: WorkStage;
  readonly subjectId: string;
  readonly nonce: string;
  readonly workspaceDir: string;
  readonly files: AttemptFiles;
  readonly knownAgents: readonly string[];
  readonly readYaml: (text: string) => Result<unknown>;
  /** Removes secrets from files that agents wrote, as from their output. */
  readonly redact: (text: string) => string;
};

const FILE_BYTES = 1024 * 1024;
const SUMMARY_CHARS = 8 * 1024;

/** Ends that do not revoke an accepted verdict: the work was done, only the exit was rough. */
const AFTER_THE_VERDICT: ReadonlySet<string> = new Set([
  "rate_limit",
  "quota",
  "server_error",
  "unreachable",
  "turn_limit",
  "budget",
  "idle_timeout",
]);

/** `submitted` was accepted at the desk during this attempt. */
export async function readReport(context: ReadContext, end: AttemptEnd, submitted?: Report): Promise<ReportReading> {
  const failure = failureOf(end);
  const warnings = (end.conversation?.denials ?? []).map((denial) => `permission_denied: ${denial}`);
  if (submitted !== undefined && (failure === undefined || AFTER_THE_VERDICT.has(failure.cause ?? ""))) {
    const rough = failure === undefined ? [] : [`ended_after_verdict: ${failure.reason ?? failure.cause ?? ""}`];
    return {
      report: withWarnings({ ...submitted, summary: submitted.summary ?? tailOf(end) }, [...warnings, ...rough]),
    };
  }
  if (failure !== undefined) return { report: withWarnings(failure, warnings) };
  const reading = checkContract(context, await readChannels(context, end));
  return { ...reading, report: withWarnings(reading.report, warnings) };
}

/** Judges a submission at the desk at once, so that the agent can still correct it. */
export async function readSubmitted(context: ReadContext, text: string): Promise<Result<Report, string>> {
  const { flow, stage, knownAgents } = context;
  const reading = readSubmission(context.redact(text), flow, stage, knownAgents);
  if (!reading.ok) return err(reading.error.message);
  const known = knownStages(context, reading.value);
  if (!known.ok) return err(known.error.message);
  const own = await agreeWithFile(context, { ...known.value, structured: true });
  if (!own.ok) return own;
  const outcome = judge(flow.words, stage, own.value);
  if (outcome.cause !== undefined) return err(outcome.reason ?? outcome.cause);
  const checked = checkContract(context, { report: own.value });
  return checked.unreadable === undefined ? ok(checked.report) : err(checked.unreadable.message);
}

/** Where a flow passes files on, the file is part of the work: it exists, is readable, and agrees. */
async function agreeWithFile(context: ReadContext, submitted: Report): Promise<Result<Report, string>> {
  const { flow, stage, files } = context;
  const { from, path = "" } = stage.result;
  if (from !== "handoff-file" && from !== "file-verdict") return ok(submitted);
  // An agent that asks or gives up need not have written anything.
  if (submitted.health !== undefined && judge(flow.words, stage, submitted).health !== "complete") return ok(submitted);
  const place = from === "handoff-file" ? files.handoff : path;
  const text = await ownFile(context, from === "handoff-file" ? files.handoff : join(context.workspaceDir, path));
  if (text === undefined) return err(`Write ${place} first: the next agent reads it there. Then submit again.`);
  const reading = from === "handoff-file" ? readHandoffFile(text, stage.result) : readFileVerdict(text);
  if (!reading.ok) return err(`${place} cannot be read: ${reading.error.message} Correct it, then submit again.`);
  const written = reading.value;
  const [said, inFile] = [judge(flow.words, stage, submitted), judge(flow.words, stage, written)];
  const clash =
    written.cause !== undefined ||
    (stage.expectsVerdict && said.verdict !== inFile.verdict) ||
    said.health !== inFile.health;
  if (clash) {
    const why =
      written.reason ??
      `${inFile.word ?? inFile.verdict ?? inFile.health} there, ${said.word ?? said.verdict ?? said.health} here`;
    return err(`${place} says something else (${why}). Make both say the same, then submit again.`);
  }
  return ok({ ...written, ...submitted });
}

async function readChannels(context: ReadContext, end: AttemptEnd): Promise<ReportReading> {
  const structured = end.conversation?.structured ?? null;
  if (structured !== null) {
    const given = await readSubmitted(context, JSON.stringify(structured));
    if (given.ok) return { report: { ...given.value, summary: given.value.summary ?? tailOf(end) } };
    const error: Unreadable = { code: "verdict_field_invalid", message: given.error };
    return { report: { cause: error.code, reason: error.message, summary: tailOf(end) }, unreadable: error };
  }
  const written = await ownFile(context, context.files.verdict);
  if (written !== undefined) {
    const reading = readVerdictFile(written, {
      nonce: context.nonce,
      agent: context.stage.agent,
      subjectId: context.subjectId,
      subjectKey: `${context.flow.subject}_id`,
    });
    const known = reading.ok ? knownStages(context, reading.value) : reading;
    return finish(context, known.ok ? { ok: true, value: { ...known.value, structured: true } } : known, end);
  }
  return finish(context, await readNamedForm(context, end), end);
}

async function ownFile(context: ReadContext, path: string): Promise<string | undefined> {
  const text = await readAgentFile(path, FILE_BYTES);
  return text === undefined ? undefined : context.redact(text);
}

function withWarnings(report: Report, warnings: readonly string[]): Report {
  return warnings.length === 0 ? report : { ...report, warnings: [...(report.warnings ?? []), ...warnings] };
}

/** A router's list comes from a model on every channel: it names agents that exist, or it is refused. */
function knownStages({ stage, knownAgents }: ReadContext, report: Report): Reading {
  if (stage.kind !== "router" || report.stages === undefined) return { ok: true, value: report };
  return readRouteList(JSON.stringify(report.stages), knownAgents);
}

/**
 * A program that did not exit on its own with 0 has failed, whatever it wrote. A runner that reports more is judged by its final message.
 */
function failureOf(end: AttemptEnd): Report | undefined {
  const { conversation } = end;
  const byItself = end.reason === "exited" || end.reason === "finished" || end.reason === "signaled";
  if (conversation !== undefined && byItself) {
    const { failure } = conversation;
    if (failure === null) return end.reason === "signaled" ? failed("agent_killed", end) : undefined;
    return {
      cause: failure.kind,
      reason: failure.message,
      summary: tailOf(end),
      ...optional({ resetsAt: failure.resetsAt }),
    };
  }
  if (end.reason === "exited" && end.exitCode === 0) return undefined;
  return failed(
    end.reason === "exited" ? "agent_exit_nonzero" : end.reason === "signaled" ? "agent_killed" : end.reason,
    end,
  );
}

function failed(cause: string, end: AttemptEnd): Report {
  return { cause, reason: end.detail, summary: tailOf(end) };
}

async function readNamedForm(context: ReadContext, end: AttemptEnd): Promise<Reading> {
  const { flow, stage, nonce, subjectId, files, workspaceDir } = context;
  const { result } = stage;
  switch (result.from) {
    case "json-tail":
      return readJsonTail(end.stdoutTail, {
        nonce,
        nonceRequired: result.nonce !== "optional",
        require: result.require ?? ["verdict"],
        subjectId,
        agent: stage.agent,
        subjectKeys: result.echo ?? [`${flow.subject}_id`],
      });
    case "file-verdict": {
      const path = result.path ?? "";
      const text = isAbsolute(path) ? undefined : await ownFile(context, join(workspaceDir, path));
      return readFileVerdict(text ?? "");
    }
    case "handoff-file": {
      const text = await ownFile(context, files.handoff);
      if (text === undefined)
        return {
          ok: true,
          value: { cause: "handoff_missing", reason: `no handoff file was written at ${files.handoff}` },
        };
      return readHandoffFile(text, result);
    }
    case "prefix":
      return readPrefix(end.stdoutTail, result.prefixes ?? {});
    case "work-result":
      return readWorkResult(end.stdoutTail);
    case "router":
      return readRouteList(end.stdoutTail, context.knownAgents);
    case "exit-code":
      // A conversation that ended well has reported it; the exit code of its program is no verdict.
      return readExitCode(end.conversation === undefined ? end.exitCode : 0, end.stdoutTail, result.next);
    case "handoff-api":
    case "verdict-file":
      if (!stage.expectsVerdict) return { ok: true, value: { structured: true } };
      return { ok: false, error: { code: "verdict_missing", message: `no verdict was written to ${files.verdict}` } };
  }
}

function finish(context: ReadContext, reading: Reading, end: AttemptEnd): ReportReading {
  if (reading.ok) {
    const { value } = reading;
    if (value.cause !== undefined) return { report: value };
    const spoken = tailOf(end);
    const outcome = judge(context.flow.words, context.stage, value);
    if (outcome.cause === "verdict_unknown" || outcome.cause === "verdict_missing") {
      // A word without a meaning in this flow counts as missing: the agent may repeat it, and people see all of it.
      const message = outcome.reason ?? outcome.cause;
      return { report: { ...value, summary: spoken }, unreadable: { code: outcome.cause, message } };
    }
    if (value.summary !== undefined) return { report: value };
    return { report: { ...value, summary: context.stage.result.from === "json-tail" ? spokenBefore(spoken) : spoken } };
  }
  const { code, message } = reading.error;
  // Where the flow counts a missing verdict as revise, it is not a failure: the judge turns it into one, counted.
  if (context.flow.words.unknownVerdict === "revise" && context.stage.expectsVerdict) {
    return { report: { warnings: [`${code}: ${message}`], summary: message } };
  }
  return { report: { cause: code, reason: message, summary: tailOf(end) }, unreadable: reading.error };
}

/** The text before the verdict block: a later agent that quotes it must not quote a verdict. */
function spokenBefore(tail: string): string {
  const fence = tail.lastIndexOf("```json");
  const brace = tail.lastIndexOf("\n{");
  const block = Math.max(fence, fence >= 0 ? fence : brace);
  const spoken = (block < 0 ? tail : tail.slice(0, block)).trim();
  return spoken.startsWith("{") ? "" : spoken;
}

function tailOf(end: AttemptEnd): string {
  return end.stdoutTail.slice(-SUMMARY_CHARS).trim();
}
