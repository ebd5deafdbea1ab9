// Whether a commit is in the project's own branches already, because a person merged it by hand.

import { isAncestor } from "../git/pin.ts";
import { findRepository, resolveCommits } from "../git/repository.ts";

/** The branches in which merged work is looked for: the one that is checked out, and the usual names of the main branch, here and at the remote. */
const TARGETS = [
  "HEAD",
  "refs/heads/main",
  "refs/heads/master",
  "refs/remotes/origin/HEAD",
  "refs/remotes/origin/main",
  "refs/remotes/origin/master",
];

const KNOWN_AT_MOST = 10_000;

/** Asks git once per commit and state of the targets. */
export function createMergedLook(): (project: string, commit: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  return async (project, commit) => {
    const found = await findRepository(project);
    if (!found.ok) return false;
    const { commonDir, top } = found.value;
    const resolved = await resolveCommits(top, TARGETS, { place: found.value });
    const tips = resolved.ok ? [...new Set(resolved.value.flatMap((tip) => tip ?? []))] : [];
    const key = JSON.stringify([commonDir, commit, tips]);
    if (known.size > KNOWN_AT_MOST) known.clear();
    const answer = known.get(key) ?? isIn(commonDir, commit, tips);
    known.set(key, answer);
    answer.catch(() => known.delete(key));
    return answer;
  };
}

async function isIn(commonDir: string, commit: string, tips: readonly string[]): Promise<boolean> {
  for (const tip of tips) if (tip === commit || (await isAncestor(commonDir, commit, tip))) return true;
  return false;
}
