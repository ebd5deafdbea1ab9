// A report of a flow that gives findings ids: statements about them stand apart from new findings, whatever form brought them.

import { withRows } from "../finding/row.ts";
import type { Flow, WorkStage } from "../flow/flow.ts";
import type { Report } from "../flow/outcome.ts";
import { findingsSection, withNotes } from "./finding-notes.ts";

/** Whether any stage of the flow gives its findings ids. */
export function tracksFindings(flow: Flow): boolean {
  return flow.stages.some((stage) => {
    if (stage.kind === "parallel")
      return Object.values(stage.tracks).some((track) => track.stages.some((each) => each.findings !== undefined));
    if (stage.kind === "dynamic") return Object.values(stage.templates).some((each) => each.findings !== undefined);
    return stage.kind !== "gate" && stage.findings !== undefined;
  });
}

export type FindingSource = {
  readonly flow: Flow;
  readonly stage: WorkStage;
  /** The rows of the task's own list, where a stage identifies its findings by them. */
  readonly taskRows: readonly string[];
};

/** `text`: the file or answer that the report was read from, where its reader looks for nothing but the verdict. */
export function withFindings({ flow, stage, taskRows }: FindingSource, report: Report, text?: string): Report {
  if (!tracksFindings(flow)) return report;
  const listed = text === undefined || report.issues !== undefined ? [] : findingsSection(text);
  const whole = withNotes(listed.length === 0 ? report : { ...report, issues: listed });
  if (stage.findings !== "rows" || whole.issues === undefined) return whole;
  return { ...whole, issues: withRows(whole.issues, taskRows) };
}
