// One file of an attempt, opened for reading. The path is built from checked names only. Links, pipes and devices are not followed, because
// an agent may have put one in the place of its folder.

import type { Refusal } from "../contract/problem.ts";
import type { z } from "zod";
import type { attemptFileSchema } from "../contract/schemas/run.ts";
import { removedText } from "../../core/retention/retention.ts";
import { readNote } from "../../app/retention/removed-note.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { type AttemptFiles, attemptFiles, checkLog } from "../../attempt/attempt-files.ts";
import { type OpenedFile, openPlain } from "../../file/plain-file.ts";
import type { Store } from "../../store/store.ts";
import { findRun } from "./find-run.ts";

export type FileReference = {
  readonly run: string;
  readonly stage: string;
  readonly attempt: number;
  readonly file: z.infer<typeof attemptFileSchema>;
};

type OpenedAttemptFile = OpenedFile & {
  readonly runId: string;
  /** The attempt has not ended: the file may grow. */
  readonly isWorking: boolean;
};

/** The caller closes it. */
export async function findFile(
  store: Store,
  home: string,
  { run, stage, attempt, file }: FileReference,
): Promise<Result<OpenedAttemptFile, Refusal>> {
  const found = await findRun(store, run);
  if (!found.ok) return found;
  const runId = found.value.run.id;
  const known = (await store.attempts(runId)).find((each) => each.stage === stage && each.attempt === attempt);
  if (known === undefined)
    return err({ code: "attempt_not_found", detail: `${runId} has no attempt ${attempt} of a stage ${stage}.` });
  const files = attemptFiles(home, runId, stage, attempt);
  for (const path of pathsOf(files, file)) {
    const opened = await openPlain(files.dir, path);
    if (opened !== undefined) return ok({ ...opened, runId, isWorking: known.endedAt === null });
  }
  const removed = readNote(home, runId);
  if (removed !== undefined) return err({ code: "file_not_found", detail: removedText(removed) });
  return err({ code: "file_not_found", detail: `Attempt ${attempt} of ${stage} has no ${file}.` });
}

/** A verdict is the one submitted by tool, otherwise a file. */
function pathsOf(files: AttemptFiles, file: FileReference["file"]): readonly string[] {
  if (isCheck(file)) return [checkLog(files, file.slice("check-".length))];
  return file === "verdict" ? [files.submission, files.verdict] : [files[file]];
}

function isCheck(file: FileReference["file"]): file is `check-${string}` {
  return file.startsWith("check-");
}

/** Leaves an incomplete character to the next part; but a part is never empty because of that. */
export function cutCharacter(bytes: Buffer, isEnd: boolean): Buffer {
  if (isEnd) return bytes;
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back && back < bytes.length ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
