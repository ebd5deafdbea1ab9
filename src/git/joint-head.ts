// The one commit that a decision about several repositories is bound to: the joint branch, as long as every member's branch is where Passrail
// put it. Where one was moved it is another value, so that a decision about the state before does not fit any more.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { splitRef, type Joint } from "../core/run/joint.ts";
import { findProject, findRepository, resolveCommits } from "./repository.ts";

/** Null without a commit. */
export async function jointHead({ folder, members }: Joint, project: string, branch: string): Promise<string | null> {
  const own = [`refs/heads/${branch}`, ...members.map((_, index) => splitRef(index))];
  const [head = null, ...published] = await commitsIn(folder, own);
  if (head === null) return null;
  const heads: (string | null)[] = [];
  for (const { dir } of members) heads.push((await commitsIn(join(project, dir), [`refs/heads/${branch}`]))[0] ?? null);
  if (heads.every((each, at) => each === (published[at] ?? null))) return head;
  return createHash("sha1")
    .update([head, ...heads].join(" "))
    .digest("hex");
}

/** Nulls where there is no repository. */
async function commitsIn(folder: string, names: readonly string[]): Promise<readonly (string | null)[]> {
  const project = await findProject(folder);
  const place = project.ok ? await findRepository(project.value) : project;
  if (!place.ok) return names.map(() => null);
  const found = await resolveCommits(place.value.commonDir, names, { place: place.value });
  return found.ok ? found.value : names.map(() => null);
}
