// One attempt of a run: finds the attempt that a person named, and prints it or one of its files.

import { realpathSync } from "node:fs";
import { attemptFiles } from "../../../attempt/attempt-files.ts";
import { readNote } from "../../../app/retention/removed-note.ts";
import { removedText } from "../../../core/retention/retention.ts";
import { readConfined } from "../../../file/confined.ts";
import { CliError } from "../../errors.ts";
import type { AttemptRecord } from "../../../store/store.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson, printTable } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { attemptRow } from "../../../core/view/attempt-row.ts";
import type { ShownFile } from "./shown-file.ts";

const FILE_BYTES = 64 * 1024 * 1024;

export function showAttempt(io: Io, found: AttemptRecord): void {
  const row = attemptRow(found, Date.now());
  if (io.json)
    printJson(io, {
      ...row,
      outcome: found.outcome,
      facts: found.facts,
      readyAt: found.readyAt,
      startedAt: found.startedAt,
      endedAt: found.endedAt,
    });
  else
    for (const [key, value] of Object.entries({ ...row, ...found.facts, outcome: found.outcome }))
      printTable(io, [
        [key, typeof value === "string" ? value : JSON.stringify(value)].map((cell) => ({ name: "", value: cell })),
      ]);
}

export async function showAttemptFile(
  io: Io,
  runId: string,
  { stage, attempt }: AttemptRecord,
  file: ShownFile,
): Promise<void> {
  const home = realpathSync(io.home);
  const files = attemptFiles(home, runId, stage, attempt);
  const read = (from: string): string | undefined => {
    const found = readConfined(home, from, FILE_BYTES);
    return found.ok ? found.value : undefined;
  };
  const path = files[file];
  // An agent writes its verdict to a file or submits it with a tool.
  const submitted = file === "verdict" ? read(files.submission) : undefined;
  const text = submitted ?? read(path);
  const removed = text === undefined ? readNote(home, runId) : undefined;
  if (removed !== undefined) throw new CliError("files_removed", removedText(removed));
  if (text === undefined) throw new CliError("file_not_there", `${stage}#${attempt} has no ${file}.`, path);
  if (io.json) printJson(io, { stage, attempt, file, path, text });
  else for (const line of text.replace(/\n$/u, "").split("\n")) io.out(plainText(line, io.color));
}

/** `build#2`, `build` for the last attempt of that stage, nothing for the run's last attempt. */
export function pickAttempt(attempts: readonly AttemptRecord[], wanted: string | undefined): AttemptRecord {
  const [stage, number] = wanted === undefined ? [] : wanted.split("#");
  const found = attempts.findLast(
    (record) =>
      (stage === undefined || record.stage === stage) && (number === undefined || String(record.attempt) === number),
  );
  if (found !== undefined) return found;
  const known = attempts.map((record) => `${record.stage}#${record.attempt}`).join(", ");
  throw new CliError(
    "attempt_not_found",
    wanted === undefined ? "There is no attempt yet." : `There is no attempt ${wanted}.`,
    known === "" ? "" : `attempts: ${known}`,
  );
}
