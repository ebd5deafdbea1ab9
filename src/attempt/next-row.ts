// The builtin of `kind: foreach`: checks the box of the round that has passed, and finds the next open one. Safe to repeat: a box that is
// checked stays checked, and the round's box is told by the stored outcome, not by memory.

import { join } from "node:path";
import { checkBoxes, checkOff } from "../core/flow/check-boxes.ts";
import type { WorkStage } from "../core/flow/flow.ts";
import { DEFAULT_ROUNDS } from "../core/flow/foreach.ts";
import type { Report } from "../core/flow/outcome.ts";
import { readConfined, writeConfined } from "../file/confined.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";
import { untampered } from "./tampered.ts";

const FILE_BYTES = 1024 * 1024;

/** The part of a builtin's context that it needs. */
export type RowContext = {
  readonly stage: WorkStage;
  readonly workspace: Pick<Workspace, "dir">;
  readonly attempts: readonly EarlierAttempt[];
};

export async function nextRow({ stage, workspace, attempts }: RowContext): Promise<Report> {
  const { in: file = "", last = "", max = DEFAULT_ROUNDS } = stage.settings;
  const path = join(workspace.dir, file);
  const read = readConfined(workspace.dir, path, FILE_BYTES);
  if (!read.ok && read.error.code === "file_too_large") return { cause: "rows_unreadable", reason: read.error.message };
  const before = untampered(read);
  if (before === undefined) return { cause: "rows_missing", reason: `there is no ${file} with rows to work on` };
  const looks = attempts.filter((each) => each.stage === stage.id && rowIn(each) !== undefined);
  const round = looks.at(-1);
  const done = round !== undefined && hasPassed(attempts, last, round) ? rowIn(round) : undefined;
  const text = done === undefined ? before : checkOff(before, done);
  if (text !== before) untampered(writeConfined(workspace.dir, path, text, 0o666));
  const boxes = checkBoxes(text);
  if (boxes.length === 0) return { cause: "rows_missing", reason: `${file} has no rows with a check box (- [ ] …)` };
  const open = boxes.find(({ isDone }) => !isDone);
  const left = boxes.filter(({ isDone }) => !isDone).length;
  if (open === undefined)
    return { structured: true, verdict: "exhausted", summary: `all ${boxes.length} rows of ${file} are done` };
  const rounds = looks.filter((look) => hasPassed(attempts, last, look)).length;
  if (rounds >= max)
    return {
      cause: "rows_exceeded",
      reason: `${rounds} rows are done, the flow allows ${max}; ${left} are left in ${file}`,
    };
  const summary = `row ${boxes.indexOf(open) + 1} of ${boxes.length}, ${left} left: ${open.text}`;
  return { structured: true, verdict: "pass", summary, payload: { row: open.text } };
}

/** The box that a look has found; undefined if it found none. */
export function rowIn({ status, outcome }: EarlierAttempt): string | undefined {
  const payload = status === "done" ? outcome?.["payload"] : undefined;
  const row = typeof payload === "object" && payload !== null && !Array.isArray(payload) ? payload : {};
  return "row" in row && typeof row["row"] === "string" ? row["row"] : undefined;
}

/** Whether the last stage of the round passed after this look, and before the next one. */
function hasPassed(attempts: readonly EarlierAttempt[], last: string, look: EarlierAttempt): boolean {
  const next = attempts.find(
    (each) => each.stage === look.stage && each.attempt > look.attempt && rowIn(each) !== undefined,
  );
  return attempts.some(
    ({ stage, status, outcome, endedAt }) =>
      stage === last &&
      status === "done" &&
      outcome?.["verdict"] === "pass" &&
      (endedAt ?? "") >= (look.endedAt ?? "") &&
      (next === undefined || (endedAt ?? "") <= (next.endedAt ?? "")),
  );
}
