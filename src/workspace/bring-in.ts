// A clone has the commits that were there when it was made. What it must contain may be younger, such as the branch of a track that was
// worked on since, so it is fetched from the project's repository first. A worktree shares its objects and has them already.

import { err, ok, type Result } from "../core/result.ts";
import { git, type GitLocation } from "../git/git.ts";
import { findProject, findRepository, resolveCommits } from "../git/repository.ts";

const FETCH_MS = 600_000;
const QUIET = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"];

/** `commits` are whole ids. One that the project does not have is left to those who use it. */
export async function bringIn(place: GitLocation, project: string, commits: readonly string[]): Promise<Result<null>> {
  const missing = await missingIn(place.top, commits, place);
  if (!missing.ok) return missing;
  if (missing.value.length === 0) return ok(null);
  const found = await findProject(project);
  const repository = found.ok ? await findRepository(found.value) : found;
  if (!repository.ok) return err(repository.error);
  const from = repository.value;
  if (from.commonDir === place.commonDir) return ok(null);
  const gone = await missingIn(from.top, missing.value, from);
  if (!gone.ok) return gone;
  const wanted = missing.value.filter((commit) => !gone.value.includes(commit));
  if (wanted.length === 0) return ok(null);
  const fetched = await git(place.top, ["fetch", ...QUIET, "--", from.commonDir, ...wanted], {
    place,
    env: { GIT_ALLOW_PROTOCOL: "file" },
    timeoutMs: FETCH_MS,
  });
  return fetched.ok ? ok(null) : fetched;
}

async function missingIn(
  folder: string,
  commits: readonly string[],
  place: GitLocation,
): Promise<Result<readonly string[]>> {
  const found = await resolveCommits(folder, commits, { place });
  return found.ok ? ok(commits.filter((_, at) => !found.value[at])) : found;
}
