// Judges a submission at the desk at once, so that the agent can still correct it: its schema, its nonce, and the files that must agree.

import { type Report, routeKey } from "../core/flow/outcome.ts";
import { err, ok, type Result } from "../core/result.ts";
import { unverifiedRows, withCoverage } from "../core/verdict/coverage.ts";
import { checkContract } from "../core/verdict/contract.ts";
import { readFileVerdict } from "../core/verdict/file-verdict.ts";
import { readHandoffFile } from "../core/verdict/handoff-file.ts";
import { iterationFault } from "../core/verdict/iteration.ts";
import { judge } from "../core/verdict/judge.ts";
import { readRouteList } from "../core/verdict/route-list.ts";
import { withoutNonce } from "../core/verdict/reading.ts";
import { withFindings } from "../core/verdict/with-findings.ts";
import { readSubmission } from "../core/verdict/submission.ts";
import { clashingField } from "../core/verdict/ledger.ts";
import { notesFault } from "./as-built.ts";
import { flowFileOf, renderedFile, unproduced } from "./flow-file.ts";
import type { ReadContext } from "./read-context.ts";

export async function readSubmitted(context: ReadContext, text: string): Promise<Result<Report, string>> {
  const { flow, stage, knownAgents, nonce, nonceRule } = context;
  const signing = { nonce, required: nonceRule === "required" };
  const reading = readSubmission(context.redact(text), flow, stage, knownAgents, signing, context.findingIds);
  if (!reading.ok) return err(reading.error.message);
  const known = knownStages(context, withFindings(context, reading.value));
  if (!known.ok) return known;
  const agreed = await agreeWithFile(context, { ...known.value, structured: true });
  if (!agreed.ok) return agreed;
  const own = withCoverage(context.covered ?? [], agreed.value);
  const outcome = judge(flow.words, stage, own);
  if (outcome.cause !== undefined) return err(outcome.reason ?? outcome.cause);
  const checked = checkContract(context, { report: own });
  const isPass = routeKey(judge(flow.words, stage, checked.report)) === "pass";
  const fault =
    checked.unreadable ??
    (isPass ? unverifiedRows(context.toVerify ?? [], checked.report) : undefined) ??
    (await notesFault(context, checked.report));
  return fault === undefined ? ok(checked.report) : err(fault.message);
}

function knownStages({ stage, knownAgents }: ReadContext, report: Report): Result<Report, string> {
  if (stage.kind !== "router" || report.stages === undefined) return ok(report);
  const list = readRouteList(JSON.stringify(report.stages), knownAgents);
  return list.ok ? list : err(list.error.message);
}

/** Where a flow passes files on, the file is part of the work: it exists, is readable, and agrees. */
async function agreeWithFile(context: ReadContext, submitted: Report): Promise<Result<Report, string>> {
  const { flow, stage } = context;
  const { from } = stage.result;
  // An agent that asks or gives up need not have written anything.
  if (submitted.health !== undefined && judge(flow.words, stage, submitted).health !== "complete") return ok(submitted);
  const found = await flowFileOf(context);
  if (!found.ok) return err(found.error.message);
  const file = found.value;
  const isPass = judge(flow.words, stage, submitted).verdict === "pass";
  const rendered = file !== undefined && file.text === undefined ? renderedFile(context, submitted) : undefined;
  const missing = isPass ? unproduced(context, file?.text ?? rendered ?? submitted.summary ?? "") : undefined;
  // Passrail writes the file of an agent that only looks, from this very submission.
  if (file === undefined || rendered !== undefined) return missing === undefined ? ok(submitted) : err(missing.message);
  const { place } = file;
  if (file.text === undefined) return err(`Write ${place} first: the next agent reads it there. Then submit again.`);
  const text = withoutNonce(file.text, context.nonce);
  const reading = from === "handoff-file" ? readHandoffFile(text, stage.result) : readFileVerdict(text);
  if (!reading.ok) return err(`${place} cannot be read: ${reading.error.message} Correct it, then submit again.`);
  const written = withFindings(context, reading.value, from === "file-verdict" ? text : undefined);
  const fault = iterationFault(written, context.iteration);
  if (fault !== undefined) return err(`${place} is not of this iteration: ${fault}. Correct it, then submit again.`);
  const apart = differingFinding(submitted, written);
  if (apart !== undefined)
    return err(`${place} says something else about ${apart}. Make both say the same, then submit again.`);
  const [said, inFile] = [judge(flow.words, stage, submitted), judge(flow.words, stage, written)];
  const clash =
    written.cause !== undefined ||
    (stage.expectsVerdict && said.verdict !== inFile.verdict) ||
    said.health !== inFile.health;
  if (clash) {
    const why =
      written.reason ??
      inFile.reason ??
      `${inFile.word ?? inFile.verdict ?? inFile.health} there, ${said.word ?? said.verdict ?? said.health} here`;
    return err(`${place} says something else (${why}). Make both say the same, then submit again.`);
  }
  const field = clashingField(submitted, written);
  if (field !== undefined)
    return err(`${place} says something else (${field}). Make both say the same, then submit again.`);
  if (missing !== undefined) return err(`${place}: ${missing.message} Add it, then submit again.`);
  // The file is what the next agent reads: where both give rows, its rows count.
  const payload = { ...submitted.payload, ...written.payload };
  return ok({ ...written, ...submitted, ...(Object.keys(payload).length > 0 ? { payload } : {}) });
}

/** An id about which the call and the file say different things. */
function differingFinding(submitted: Report, written: Report): string | undefined {
  const inFile = new Map((written.findings ?? []).map(({ id, state }) => [id, state]));
  return submitted.findings?.find(({ id, state }) => inFile.has(id) && inFile.get(id) !== state)?.id;
}
