// What an attempt left behind, in parts: a log may be large and may still grow. The path is made from checked names only, and links,
// pipes and devices are not followed.

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Refusal } from "../../api/problem.ts";
import { ROUTES } from "../../api/routes.ts";
import type { ATTEMPT_FILES } from "../../api/schemas/run.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { type AttemptFiles, attemptFiles, isInside } from "../../engine/attempt-files.ts";
import { findRun } from "../find-run.ts";
import type { Mount } from "../mount.ts";
import type { ServerParts } from "../parts.ts";

export function mountAttemptFiles(mount: Mount, { store, home }: ServerParts): void {
  mount.json(ROUTES.attemptFile, async ({ params: { run, stage, attempt, file }, query: { offset, limit } }) => {
    const found = await findRun(store, run);
    if (!found.ok) return found;
    const runId = found.value.run.id;
    const known = (await store.attempts(runId)).some((each) => each.stage === stage && each.attempt === attempt);
    if (!known)
      return err({ code: "attempt_not_found", detail: `${runId} has no attempt ${attempt} of a stage ${stage}.` });
    const files = attemptFiles(home, runId, stage, attempt);
    for (const path of pathsOf(files, file)) {
      // An agent may have put a link in the place of its folder.
      if (!(await liesInside(files.dir, path))) continue;
      const part = await readPart(path, offset, limit);
      if (part.ok) return ok({ file, offset, ...part.value });
      if (part.error.code !== "file_not_found") return part;
    }
    return err({ code: "file_not_found", detail: `Attempt ${attempt} of ${stage} has no ${file}.` });
  });
}

/** A verdict is what was submitted by tool, or else a file. */
function pathsOf(files: AttemptFiles, file: (typeof ATTEMPT_FILES)[number]): readonly string[] {
  return file === "verdict" ? [files.submission, files.verdict] : [files[file]];
}

/** Not where the folder is not there any more. */
async function liesInside(folder: string, path: string): Promise<boolean> {
  return isInside(folder, path).catch(() => false);
}

type Part = { readonly size: number; readonly next: number | null; readonly text: string };

async function readPart(path: string, offset: number, limit: number): Promise<Result<Part, Refusal>> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return err({ code: "file_not_found", detail: "There is no such file." });
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return err({ code: "file_not_found", detail: "It is not a plain file." });
    if (offset > stat.size)
      return err({ code: "invalid_query", detail: `offset: the file has ${stat.size} bytes.`, pointer: "offset" });
    const bytes = Buffer.alloc(Math.min(limit, stat.size - offset));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
    const whole = cutCharacter(bytes.subarray(0, bytesRead), offset + bytesRead >= stat.size);
    const end = offset + whole.length;
    return ok({ size: stat.size, next: end < stat.size ? end : null, text: whole.toString("utf8") });
  } finally {
    await file.close();
  }
}

/** Leaves a character that is not complete yet to the next part; but a part is never empty because of that. */
function cutCharacter(bytes: Buffer, isEnd: boolean): Buffer {
  if (isEnd) return bytes;
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back && back < bytes.length ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
