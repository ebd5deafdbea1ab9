// The findings of a request over HTTP. A review that leaves open ones out is refused here, so that its sender can correct it; the
// engine would count it as failed.

import type { z } from "zod";
import { reviewFault } from "../../../../core/finding/review.ts";
import type { WorkStage } from "../../../../core/flow/flow.ts";
import type { Outcome, Report } from "../../../../core/flow/outcome.ts";
import { optional } from "../../../../core/optional.ts";
import type { Run } from "../../../../core/run/run.ts";
import type { Refusal } from "../../../contract/problem.ts";
import type { findingNotesSchema } from "../../../contract/schemas/finding.ts";

export function notesOf(given: z.output<typeof findingNotesSchema>): Pick<Report, "findings"> {
  if (given === undefined) return {};
  return {
    findings: given.map(({ id, state, reason, note }) => ({ id, ...optional({ state }), said: reason ?? note ?? "" })),
  };
}

export function refuseReview(run: Run, stage: WorkStage, outcome: Outcome): Refusal | undefined {
  const fault = stage.findings === undefined ? undefined : reviewFault(stage.findings, stage.id, run.findings, outcome);
  return fault === undefined ? undefined : { code: "findings_unanswered", detail: fault.message, pointer: "/findings" };
}
