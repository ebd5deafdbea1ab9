// The files of an attempt, in parts: a log may be large and may still grow.

import { ROUTES } from "../../contract/routes.ts";
import { err, ok } from "../../../core/result.ts";
import { cutCharacter, findFile } from "../attempt-file.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";

const NEWLINE = 0x0a;

export function mountAttemptFiles(mount: MountRoute, { store, home, followed }: ServerDeps): void {
  mount.json(ROUTES.attemptFile, async ({ params, query: { offset, limit } }) => {
    const found = await findFile(store, home, params);
    if (!found.ok) return found;
    const { handle, size, runId, isWorking } = found.value;
    if (isWorking) followed.note({ runId, stage: params.stage, attempt: params.attempt });
    try {
      if (offset > size)
        return err({ code: "invalid_query", detail: `offset: the file has ${size} bytes.`, pointer: "offset" });
      const bytes = Buffer.alloc(Math.min(limit, size - offset));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, offset);
      const whole = cutCharacter(bytes.subarray(0, bytesRead), offset + bytesRead >= size);
      const end = offset + whole.length;
      return ok({
        file: params.file,
        offset,
        size,
        next: end < size ? end : null,
        wholeTo: offset + whole.lastIndexOf(NEWLINE) + 1,
        text: whole.toString("utf8"),
      });
    } finally {
      await handle.close();
    }
  });
}
