// Passrail works on branches that it made, or that a person gave it by a word. Names that a file system may take for one are refused.

import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stateFolderProblem } from "../../../src/settings/real-folder.ts";
import { workspacesSchema } from "../../../src/settings/workspaces.ts";
import { collides } from "../../../src/git/branch-name.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { file, project } from "../ticket-files/folder.ts";
import { gitIn, outcomeOf, playLines } from "./world.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());
const git = (...args: string[]) => gitIn(bench.project, ...args);

/** A branch of the person's own, with work on it. */
function ownBranch(name: string): string {
  git("switch", "-q", "-c", name);
  git("commit", "-q", "--allow-empty", "-m", "unfinished");
  git("switch", "-q", "main");
  return git("rev-parse", name);
}

describe("S11: a branch that exists", () => {
  test.each(["worktree", "clone"])("and is a person's own is refused in a %s, with the way out", async (workspace) => {
    const tip = ownBranch("feat/AGI-7");
    const refs = git("for-each-ref");
    const run = await playLines(bench, { lines: { validate: "true" }, workspace });
    const outcome = await outcomeOf(bench, run, "validate");
    expect(outcome).toMatchObject({ cause: "branch_not_ours", reason: expect.stringContaining("branch: adopt") });
    expect(git("rev-parse", "feat/AGI-7")).toBe(tip);
    expect(git("for-each-ref")).toBe(refs);
    expect(git("worktree", "list").split("\n")).toHaveLength(1);
  });

  test("is used where a person said so, and by the next run without a word", async () => {
    ownBranch("feat/AGI-7");
    const line = "echo more > more.txt";
    const adopted = await playLines(bench, { lines: { validate: line }, config: { adopt_branch: true } });
    expect(adopted.status).toBe("completed");
    expect(git("show", "feat/AGI-7:more.txt")).toBe("more");
    expect((await playLines(bench, { lines: { validate: "true" } })).status).toBe("completed");
  });

  test("and that a version without notes worked on is still used", async () => {
    const tip = ownBranch("feat/AGI-7");
    git("update-ref", "refs/passrail/keep/rold", tip);
    expect((await playLines(bench, { lines: { validate: "true" } })).status).toBe("completed");
  });

  test("in another case is refused before any change in git", async () => {
    ownBranch("Feat/agi-7");
    const refs = git("for-each-ref");
    const run = await playLines(bench, { lines: { validate: "true" } });
    expect(await outcomeOf(bench, run, "validate")).toMatchObject({ cause: "branch_name_collides" });
    expect(git("for-each-ref")).toBe(refs);
  });
});

test.each([
  ["feat/Login", "feat/login", true],
  ["feat/caf\u00e9", "feat/cafe\u0301", true],
  ["FEAT", "feat/login", true],
  ["feat/\ufb01x", "feat/fix", true],
  ["feat/login", "feat/login", false],
  ["feat", "feat/login", false],
  ["feat/login", "feat/login-2", false],
])("S11: %j and %j collide: %s", (one, other, expected) => {
  expect(collides(one, other)).toBe(expected);
});

test("S11: tickets whose groups are one name to some file systems do not both start", async () => {
  const { write, open } = project();
  write("FR-1/AGI-1.md", file("AGI-1", { group: "Login" }));
  write("FR-1/AGI-2.md", file("AGI-2", { group: "login" }));
  write("FR-1/AGI-3.md", file("AGI-3", { group: "Login" }));
  write("FR-1/AGI-4.md", file("AGI-4", { group: "agi-1", status: "Done" }));
  const { problems, tickets } = await open().scan();
  expect(problems.map(({ ticket, code }) => [ticket, code])).toEqual([["AGI-2", "group_collides"]]);
  expect(tickets).toHaveLength(4);
});

test("a ticket gives its branch with branch: adopt", async () => {
  const { write, open } = project();
  write("FR-1/AGI-1.md", file("AGI-1", { branch: "adopt" }));
  write("FR-1/AGI-2.md", file("AGI-2", { branch: "feat/AGI-2" }));
  const { tickets } = await open().scan();
  expect(tickets.map(({ adoptsBranch }) => adoptsBranch === true)).toEqual([true, false]);
});

describe("S13: a file of 10 GB that takes no room", () => {
  const line = "truncate -s 10G large.bin && echo small > small.txt";

  test("does not hold up a stage; its workspace closes, and the file is kept beside it", async () => {
    const began = Date.now();
    const run = await playLines(bench, { lines: { validate: line } });
    expect(Date.now() - began).toBeLessThan(60_000);
    expect(await outcomeOf(bench, run, "validate")).toMatchObject({
      cause: "file_too_large",
      reason: expect.stringContaining("large.bin"),
    });
    expect(existsSync(join(bench.home, "workspaces")) ? readdirSync(join(bench.home, "workspaces")) : []).toEqual([]);
    expect(readdirSync(join(bench.home, "worktrees"))).toEqual([]);
    expect(git("show", `refs/passrail/keep/${run.id}:small.txt`)).toBe("small");
    const [key = ""] = readdirSync(join(bench.home, "left"));
    expect(readdirSync(join(bench.home, "left", key))).toEqual([expect.stringMatching(/large\.bin$/u)]);
  });

  test("is named in the diff of work in place", async () => {
    writeFileSync(join(bench.project, "large.bin"), "");
    truncateSync(join(bench.project, "large.bin"), 10 * 1024 ** 3);
    const run = await playLines(bench, { lines: { validate: "true" }, workspace: "in-place" });
    expect(run.status).toBe("completed");
    rmSync(join(bench.project, "large.bin"));
  });
});

test("the limits have an upper bound", () => {
  expect(workspacesSchema.safeParse({ max_file: "100mb", max_work: "16gb" }).success).toBe(true);
  for (const max_file of ["17gb", "0mb", "99999gb", "1e9", "many"])
    expect(workspacesSchema.safeParse({ max_file }).success).toBe(false);
});

test.runIf(process.platform === "linux")("a state folder on a file system of the kernel is refused", () => {
  for (const home of ["/proc/self/passrail", "/sys/passrail/deep"])
    expect(stateFolderProblem(home)).toMatchObject({ code: "home_unusable" });
  expect(stateFolderProblem(bench.home)).toBeUndefined();
});
