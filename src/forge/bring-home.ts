// Copies commits from the mirror into the user's repository, under one of our refs: other tickets build on them, and they must not depend
// on a cache.

import type { Result } from "../core/result.ts";
import { git, inRepository } from "../git/git.ts";
import { resolveCommits } from "../git/repository.ts";
import { patiently } from "../git/patiently.ts";

export async function bringHome(commonDir: string, gitDir: string, commit: string): Promise<Result<null>> {
  const here = inRepository(commonDir);
  const ref = `refs/passrail/landed/${commit}`;
  const found = await resolveCommits(commonDir, [commit], here);
  if (!found.ok) return found;
  if (found.value[0] !== commit) {
    const named = await git(gitDir, ["update-ref", "--no-deref", ref, commit], inRepository(gitDir));
    if (!named.ok) return named;
    const options = [
      "--no-tags",
      "--no-write-fetch-head",
      "--no-recurse-submodules",
      "--no-auto-maintenance",
      "--quiet",
    ];
    const env = { ...here.env, GIT_ALLOW_PROTOCOL: "file" };
    return patiently(() => git(commonDir, ["fetch", ...options, "--", gitDir, `${ref}:${ref}`], { env }));
  }
  return patiently(() => git(commonDir, ["update-ref", "--no-deref", ref, commit], here));
}
