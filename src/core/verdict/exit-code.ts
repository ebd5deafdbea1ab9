// A stage whose program reports only an exit code (source 004), which the flow's health words interpret. If the flow lists possible
// requests, a WORK_RESULT block in the output counts too; it can hold a stage back, never pass it.

import type { ResultSpec, WorkStage } from "../flow/flow.ts";
import type { Report } from "../flow/outcome.ts";
import { ok } from "../result.ts";
import { clip, ITEM_CHARS, type Reading, type Signing } from "./reading.ts";
import { readWorkResult } from "./work-result.ts";
import { optional } from "../optional.ts";

/** No code means that a signal ended the process, which is a failure like any other. */
export function readExitCode(code: number | null, text = "", next?: ResultSpec["next"], signing?: Signing): Reading {
  const plain: Reading = ok({ health: String(code ?? 1) });
  if (next === undefined || code !== 0) return plain;
  const block = readWorkResult(text, signing);
  if (!block.ok) return block.error.code === "verdict_missing" ? plain : block;
  const { health: said, claimed, ...rest } = block.value;
  const status = claimed?.status ?? "";
  const meaning = Object.hasOwn(next, status) ? next[status] : undefined;
  const kept = { ...rest, ...optional({ claimed }) };
  // A request that is granted is no claim about something else, so `claimed` stays out.
  if (meaning === "blocked") {
    const question = rest.reason ?? rest.summary ?? status;
    return ok({ ...rest, structured: true, health: "blocked", questions: [clip(question, ITEM_CHARS)] });
  }
  if (meaning !== undefined) return ok({ ...rest, ...issuesOf(rest), structured: true, verdict: meaning });
  if (said === "success") return ok({ ...kept, health: "0" });
  return ok({ ...kept, cause: "work_result_failure", reason: rest.reason ?? rest.summary ?? "success: false" });
}

/** Shells use higher codes for a program that they could not run, or that a signal ended. */
const HIGHEST_OWN_EXIT = 125;

/** Whether a check that ended with this code says no, and the flow sends work back from it. A check that could not run has failed. */
export function isSentBack({ route }: Pick<WorkStage, "route">, code: number | null): boolean {
  return "revise" in route && code !== null && code > 0 && code <= HIGHEST_OWN_EXIT;
}

/** If the block lists no findings, the failure is the issue for the next attempt. */
function issuesOf({ issues, reason }: Pick<Report, "issues" | "reason">): Pick<Report, "issues"> {
  if ((issues ?? []).length > 0 || reason === undefined) return optional({ issues });
  return { issues: [reason] };
}
