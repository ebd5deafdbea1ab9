// What an attempt costs beside its agent: the git processes, and the time from one agent's end to the next agent's start as the agents
// themselves measure it.

import { countGit, gapsBetweenAgents, type GitCase } from "../test/harness/git-counts.ts";
import { percentile, type Row } from "./measure.ts";

const SMALL = { files: 300, rounds: 3 };
const LARGE = { files: 10_000, rounds: 1 };

type Case = GitCase & {
  readonly name: string;
  /** Git processes from one agent's start to the next one's. */
  readonly processes: number;
  /** Milliseconds between two agents in the small repository. */
  readonly gapMs?: number;
};

const CASES: readonly Case[] = [
  { name: "in place", mode: "in-place", per: "run", work: "changes", processes: 4, gapMs: 50 },
  { name: "worktree per run", mode: "worktree", per: "run", work: "changes", processes: 3, gapMs: 50 },
  { name: "worktree per run, no change", mode: "worktree", per: "run", work: "nothing", processes: 1, gapMs: 50 },
  { name: "worktree per stage", mode: "worktree", per: "stage", work: "changes", processes: 5, gapMs: 120 },
  { name: "clone", mode: "clone", per: "run", work: "changes", processes: 13 },
];

export async function measureAttempts(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, processes, gapMs, ...one } of CASES) {
    const { attempts, opening, closing } = await countGit(one);
    rows.push({
      name: `git processes per attempt, ${name}`,
      value: Math.max(...attempts.map((calls) => calls.length)),
      unit: "",
      limit: { is: "at most", value: processes },
      note: `the most of ${attempts.length}; the first opening ${opening.length}, the last attempt and the end ${closing.length}`,
    });
    for (const { files, rounds } of [SMALL, LARGE]) {
      const gaps: number[] = [];
      for (let round = 0; round < rounds; round++) gaps.push(...(await gapsBetweenAgents({ ...one, files })));
      rows.push({
        name: `agent's end to next start, ${name}`,
        value: percentile(gaps, 0.5),
        unit: "ms",
        ...(gapMs === undefined || files !== SMALL.files ? {} : { limit: { is: "at most", value: gapMs } }),
        note: `p50, ${files} files; p95 ${Math.round(percentile(gaps, 0.95))} ms`,
      });
    }
  }
  return rows;
}
