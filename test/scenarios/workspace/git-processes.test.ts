// The price of an attempt in git processes, those that git starts itself included. Each takes milliseconds, between one agent's end and the
// next one's start. The numbers are counts: they do not depend on the machine. Whoever lowers one lowers it here too.

import { describe, expect, test } from "vitest";
import { countGit, type GitCase } from "../../harness/git-counts.ts";

type Price = GitCase & {
  /** Before the first agent. */
  readonly opening: number;
  /**
   * From each agent's start to the next one's. The third stage must show work of its own, so its start is looked at too, and it has
   * checks, after which its workspace is looked at once more where each stage has its own. One more process fills
   * a new worktree, unless its files were got ready beside an agent that took its time.
   */
  readonly attempts: readonly number[];
  /** The last attempt and the end of the run. */
  readonly closing: number;
};

const PRICES: readonly Price[] = [
  { mode: "in-place", per: "run", work: "changes", opening: 0, attempts: [2, 2, 4, 2], closing: 2 },
  { mode: "in-place", per: "run", work: "nothing", opening: 0, attempts: [1, 1, 1], closing: 1 },
  { mode: "worktree", per: "run", work: "changes", opening: 1, attempts: [2, 2, 3, 2], closing: 3 },
  { mode: "worktree", per: "run", work: "commits", opening: 1, attempts: [2, 2, 3, 2], closing: 3 },
  { mode: "worktree", per: "run", work: "nothing", opening: 1, attempts: [1, 1, 1], closing: 2 },
  { mode: "worktree", per: "stage", work: "changes", opening: 1, attempts: [2, 2, 3, 3], closing: 2 },
];

/** What git needs the files for. Everything else is plain: where the repository is, its settings, refs, commits and worktrees. */
const FILES = / (?:ls-files|add|diff|write-tree|reset) /u;

const isFilling = (call: string): boolean => call.includes(" reset --hard ");

describe("git processes", () => {
  test.for(PRICES)("$mode per $per, the agent leaves $work", async ({ opening, attempts, closing, ...one }) => {
    const counted = await countGit(one);
    expect({
      opening: counted.opening.length,
      attempts: counted.attempts.map((calls) => calls.filter((call) => !isFilling(call)).length),
      closing: counted.closing.length,
    }).toEqual({ opening, attempts, closing });
    const filled = counted.attempts.map((calls) => calls.filter(isFilling).length);
    expect(Math.max(...filled)).toBeLessThanOrEqual(one.per === "stage" ? 1 : 0);
    expect(counted.attempts.flat().filter((call) => !FILES.test(`${call} `))).toEqual([]);
  });
});

/** git starts others for a clone, in numbers that depend on its version. */
const CLONES: readonly (GitCase & { readonly most: number })[] = [
  { mode: "clone", per: "run", work: "changes", most: 13 },
  { mode: "clone", per: "run", work: "nothing", most: 3 },
  { mode: "clone", per: "stage", work: "changes", most: 20 },
];

describe("git processes of an attempt in a clone", () => {
  test.for(CLONES)("per $per, the agent leaves $work: at most $most", async ({ most, ...one }) => {
    const { attempts } = await countGit(one);
    expect(attempts.length).toBeGreaterThan(2);
    expect(attempts.filter((calls) => calls.length > most)).toEqual([]);
  });
});
