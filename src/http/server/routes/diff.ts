// A run's changes with their line counts, and the files of it that a person has viewed.

import type { FileHandle } from "node:fs/promises";
import { type RunDiff, diffOfRun, reviewOf } from "../../../app/run-diff.ts";
import { markViewed, viewedFiles } from "../../../app/viewed-files.ts";
import { attemptFiles } from "../../../attempt/attempt-files.ts";
import { optional } from "../../../core/optional.ts";
import { ok } from "../../../core/result.ts";
import type { Actor } from "../../../core/run/event.ts";
import type { Run } from "../../../core/run/run.ts";
import { statOfDiff } from "../../../file/diff-stat.ts";
import { openPlain } from "../../../file/plain-file.ts";
import type { AnswerOf, QueryOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import { actorOf } from "../actor.ts";
import { cutCharacter } from "../attempt-file.ts";
import type { ServerDeps } from "../deps.ts";
import { findRun } from "../find-run.ts";
import type { MountRoute } from "../mount.ts";

export function mountDiff(mount: MountRoute, deps: ServerDeps): void {
  const { store, home } = deps;
  mount.json(ROUTES.runDiff, async ({ params, query, principal }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    const { run } = found.value;
    const person = principal.kind === "operator" ? principal.actor : null;
    const shown =
      query.of === "last" ? await lastOf(deps, run.id, query.limit) : await wholeOf(deps, run, query, person);
    const viewed = person === null ? [] : viewedFiles(home, person, run.id);
    return ok({ ...shown, viewed: viewed.map((each) => ({ ...each })) });
  });

  mount.json(ROUTES.markViewed, async ({ params, body, principal }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    const viewed = markViewed(home, { person: actorOf(principal), run: found.value.run.id, ...body });
    return ok({ viewed: viewed.map((each) => ({ ...each })) });
  });
}

type Shown = Omit<AnswerOf<typeof ROUTES.runDiff>, "viewed">;

const NOTHING: Shown = {
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
  reviewed: null,
};

/** Of the last attempt that has a diff. */
async function lastOf({ store, home }: ServerDeps, runId: string, limit: number): Promise<Shown> {
  for (const { stage, attempt } of (await store.attempts(runId)).toReversed()) {
    const files = attemptFiles(home, runId, stage, attempt);
    const opened = await openPlain(files.dir, files.diff);
    if (opened === undefined) continue;
    const { handle, size } = opened;
    try {
      if (size === 0) continue;
      const text = await readStart(handle, limit, size);
      const { isCut: isStatCut, ...stat } = await statOfDiff(handle);
      const isCut = Buffer.byteLength(text) < size && limit < size;
      return { ...NOTHING, stage, attempt, size, text, isCut, ...stat, files: [...stat.files], isStatCut };
    } finally {
      await handle.close();
    }
  }
  return NOTHING;
}

/** Of all commits, or of those since the person's last decision. */
async function wholeOf(
  { store, commitOf, wholeDiff }: ServerDeps,
  run: Run,
  { of, limit, spaces, path, oldPath, context }: QueryOf<typeof ROUTES.runDiff>,
  person: Actor | null,
): Promise<Shown> {
  if (wholeDiff === undefined) return NOTHING;
  const attempts = await store.attempts(run.id);
  const reviewed = person === null ? null : await reviewOf(store, run.id, attempts, person);
  const shape = {
    ignoresSpaces: spaces === "ignored",
    paths: [path, oldPath].filter((each) => each !== undefined),
    ...optional({ context }),
  };
  const found = await diffOfRun({
    attempts,
    head: await commitOf(run),
    since: of === "review" ? reviewed?.commit : undefined,
    diff: (from, to) => wholeDiff(run, from, to, shape),
  });
  return found === null ? { ...NOTHING, reviewed } : { ...shownOf(found, limit), reviewed };
}

function shownOf({ from, to, bytes, stat: { isCut: isStatCut, ...stat } }: RunDiff, limit: number): Shown {
  const start = bytes.subarray(0, limit);
  return {
    ...NOTHING,
    commits: { from, to },
    size: bytes.length,
    text: cutCharacter(start, start.length === bytes.length).toString("utf8"),
    isCut: start.length < bytes.length,
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
