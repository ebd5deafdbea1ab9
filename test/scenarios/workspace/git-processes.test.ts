// The price of an attempt in git processes, those that git starts itself included. Each takes milliseconds and all run one after the other,
// between one agent's end and the next one's start. The bounds are counts: they do not depend on the machine.

import { describe, expect, test } from "vitest";
import { countGit, type GitCase } from "../../harness/git-counts.ts";

type Bound = GitCase & { readonly most: number };

/** For any attempt of a run, the first one and one that must show work of its own included. */
const BOUNDS: readonly Bound[] = [
  { mode: "worktree", per: "run", work: "changes", most: 10 },
  { mode: "worktree", per: "run", work: "commits", most: 9 },
  { mode: "worktree", per: "run", work: "nothing", most: 6 },
  { mode: "worktree", per: "stage", work: "changes", most: 17 },
  { mode: "clone", per: "run", work: "changes", most: 18 },
  { mode: "clone", per: "run", work: "nothing", most: 8 },
  { mode: "clone", per: "stage", work: "changes", most: 26 },
  { mode: "in-place", per: "run", work: "changes", most: 7 },
  { mode: "in-place", per: "run", work: "nothing", most: 4 },
];

describe("git processes of an attempt", () => {
  test.for(BOUNDS)("$mode per $per, the agent leaves $work: at most $most", async ({ most, ...one }) => {
    const { attempts } = await countGit(one);
    expect(attempts.length).toBeGreaterThan(2);
    expect(attempts.filter((calls) => calls.length > most)).toEqual([]);
    // Where the repository is, its HEAD and its refs are plain files.
    expect(attempts.flat().filter((call) => / (?:rev-parse|for-each-ref|symbolic-ref --quiet) /u.test(call))).toEqual(
      [],
    );
  });
});
