// One file of an attempt, opened for reading. The path is built from checked names only. Links, pipes and devices are not followed, because
// an agent may have put one in the place of its folder.

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Refusal } from "../contract/problem.ts";
import type { ATTEMPT_FILES } from "../contract/schemas/run.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { type AttemptFiles, attemptFiles, isInside } from "../../attempt/attempt-files.ts";
import type { Store } from "../../store/store.ts";
import { findRun } from "./find-run.ts";

export type OpenedFile = { readonly handle: FileHandle; readonly size: number };

export type FileReference = {
  readonly run: string;
  readonly stage: string;
  readonly attempt: number;
  readonly file: (typeof ATTEMPT_FILES)[number];
};

/** The caller closes it. */
export async function findFile(
  store: Store,
  home: string,
  { run, stage, attempt, file }: FileReference,
): Promise<Result<OpenedFile, Refusal>> {
  const found = await findRun(store, run);
  if (!found.ok) return found;
  const runId = found.value.run.id;
  const known = (await store.attempts(runId)).some((each) => each.stage === stage && each.attempt === attempt);
  if (!known)
    return err({ code: "attempt_not_found", detail: `${runId} has no attempt ${attempt} of a stage ${stage}.` });
  const files = attemptFiles(home, runId, stage, attempt);
  for (const path of pathsOf(files, file)) {
    const opened = await openPlain(files.dir, path);
    if (opened !== undefined) return ok(opened);
  }
  return err({ code: "file_not_found", detail: `Attempt ${attempt} of ${stage} has no ${file}.` });
}

/** A verdict is the one submitted by tool, otherwise a file. */
function pathsOf(files: AttemptFiles, file: FileReference["file"]): readonly string[] {
  return file === "verdict" ? [files.submission, files.verdict] : [files[file]];
}

/** Undefined if it is missing, not a plain file, or outside the folder. */
export async function openPlain(folder: string, path: string): Promise<OpenedFile | undefined> {
  // Not if the folder no longer exists.
  if (!(await isInside(folder, path).catch(() => false))) return undefined;
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  const stat = await handle.stat();
  if (stat.isFile()) return { handle, size: stat.size };
  await handle.close();
  return undefined;
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
