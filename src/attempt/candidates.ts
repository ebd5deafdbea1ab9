// Collects what every channel of an attempt says about its verdict: the desk, structured output, the verdict file, the form that the flow
// names, and the exit. Each becomes a candidate of the ledger, which decides.

import { err } from "../core/result.ts";
import { unreadable, type Reading, type Signing, TOO_LONG, withoutNonce } from "../core/verdict/reading.ts";
import type { Report } from "../core/flow/outcome.ts";
import { readExitCode } from "../core/verdict/exit-code.ts";
import { readFileVerdict } from "../core/verdict/file-verdict.ts";
import { readHandoffFile } from "../core/verdict/handoff-file.ts";
import { withIterationChecked } from "../core/verdict/iteration.ts";
import { readJsonTail } from "../core/verdict/json-tail.ts";
import type { Candidate } from "../core/verdict/ledger.ts";
import { isSignedPrefix, readPrefix } from "../core/verdict/prefix.ts";
import { readRouteList } from "../core/verdict/route-list.ts";
import { isSignedFile, readVerdictFile } from "../core/verdict/verdict-file.ts";
import { tracksFindings, withFindings } from "../core/verdict/with-findings.ts";
import { readWorkResult } from "../core/verdict/work-result.ts";
import type { AttemptEnd } from "../runner/runner.ts";
import { handoffFile, ownFile, type ReadContext, workFile } from "./read-context.ts";
import { readSubmitted } from "./read-submitted.ts";

export async function candidatesOf(
  context: ReadContext,
  end: AttemptEnd,
  submitted: Report | undefined,
): Promise<readonly Candidate[]> {
  const desk: readonly Candidate[] =
    submitted === undefined
      ? []
      : [{ channel: "desk", place: "The accepted call", signed: true, reading: { ok: true, value: submitted } }];
  return [
    ...desk,
    ...(await nativeOf(context, end)),
    ...(await verdictFileOf(context)),
    ...(await formOf(context, end)),
  ].map((each) => ({ ...each, reading: ownFindings(context, each.reading) }));
}

/** Statements about findings stand apart; `text` is searched for findings where its reader looks for the verdict alone. */
function ownFindings(context: ReadContext, reading: Reading, text?: string): Reading {
  return reading.ok ? { ok: true, value: withFindings(context, reading.value, text) } : reading;
}

async function nativeOf(context: ReadContext, end: AttemptEnd): Promise<readonly Candidate[]> {
  const structured = end.conversation?.structured ?? null;
  if (structured === null) return [];
  const given = await readSubmitted(context, JSON.stringify(structured));
  const reading: Reading = given.ok ? given : unreadable("verdict_field_invalid", given.error);
  return [{ channel: "native", place: "The structured output", signed: true, reading }];
}

export async function verdictFileOf(context: ReadContext): Promise<readonly Candidate[]> {
  const text = await ownFile(context, context.files.verdict);
  if (text === undefined) return [];
  const reading = readVerdictFile(text, {
    nonce: context.nonce,
    agent: context.stage.agent,
    subjectId: context.subjectId,
    subjectKey: `${context.flow.subject}_id`,
  });
  const known = reading.ok ? knownStages(context, reading.value) : reading;
  const signed = isSignedFile(text, context.nonce);
  const whole: Reading = known.ok ? { ok: true, value: { ...known.value, structured: true } } : known;
  return [{ channel: "verdict-file", place: "The verdict file", signed, reading: whole }];
}

/** The form that the flow names. Without one the exit itself says that the work is done, where that is enough for the stage. */
async function formOf(context: ReadContext, end: AttemptEnd): Promise<readonly Candidate[]> {
  const { stage, files, nonce } = context;
  const { result } = stage;
  const exit = (reading: Reading): Candidate => ({ channel: "exit", place: "The exit", signed: true, reading });
  switch (result.from) {
    case "file-verdict": {
      const path = result.path ?? "";
      const text = await workFile(context, path);
      const own = withoutNonce(text ?? "", nonce);
      return [inFile(context, path, text ?? "", ownFindings(context, readFileVerdict(own), own))];
    }
    case "handoff-file": {
      const file = await handoffFile(context);
      if (!file.ok) return [{ channel: "form", place: "The handoff", signed: true, reading: file }];
      const text = file.value;
      if (text === undefined) return [];
      const reading = readHandoffFile(withoutNonce(text, nonce), result);
      return [inFile(context, "handoff.md", text, withIterationChecked(reading, stage, context.iteration))];
    }
    case "exit-code": {
      // A conversation that ended well has reported it; the exit code of its program is no verdict.
      const code = end.conversation === undefined ? end.exitCode : 0;
      const reading = readExitCode(code, end.stdoutTail, result.next, signingOf(context));
      const isPlain = reading.ok && reading.value.payload === undefined;
      return isPlain && (result.next === undefined || end.stdoutWhole)
        ? [exit(reading)]
        : [inText(context, end, reading)];
    }
    case "handoff-api":
    case "verdict-file":
      if (!stage.expectsVerdict) return [exit({ ok: true, value: { structured: true } })];
      return [exit(unreadable("verdict_missing", `no verdict was written to ${files.verdict}`))];
    case "prefix": {
      const { stdoutTail } = end;
      const prefixes = result.prefixes ?? {};
      const plain = readPrefix(stdoutTail, prefixes, context.nonce);
      const body = plain.ok ? plain.value.payload?.["text"] : undefined;
      const reading = ownFindings(
        context,
        plain,
        stage.findings !== undefined && typeof body === "string" ? body : undefined,
      );
      const isNone = reading.ok && reading.value.verdict === undefined;
      const signed = isSignedPrefix(stdoutTail, prefixes, context.nonce);
      return isNone ? [exit(reading)] : [{ ...inText(context, end, reading), signed }];
    }
    case "json-tail":
    case "work-result":
    case "router":
      return [inText(context, end, readText(context, result.from, end.stdoutTail))];
  }
}

function readText(context: ReadContext, from: "json-tail" | "work-result" | "router", text: string): Reading {
  const { flow, stage, subjectId } = context;
  const { result } = stage;
  const signing = signingOf(context);
  switch (from) {
    case "json-tail":
      return readJsonTail(text, {
        ...signing,
        nonceRequired: signing.required,
        require: result.require ?? ["verdict"],
        subjectId,
        agent: stage.agent,
        tracksFindings: tracksFindings(flow),
        subjectKeys: result.echo ?? [`${flow.subject}_id`],
      });
    case "work-result":
      return readWorkResult(text, signing);
    case "router":
      return readRouteList(text, context.knownAgents, signing);
  }
}

/** A cut text may have lost a verdict that contradicts the one that is left: it proves nothing. */
function inText({ nonce }: ReadContext, end: AttemptEnd, reading: Reading): Candidate {
  const signed = end.stdoutTail.includes(nonce);
  return { channel: "form", place: "The output", signed, reading: end.stdoutWhole ? reading : err(TOO_LONG) };
}

/** A file without the nonce is old if it was there before the attempt, or if an earlier attempt wrote the same. */
function inFile({ nonce, isKnownFile }: ReadContext, place: string, text: string, reading: Reading): Candidate {
  const signed = text.includes(nonce);
  const isOld = !signed && reading.ok && isKnownFile(text);
  const stale = unreadable("verdict_stale", `${place} is the one that was there before this attempt. Write it anew.`);
  return { channel: "form", place, signed, reading: isOld ? stale : reading };
}

function signingOf({ nonce, nonceRule, isQuoted }: ReadContext): Signing {
  return { nonce, required: nonceRule === "required", isQuoted };
}

/** A router's list comes from a model on every channel: it names agents that exist, or it is refused. */
function knownStages({ stage, knownAgents }: ReadContext, report: Report): Reading {
  if (stage.kind !== "router" || report.stages === undefined) return { ok: true, value: report };
  return readRouteList(JSON.stringify(report.stages), knownAgents);
}
