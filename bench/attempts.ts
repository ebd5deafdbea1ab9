// What an attempt costs beside its agent: the git processes, and the time from one agent's end to the next agent's start as the agents
// themselves measure it.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { countGit, gapsBetweenAgents, type GitCase } from "../test/harness/git-counts.ts";
import { inFolder, median, percentile, type Row, sample } from "./measure.ts";

/** Agents work for a moment, as short as no real one does: what is got ready beside them has its time. */
const SMALL = { files: 300, rounds: 2, seconds: 0.5 };
const LARGE = { files: 10_000, rounds: 1, seconds: 2 };
const ADDED = 3;

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
  { name: "worktree per stage", mode: "worktree", per: "stage", work: "changes", processes: 4, gapMs: 120 },
  { name: "clone", mode: "clone", per: "run", work: "changes", processes: 13 },
];

export async function measureAttempts(base: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const plain = await plainAddMs(base);
  for (const { name, processes, gapMs, ...one } of CASES) {
    const { attempts, opening, closing } = await countGit(one);
    rows.push({
      name: `git processes per attempt, ${name}`,
      value: Math.max(...attempts.map((calls) => calls.length)),
      unit: "",
      limit: { is: "at most", value: processes },
      note: `the most of ${attempts.length}; the first opening ${opening.length}, the last attempt and the end ${closing.length}`,
    });
    for (const { files, rounds, seconds } of [SMALL, LARGE]) {
      const gaps: number[] = [];
      for (let round = 0; round < rounds; round++) gaps.push(...(await gapsBetweenAgents({ ...one, files, seconds })));
      rows.push({
        name: `agent's end to next start, ${name}`,
        value: percentile(gaps, 0.5),
        unit: "ms",
        ...(gapMs === undefined || files !== SMALL.files ? {} : { limit: { is: "at most", value: gapMs } }),
        note: `p50, ${files} files, agents of ${seconds} s; p95 ${Math.round(percentile(gaps, 0.95))} ms`,
      });
      if (one.mode !== "worktree" || one.per !== "stage" || files !== LARGE.files) continue;
      rows.push({
        name: "agent's end to next start, worktree per stage, against git worktree add",
        value: percentile(gaps, 0.5) / plain,
        unit: "x",
        limit: { is: "at most", value: 1.2 },
        note: `${Math.round(plain)} ms for the plain command, ${files} files; the gap also settles the work before`,
      });
    }
  }
  return rows;
}

/** git's own command in a repository of the same files. */
function plainAddMs(base: string): Promise<number> {
  return inFolder(base, async (dir) => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", dir, "-c", "user.name=b", "-c", "user.email=b@localhost", ...args]);
    for (let file = 0; file < LARGE.files; file++)
      writeFileSync(join(dir, `${file}.txt`), `line of ${file}\n`.repeat(50));
    git("init", "--quiet", "--initial-branch=main");
    git("add", "--all");
    git("commit", "--quiet", "-m", "files");
    const times: number[] = [];
    for (let round = 0; round < ADDED; round++) {
      const add = () => void git("worktree", "add", "--quiet", "-b", `b${round}`, `${dir}-${round}`);
      times.push((await sample(add)).wallMs);
      git("worktree", "remove", "--force", `${dir}-${round}`);
    }
    return median(times);
  });
}
