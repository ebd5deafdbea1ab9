// Search in an attempt's files, and a run's diff with its line counts. Both read in pieces, so that a large file does not hold up other
// requests.

import { diffOfRun } from "../../../app/run-diff.ts";
import type { FileHandle } from "node:fs/promises";
import type { AnswerOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import { err, ok } from "../../../core/result.ts";
import type { Run } from "../../../core/run/run.ts";
import { attemptFiles } from "../../../attempt/attempt-files.ts";
import { statOfDiff } from "../../../file/diff-stat.ts";
import { openPlain } from "../../../file/plain-file.ts";
import { cutCharacter, findFile } from "../attempt-file.ts";
import { findRun } from "../find-run.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { searchLines } from "../search-lines.ts";

export function mountLogs(mount: MountRoute, deps: ServerDeps): void {
  const { store, home } = deps;
  mount.json(ROUTES.searchFile, async ({ params, query: { q, limit, after } }) => {
    const found = await findFile(store, home, params);
    if (!found.ok) return found;
    const { handle, size } = found.value;
    try {
      const [offset = 0, line = 0] = after.split("-").map(Number);
      if (offset > size)
        return err({ code: "invalid_cursor", detail: `after: the file has ${size} bytes.`, pointer: "after" });
      const { lines, next } = await searchLines(handle, { text: q, offset, line, limit });
      return ok({ file: params.file, size, lines: [...lines], next });
    } finally {
      await handle.close();
    }
  });

  mount.json(ROUTES.runDiff, async ({ params, query: { limit, of } }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    const runId = found.value.run.id;
    if (of === "run") return ok(await wholeOf(deps, found.value.run, limit));
    for (const { stage, attempt } of (await store.attempts(runId)).toReversed()) {
      const files = attemptFiles(home, runId, stage, attempt);
      const opened = await openPlain(files.dir, files.diff);
      if (opened === undefined) continue;
      try {
        if (opened.size === 0) continue;
        const [text, { isCut: isStatCut, ...stat }] = [
          await readStart(opened.handle, limit, opened.size),
          await statOfDiff(opened.handle),
        ];
        const isCut = Buffer.byteLength(text) < opened.size && limit < opened.size;
        return ok({
          stage,
          attempt,
          commits: null,
          size: opened.size,
          text,
          isCut,
          ...stat,
          files: [...stat.files],
          isStatCut,
        });
      } finally {
        await opened.handle.close();
      }
    }
    return ok(NOTHING);
  });
}

type Diff = AnswerOf<typeof ROUTES.runDiff>;

const NOTHING: Diff = {
  stage: null,
  attempt: null,
  commits: null,
  size: 0,
  text: "",
  isCut: false,
  files: [],
  added: 0,
  removed: 0,
  isStatCut: false,
};

async function wholeOf({ store, commitOf, wholeDiff }: ServerDeps, run: Run, limit: number): Promise<Diff> {
  if (wholeDiff === undefined) return NOTHING;
  const attempts = await store.attempts(run.id);
  const found = await diffOfRun({ attempts, head: await commitOf(run), diff: (from, to) => wholeDiff(run, from, to) });
  if (found === null) return NOTHING;
  const { from, to, bytes } = found;
  const shown = bytes.subarray(0, limit);
  const { isCut: isStatCut, ...stat } = found.stat;
  return {
    stage: null,
    attempt: null,
    commits: { from, to },
    size: bytes.length,
    text: cutCharacter(shown, shown.length === bytes.length).toString("utf8"),
    isCut: shown.length < bytes.length,
    ...stat,
    files: [...stat.files],
    isStatCut,
  };
}

async function readStart(handle: FileHandle, limit: number, size: number): Promise<string> {
  const bytes = Buffer.alloc(Math.min(limit, size));
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  return cutCharacter(bytes.subarray(0, bytesRead), bytesRead >= size).toString("utf8");
}
