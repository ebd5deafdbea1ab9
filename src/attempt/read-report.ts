// Reads a report at the end of a program: the channels' candidates go into the verdict ledger, which rules on them. An unreadable verdict
// carries its reason; nothing is guessed. A verdict that the desk accepted is final, however the program ended.

import type { AttemptEnd } from "../runner/runner.ts";
import { judge } from "../core/verdict/judge.ts";
import type { Report } from "../core/flow/outcome.ts";
import { clip, type Reading, type Unreadable, WORD_CHARS } from "../core/verdict/reading.ts";
import { withCoverage } from "../core/verdict/coverage.ts";
import { checkContract, type ReportReading } from "../core/verdict/contract.ts";
import { settle } from "../core/verdict/ledger.ts";
import { optional } from "../core/optional.ts";
import { candidatesOf } from "./candidates.ts";
import { checkFlowFile, namingHandoff } from "./flow-file.ts";
import { handoffPlace, type ReadContext } from "./read-context.ts";
import { TamperedError, tamperedReport } from "./tampered.ts";

const SUMMARY_CHARS = 8 * 1024;

/** `submitted` was accepted at the desk during this attempt. */
export async function readReport(context: ReadContext, end: AttemptEnd, submitted?: Report): Promise<ReportReading> {
  const failure = failureOf(end);
  const denied = (end.conversation?.denials ?? []).map((denial) => `permission_denied: ${denial}`);
  if (failure !== undefined && submitted === undefined) return { report: withWarnings(failure, denied) };
  const rough = failure === undefined ? [] : [`ended_after_verdict: ${failure.reason ?? failure.cause ?? ""}`];
  const reading = await readUntampered(context, end, submitted);
  const named = await namingHandoff(context, reading.report);
  return { ...reading, report: withWarnings(named, [...denied, ...rough]) };
}

/** A file that leads elsewhere fails the attempt; its usage and its output are still reported. */
async function readUntampered(context: ReadContext, end: AttemptEnd, submitted?: Report): Promise<ReportReading> {
  try {
    return await readChannels(context, end, submitted);
  } catch (error) {
    if (error instanceof TamperedError) return { report: tamperedReport(error.problem, { summary: tailOf(end) }) };
    throw error;
  }
}

async function readChannels(context: ReadContext, end: AttemptEnd, submitted?: Report): Promise<ReportReading> {
  const { flow, stage, nonceRule } = context;
  const ruling = settle({ flow, stage, nonce: nonceRule }, await candidatesOf(context, end, submitted));
  const reading = finish(context, covered(context, ruling.reading), end);
  // The desk has checked the contract before it accepted.
  const contract = submitted === undefined ? checkContract(context, reading) : reading;
  const checked = submitted === undefined ? await checkFlowFile(context, contract, end.stdoutTail) : contract;
  return { ...checked, report: withWarnings(checked.report, ruling.warnings), heard: ruling.heard };
}

/** Rows of the task that the coverage leaves out count as ✗, whichever channel brought it. */
function covered({ covered: rows = [] }: ReadContext, reading: Reading): Reading {
  return reading.ok ? { ok: true, value: withCoverage(rows, reading.value) } : reading;
}

function withWarnings(report: Report, warnings: readonly string[]): Report {
  return warnings.length === 0 ? report : { ...report, warnings: [...(report.warnings ?? []), ...warnings] };
}

/**
 * A program that did not exit on its own with 0 has failed, whatever it wrote. A runner that reports more is judged by its final message.
 */
function failureOf(end: AttemptEnd): Report | undefined {
  const { conversation } = end;
  const byItself = end.reason === "exited" || end.reason === "finished" || end.reason === "signaled";
  if (conversation !== undefined) {
    const { failure } = conversation;
    // A program that waited for its vendor is told as that, although a limit of time has ended it.
    if (failure !== null && (byItself || (end.reason.endsWith("timeout") && OF_VENDORS.has(failure.kind))))
      return {
        cause: failure.kind,
        reason: failure.message,
        summary: tailOf(end),
        ...optional({ resetsAt: failure.resetsAt }),
      };
    if (byItself) return end.reason === "signaled" ? failed("agent_killed", end) : undefined;
  }
  if (end.reason === "exited" && end.exitCode === 0) return undefined;
  return failed(
    end.reason === "exited" ? "agent_exit_nonzero" : end.reason === "signaled" ? "agent_killed" : end.reason,
    end,
  );
}

/** What a program that we end says of itself is not the reason of its end; what it says of its vendor is. */
const OF_VENDORS: ReadonlySet<string> = new Set(["rate_limit", "quota", "billing", "server_error", "unreachable"]);

function failed(cause: string, end: AttemptEnd): Report {
  return { cause, reason: end.detail, summary: tailOf(end) };
}

function finish(context: ReadContext, reading: Reading, end: AttemptEnd): ReportReading {
  if (reading.ok) {
    const { value } = reading;
    if (value.cause !== undefined) return { report: value };
    const spoken = tailOf(end);
    const status = statusFault(context, value);
    if (status !== undefined)
      return { report: { ...value, cause: status.code, reason: status.message }, unreadable: status };
    const outcome = judge(context.flow.words, context.stage, value);
    if (outcome.cause !== undefined && isRepairable(outcome.cause)) {
      // A word without a meaning in this flow counts as missing: the agent may repeat it, and people see all of it.
      const message = outcome.reason ?? outcome.cause;
      return { report: { ...value, summary: spoken }, unreadable: { code: outcome.cause, message } };
    }
    if (value.summary !== undefined) return { report: value };
    return { report: { ...value, summary: context.stage.result.from === "json-tail" ? spokenBefore(spoken) : spoken } };
  }
  const { code, message } = reading.error;
  if (code === "verdict_missing" && context.stage.result.from === "handoff-file")
    return {
      report: { cause: "handoff_missing", reason: `no handoff file was written at ${handoffPlace(context)}` },
    };
  // Where the flow counts a missing verdict as revise, it is not a failure: the judge turns it into one, counted.
  if (context.flow.words.unknownVerdict === "revise" && context.stage.expectsVerdict && code !== "verdict_ambiguous") {
    const report: Report = { warnings: [`${code}: ${message}`], summary: message };
    return code === "verdict_unsigned" ? { report, unreadable: reading.error } : { report };
  }
  return { report: { cause: code, reason: message, summary: tailOf(end) }, unreadable: reading.error };
}

/** The causes that an agent can mend by saying its verdict again. */
function isRepairable(cause: string): cause is Unreadable["code"] {
  return cause === "verdict_unknown" || cause === "verdict_missing" || cause === "verdict_contradicted";
}

/** A file without a status that the flow knows: the agent may add it once, and people read what was there instead. */
function statusFault({ flow, stage }: ReadContext, { health, structured }: Report): Unreadable | undefined {
  const { words } = flow;
  if (stage.result.from !== "handoff-file" || structured === true || words.unknownHealth === "complete")
    return undefined;
  const heading = stage.result.health ?? "## Status";
  const known = Object.keys(words.health).join(", ");
  if (health === undefined)
    return { code: "status_missing", message: `The handoff file has no "${heading}". Give one of ${known}.` };
  if (Object.hasOwn(words.health, health)) return undefined;
  const said = JSON.stringify(clip(health, WORD_CHARS));
  return { code: "status_unknown", message: `${said} under "${heading}" is not a status. Give one of ${known}.` };
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
