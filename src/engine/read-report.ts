// From the end of a program to a report: the channels in order of trust, verdict file first, then the form that the flow names.
// Whatever cannot be read says why; nothing is guessed.

import { isAbsolute, join } from "node:path";
import type { AttemptEnd } from "../agents/runner.ts";
import type { Flow, WorkStage } from "../core/flow.ts";
import { judge } from "../core/judge.ts";
import type { Report } from "../core/outcome.ts";
import type { Result } from "../core/result.ts";
import { readExitCode } from "../core/verdict/exit-code.ts";
import { readFileVerdict } from "../core/verdict/file-verdict.ts";
import { readHandoffFile } from "../core/verdict/handoff-file.ts";
import { readJsonTail } from "../core/verdict/json-tail.ts";
import { readPrefix } from "../core/verdict/prefix.ts";
import type { Reading, Unreadable } from "../core/verdict/reading.ts";
import { readRouteList } from "../core/verdict/route-list.ts";
import { readVerdictFile } from "../core/verdict/verdict-file.ts";
import { readWorkResult } from "../core/verdict/work-result.ts";
import { type AttemptFiles, readAgentFile } from "./attempt-files.ts";
import { checkContract } from "./check-contract.ts";

export type ReadContext = {
  readonly flow: Flow;
  readonly stage: WorkStage;
  readonly subjectId: string;
  readonly nonce: string;
  readonly workspaceDir: string;
  readonly files: AttemptFiles;
  readonly knownAgents: readonly string[];
  readonly readYaml: (text: string) => Result<unknown>;
};

export type ReportReading = { readonly report: Report; readonly unreadable?: Unreadable };

const FILE_BYTES = 1024 * 1024;
const SUMMARY_CHARS = 8 * 1024;

export async function readReport(context: ReadContext, end: AttemptEnd): Promise<ReportReading> {
  return checkContract(context, await readChannels(context, end));
}

async function readChannels(context: ReadContext, end: AttemptEnd): Promise<ReportReading> {
  const failure = failureOf(end);
  if (failure !== undefined) return { report: failure };
  const written = await readAgentFile(context.files.verdict, FILE_BYTES);
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

/** A router's list is data of a model on every channel: it names agents that exist, or it is refused. */
function knownStages({ stage, knownAgents }: ReadContext, report: Report): Reading {
  if (stage.kind !== "router" || report.stages === undefined) return { ok: true, value: report };
  return readRouteList(JSON.stringify(report.stages), knownAgents);
}

/** A program that did not end by itself with 0 has failed, whatever it wrote. */
function failureOf(end: AttemptEnd): Report | undefined {
  if (end.reason === "exited" && end.exitCode === 0) return undefined;
  const cause =
    end.reason === "exited" ? "agent_exit_nonzero" : end.reason === "signaled" ? "agent_killed" : end.reason;
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
        subjectKeys: [`${flow.subject}_id`],
      });
    case "file-verdict": {
      const path = result.path ?? "";
      const text = isAbsolute(path) ? undefined : await readAgentFile(join(workspaceDir, path), FILE_BYTES);
      return readFileVerdict(text ?? "");
    }
    case "handoff-file": {
      const text = await readAgentFile(files.handoff, FILE_BYTES);
      if (text === undefined)
        return {
          ok: true,
          value: { cause: "handoff_missing", reason: `no handoff file was written at ${files.handoff}` },
        };
      return readHandoffFile(text);
    }
    case "prefix":
      return readPrefix(end.stdoutTail, result.prefixes ?? {});
    case "work-result":
      return readWorkResult(end.stdoutTail);
    case "router":
      return readRouteList(end.stdoutTail, context.knownAgents);
    case "exit-code":
      return readExitCode(end.exitCode);
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
      // A word that means nothing here is as good as none: it may be said again, and people see the whole of it.
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

/** What was said before the verdict block: a later agent that quotes this must not quote a verdict. */
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
