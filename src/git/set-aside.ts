// Takes changes out of a work tree without losing them: everything is pinned first, then the branch and its files are as they were.

import { ok, type Result } from "../core/result.ts";
import { git, type GitLocation } from "./git.ts";
import type { WorkLimits } from "./large-files.ts";
import { commitWork, pinCommit } from "./pin.ts";
import { resolveCommits } from "./repository.ts";

export type AsideWork = {
  readonly branch: string;
  readonly runId: string;
  /** The commit to return to. */
  readonly from: string;
  readonly limits: WorkLimits;
};

/** The commit that holds the changes, and the ref that keeps it. */
export type SetAside = { readonly commit: string; readonly ref: string };

/** Can be repeated after an interruption. */
export async function setAsideWork(
  place: GitLocation,
  { branch, runId, from, limits }: AsideWork,
): Promise<Result<SetAside>> {
  const ref = `refs/heads/${branch}`;
  const found = await resolveCommits(place.top, ["HEAD", ref], { place });
  if (!found.ok) return found;
  const [head = null, tip = null] = found.value;
  const message = `Changes set aside in run ${runId}`;
  const made = await commitWork(place, { from: "index" }, head, runId, { message, limits });
  if (!made.ok) return made;
  // The branch may be elsewhere than HEAD; the commit with the files is pinned last, so that its name is returned.
  for (const commit of tip === null || tip === head ? [made.value] : [tip, made.value]) {
    const pinned = await pinCommit(place.commonDir, runId, commit);
    if (!pinned.ok) return pinned;
  }
  const kept = await git(
    place.top,
    ["for-each-ref", "--count=1", "--format=%(refname)", `--points-at=${made.value}`, "refs/passrail/keep"],
    { place },
  );
  const files = { place, touchesFiles: true };
  const steps: readonly (readonly string[])[] = [
    ["update-ref", "--no-deref", ref, from],
    ["symbolic-ref", "HEAD", ref],
    ["reset", "--hard", "--quiet"],
    ["clean", "-d", "--force", "--quiet"],
  ];
  for (const step of steps) {
    const done = await git(place.top, [...step], files);
    if (!done.ok) return done;
  }
  const name = kept.ok ? kept.value.trim() : "";
  return ok({ commit: made.value, ref: name === "" ? made.value : name });
}
