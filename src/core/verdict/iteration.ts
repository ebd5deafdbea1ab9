// The iteration that a handoff names, compared with that of its attempt. Another number is another iteration's handoff,
// or a made-up one: a judge must correct it, and the other claims of such a handoff do not count.

import type { WorkStage } from "../flow/flow.ts";
import type { Report } from "../flow/outcome.ts";
import { ok } from "../result.ts";
import { type Reading, unreadable } from "./reading.ts";

/** The error, in a sentence; undefined if the report names no iteration, or the right one. */
export function iterationFault({ payload }: Report, iteration: number): string | undefined {
  const said = payload?.["iteration"];
  if (typeof said !== "number" || said === iteration) return undefined;
  return `its \`## Iteration\` says ${said}, and this is iteration ${iteration}`;
}

export function withIterationChecked(reading: Reading, stage: WorkStage, iteration: number): Reading {
  const fault = reading.ok ? iterationFault(reading.value, iteration) : undefined;
  if (!reading.ok || fault === undefined) return reading;
  if (stage.expectsVerdict)
    return unreadable(
      "verdict_field_invalid",
      `The handoff is not of this iteration: ${fault}. Write \`iter ${iteration}\`.`,
    );
  const warnings = [...(reading.value.warnings ?? []), `iteration_mismatch: ${fault}`];
  return ok({ ...reading.value, warnings });
}
