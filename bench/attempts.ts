// What an attempt costs beside its agent: the git processes, and the time from one agent's end to the next agent's start as the agents
// themselves measure it.

import { countGit, gapsBetweenAgents, type GitCase } from "../test/harness/git-counts.ts";
import { median, type Row } from "./measure.ts";

const FILES = 300;
const ROUNDS = 3;

const CASES: readonly (GitCase & { readonly name: string; readonly most: number })[] = [
  { name: "in place", mode: "in-place", per: "run", work: "changes", most: 6 },
  { name: "worktree", mode: "worktree", per: "run", work: "changes", most: 6 },
  { name: "worktree, no change", mode: "worktree", per: "run", work: "nothing", most: 2 },
  { name: "worktree per stage", mode: "worktree", per: "stage", work: "changes", most: 8 },
  { name: "clone", mode: "clone", per: "run", work: "changes", most: 13 },
];

export async function measureAttempts(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, most, ...one } of CASES) {
    const { attempts, opening, closing } = await countGit(one);
    rows.push({
      name: `git processes per attempt, ${name}`,
      value: Math.max(...attempts.map((calls) => calls.length)),
      unit: "",
      limit: { is: "at most", value: most },
      note: `the most of ${attempts.length}; the first opening ${opening.length}, the last attempt and the end ${closing.length}`,
    });
    const gaps: number[] = [];
    for (let round = 0; round < ROUNDS; round++) gaps.push(...(await gapsBetweenAgents({ ...one, files: FILES })));
    rows.push({ name: `agent's end to next start, ${name}`, value: median(gaps), unit: "ms", note: `${FILES} files` });
  }
  return rows;
}
