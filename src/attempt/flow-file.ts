// The file that a flow names as the form of a stage's report: the handoff, or a review in the workspace. No other channel replaces it, and
// it has the sections that the stage produces.

import { dirname, join } from "node:path";
import { routeKey } from "../core/flow/outcome.ts";
import type { Report } from "../core/flow/outcome.ts";
import { optional } from "../core/optional.ts";
import { ok, type Result } from "../core/result.ts";
import type { ReportReading } from "../core/verdict/contract.ts";
import { judge } from "../core/verdict/judge.ts";
import { unverifiedRows } from "../core/verdict/coverage.ts";
import { missingSections } from "../core/verdict/produces.ts";
import type { Unreadable } from "../core/verdict/reading.ts";
import { renderHandoff, renderReview } from "../core/verdict/render-file.ts";
import { makeFolders, writeConfined } from "../file/confined.ts";
import { notesFault } from "./as-built.ts";
import { writeRecord } from "./attempt-files.ts";
import { handoffFile, handoffPlace, type ReadContext, workFile } from "./read-context.ts";
import { untampered } from "./tampered.ts";

export type NamedFile = { readonly place: string; readonly text: string | undefined };

/** Undefined where the stage reports in another form; an error where two files claim to be it. */
export async function flowFileOf(context: ReadContext): Promise<Result<NamedFile | undefined, Unreadable>> {
  const { from, path = "" } = context.stage.result;
  if (from === "file-verdict") return ok({ place: path, text: await workFile(context, path) });
  if (from !== "handoff-file") return ok(undefined);
  const file = await handoffFile(context);
  return file.ok ? ok({ place: handoffPlace(context), text: file.value }) : file;
}

/** The file as Passrail writes it for an agent that only looks; undefined for one that writes it itself. */
export function renderedFile(context: ReadContext, report: Report): string | undefined {
  const { stage, writesFiles, iteration, nonce } = context;
  if (writesFiles) return undefined;
  if (stage.result.from === "handoff-file") return renderHandoff(report, { iteration, nonce });
  return stage.result.from === "file-verdict" ? renderReview(report, { iteration, nonce }) : undefined;
}

/** Once, for an accepted report. A file that the agent managed to write is left as it is. */
export async function writeForAgent(context: ReadContext, report: Report): Promise<void> {
  const text = renderedFile(context, report);
  const file = text === undefined ? undefined : await flowFileOf(context);
  if (text === undefined || file?.ok !== true || file.value === undefined || file.value.text !== undefined) return;
  const { files, stage, workspaceDir, workspaceRoot = workspaceDir } = context;
  if (stage.result.from === "handoff-file") {
    await writeRecord(files, files.handoff, text);
    return;
  }
  const path = join(workspaceDir, stage.result.path ?? "");
  untampered(makeFolders(workspaceRoot, dirname(path)));
  untampered(writeConfined(workspaceRoot, path, text));
}

/** Where people find the handoff after the attempt: its channel becomes a part of the record. */
function recordedHandoff({ files }: Pick<ReadContext, "files">): string {
  return join(files.dir, "result", "handoff.md");
}

/** `said`: the text of a form without a file. Only a pass is checked: work that is sent back or in trouble need not be whole. */
export async function checkFlowFile(
  context: ReadContext,
  reading: ReportReading,
  said: string,
): Promise<ReportReading> {
  const { flow, stage } = context;
  if (reading.unreadable !== undefined || routeKey(judge(flow.words, stage, reading.report)) !== "pass") return reading;
  await writeForAgent(context, reading.report);
  const found = await flowFileOf(context);
  if (!found.ok) return refused(reading.report, found.error);
  const file = found.value;
  if (file !== undefined && file.text === undefined) {
    const message = `${file.place} was not written, and no other channel replaces it.`;
    return withoutFile(context, reading.report, { code: "handoff_missing", message });
  }
  const missing =
    unproduced(context, file?.text ?? `${reading.report.summary ?? ""}\n${said}`) ??
    unverifiedRows(context.toVerify ?? [], reading.report) ??
    (await notesFault(context, reading.report));
  return missing === undefined ? reading : refused(reading.report, missing);
}

/** The sections that the stage must produce and that the text does not have. */
export function unproduced(
  { stage, covered = [] }: Pick<ReadContext, "stage" | "covered">,
  text: string,
): Unreadable | undefined {
  const owed = covered.length === 0 ? [] : ["## DoD coverage"];
  const missing = missingSections(text, [...new Set([...stage.produces, ...owed])]);
  if (missing.length === 0) return undefined;
  const names = missing.map((heading) => `"${heading}"`).join(", ");
  return { code: "section_missing", message: `The report has no section ${names}, or nothing below it.` };
}

/** Where the flow counts a missing verdict as revise, the missing file is one: what another channel said does not count. */
function withoutFile({ flow, stage }: ReadContext, report: Report, unreadable: Unreadable): ReportReading {
  if (flow.words.unknownVerdict !== "revise" || !stage.expectsVerdict) return refused(report, unreadable);
  const { code, message } = unreadable;
  return { report: { warnings: [`${code}: ${message}`], summary: message }, unreadable };
}

function refused(report: Report, unreadable: Unreadable): ReportReading {
  return { report: { ...report, cause: unreadable.code, reason: unreadable.message }, unreadable };
}

/** A failed attempt names its handoff, so that nobody has to look for the rest of the reason. */
export async function namingHandoff(context: ReadContext, report: Report): Promise<Report> {
  const { flow, stage } = context;
  const { health, cause, reason = "no reason was given" } = judge(flow.words, stage, report);
  if (stage.result.from !== "handoff-file" || health !== "failed") return report;
  const file = await flowFileOf(context);
  if (!file.ok || file.value?.text === undefined) return report;
  return { ...report, ...optional({ cause }), reason: `${reason} (handoff: ${recordedHandoff(context)})` };
}
