// The work that an attempt leaves on a worker: its workspace is closed, and its work has a ref of its own, also if the claim was lost.

import { statSync } from "node:fs";
import type { WorkerOrder } from "../claim/messages.ts";
import { ok, type Result } from "../core/result.ts";
import { CHUNK_BYTES } from "../core/worker/wire.ts";
import { bundleCommits, setRef, workRef } from "../git/carried-commits.ts";
import { inRepository } from "../git/git.ts";
import { resolveCommits } from "../git/repository.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import { readPart } from "./mirror.ts";
import type { OpenedProject } from "./project.ts";
import type { Upstream } from "./upstream.ts";

export type KeptWork = {
  /** The branch after the attempt. */
  readonly tip: string;
  /** The same with what was left uncommitted. */
  readonly work: string;
  readonly ref: string;
};

/** `leftover`: uncommitted work that the attempt itself has noted. Null: the attempt never had a branch here. */
export async function keepWork(
  workspaces: Workspaces,
  { repository: { commonDir } }: OpenedProject,
  { job: { run, stage, attempt }, start }: Pick<WorkerOrder, "job" | "start">,
  leftover: string | null,
): Promise<Result<KeptWork | null>> {
  const branch = `refs/heads/${start.branch}`;
  const found = await resolveCommits(commonDir, [branch], inRepository(commonDir));
  if (!found.ok) return found;
  const tip = found.value[0] ?? null;
  let uncommitted = leftover;
  for (const left of (await workspaces.left?.(run.id)) ?? []) {
    if ((left.key ?? run.id) !== start.key) continue;
    await workspaces.unlock(left);
    const closed = await workspaces.close(left, run.id);
    if (!closed.ok) return closed;
    uncommitted = closed.value.leftover ?? uncommitted;
  }
  if (tip === null) return ok(null);
  const ref = workRef(run.id, stage.id, attempt);
  const work = uncommitted ?? tip;
  const named = await setRef(commonDir, ref, work);
  if (!named.ok) return named;
  // The next attempt here begins at the commit that the node names then.
  const freed = await setRef(commonDir, branch, null);
  return freed.ok ? ok({ tip, work, ref }) : freed;
}

/** Sends the commits that the node does not have. */
export async function sendWork(
  { repository: { commonDir: repository } }: OpenedProject,
  { ref, work }: KeptWork,
  from: string,
  file: string,
  upstream: Pick<Upstream, "push">,
): Promise<Result<null>> {
  if (work === from) return ok(null);
  const made = await bundleCommits({ repository, ref, commit: work, known: [from], file });
  if (!made.ok) return made;
  const { size } = statSync(file);
  for (let offset = 0; offset < size; offset += CHUNK_BYTES) {
    const part = () => readPart(file, offset, Math.min(CHUNK_BYTES, size - offset));
    upstream.push(() => ({ type: "commits", offset, data: part() ?? "" }), { keep: true });
  }
  return ok(null);
}
