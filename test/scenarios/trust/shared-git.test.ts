// An agent in a worktree, or in place, shares the person's .git. Whatever it plants there is put back and ends its attempt; what a person does
// meanwhile stays.

import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRepositoryGuard } from "../../../src/workspace/repository-guard.ts";
import { newRepository } from "../../harness/new-repository.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { gitIn, outcomeOf, playLines } from "./world.ts";

let dir: string;
let project: string;
let gitDir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-guard-")));
  project = newRepository(dir);
  gitDir = join(project, ".git");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const git = (...args: string[]) => gitIn(project, ...args);
const put = (path: string, text: string) => {
  mkdirSync(join(gitDir, path, ".."), { recursive: true });
  writeFileSync(join(gitDir, path), text);
};
const read = (path: string) => (existsSync(join(gitDir, path)) ? readFileSync(join(gitDir, path), "utf8") : null);
async function begin(branch: string | null = "passrail/r1", guard = createRepositoryGuard(join(dir, "home"))) {
  const begun = await guard.begin(gitDir, branch);
  if (!begun.ok) throw new Error(begun.error.message);
  return begun.value;
}

/** Name -> the path that is planted, and how. */
const PLANTS: Readonly<Record<string, readonly [string, () => void]>> = {
  "a setting that starts a program": ["config", () => git("config", "core.fsmonitor", "touch /nowhere")],
  "a relative include, which git reads as nothing when it parses a text": [
    "config",
    () => writeFileSync(join(gitDir, "config"), `${read("config") ?? ""}[include]\n\tpath = evil\n`),
  ],
  "settings that cannot be parsed": ["config", () => writeFileSync(join(gitDir, "config"), "[core\nx")],
  "another address of a remote": ["config", () => git("config", "remote.origin.url", "https://example.org/evil.git")],
  "settings of the worktree": ["config.worktree", () => put("config.worktree", "[core]\n\tfsmonitor = evil\n")],
  "a common directory elsewhere": ["commondir", () => put("commondir", "/nowhere\n")],
  "a hook": ["hooks/post-checkout", () => put("hooks/post-checkout", "#!/bin/sh\n")],
  attributes: ["info/attributes", () => put("info/attributes", "* filter=evil\n")],
  "a list of ignored files": ["info/exclude", () => put("info/exclude", "*\n")],
  "alternate objects": ["objects/info/alternates", () => put("objects/info/alternates", "/nowhere\n")],
  "a hook of a submodule": [
    "modules/sub/hooks/post-checkout",
    () => put("modules/sub/hooks/post-checkout", "#!/bin/sh\n"),
  ],
  "settings of a submodule": ["modules/sub/config", () => put("modules/sub/config", "[core]\n\tfsmonitor = evil\n")],
};

describe("S11: the control area of the person's repository", () => {
  test.each(Object.entries(PLANTS))("%s is put back, quarantined and ends the attempt", async (_, [path, plant]) => {
    git("config", "remote.origin.url", "https://example.org/app.git");
    put("modules/sub/HEAD", "ref: refs/heads/main\n");
    put("modules/sub/config", "[core]\n\tbare = true\n");
    const before = read(path);
    const end = await begin();
    plant();
    expect(read(path)).not.toBe(before);
    const { tampered } = await end();
    expect(tampered.join()).toContain(path);
    expect(read(path)).toBe(before);
    expect(readdirSync(join(dir, "home", "quarantine"))).toHaveLength(1);
    expect(existsSync(join(dir, "home", "guards")) ? readdirSync(join(dir, "home", "guards")) : []).toEqual([]);
  });

  test("what a person does meanwhile stays: commits, branches, remotes, worktrees, fetches", async () => {
    git("branch", "topic");
    const end = await begin();
    git("commit", "-q", "--allow-empty", "-m", "mine");
    git("branch", "mine");
    git("remote", "add", "upstream", "https://example.org/up.git");
    git("config", "branch.mine.remote", "upstream");
    git("config", "branch.mine.merge", "refs/heads/main");
    git("worktree", "add", "-q", join(dir, "beside"), "mine");
    git("update-ref", "refs/remotes/upstream/main", "HEAD");
    const head = git("rev-parse", "main");
    const { tampered, warnings } = await end();
    expect(tampered).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("refs/heads/main moved to")]);
    expect(git("rev-parse", "main")).toBe(head);
    expect(git("config", "branch.mine.remote")).toBe("upstream");
    expect(existsSync(join(dir, "beside", ".git"))).toBe(true);
  });

  test("with two agents at once the second does not make the first one's plant its baseline, and both have tampered", async () => {
    const guard = createRepositoryGuard(join(dir, "home"));
    const one = await begin("passrail/r1", guard);
    put("hooks/post-checkout", "#!/bin/sh\n");
    const two = await begin("passrail/r2", guard);
    expect(read("hooks/post-checkout")).toBeNull();
    put("hooks/pre-commit", "#!/bin/sh\n");
    expect((await one()).tampered).toHaveLength(2);
    expect(read("hooks/pre-commit")).toBeNull();
    expect((await two()).tampered).toHaveLength(1);
  });

  test("after a crash the plant of the dead attempt is put back, and the next attempt is told but not blamed", async () => {
    await begin();
    put("hooks/post-checkout", "#!/bin/sh\n");
    // Another process: it knows only the state folder.
    const end = await begin("passrail/r1", createRepositoryGuard(join(dir, "home")));
    expect(read("hooks/post-checkout")).toBeNull();
    const { tampered, warnings } = await end();
    expect(tampered).toEqual([]);
    expect(warnings.join()).toContain("repository_restored: hooks/post-checkout");
  });

  test("what cannot be read is a violation", async () => {
    const end = await begin();
    rmSync(join(gitDir, "refs"), { recursive: true });
    expect((await end()).tampered).toHaveLength(1);
  });
});

describe("S11: refs that are not the attempt's own", () => {
  test("a branch that is moved to the attempt's work is put back", async () => {
    const main = git("rev-parse", "main");
    git("branch", "passrail/r1");
    const end = await begin();
    git("worktree", "add", "-q", join(dir, "work"), "passrail/r1");
    gitIn(join(dir, "work"), "commit", "-q", "--allow-empty", "-m", "unapproved");
    gitIn(join(dir, "work"), "update-ref", "refs/heads/main", "passrail/r1");
    const { tampered } = await end();
    expect(tampered.join()).toContain("refs/heads/main was moved to unapproved work");
    expect(git("rev-parse", "main")).toBe(main);
    expect(git("log", "-1", "--format=%s", "passrail/r1")).toBe("unapproved");
  });

  test("a person who merges the running work, or commits what the agent merges, is not undone", async () => {
    git("branch", "passrail/r1");
    git("branch", "topic");
    const end = await begin();
    git("worktree", "add", "-q", join(dir, "work"), "passrail/r1");
    const work = (...args: string[]) => gitIn(join(dir, "work"), ...args);
    git("commit", "-q", "--allow-empty", "-m", "mine");
    work("merge", "-q", "main");
    work("commit", "-q", "--allow-empty", "-m", "work");
    git("merge", "-q", "passrail/r1");
    const main = git("rev-parse", "main");
    const { tampered, warnings } = await end();
    expect(tampered).toEqual([]);
    expect(warnings).toHaveLength(1);
    expect(git("rev-parse", "main")).toBe(main);
  });

  test("a branch that is gone or rewound is reported, and what it named stays reachable", async () => {
    git("commit", "-q", "--allow-empty", "-m", "second");
    const [tip, first] = [git("rev-parse", "main"), git("rev-parse", "main~1")];
    git("branch", "topic");
    git("update-ref", "refs/passrail/keep/r0", tip);
    const end = await begin();
    git("branch", "-D", "topic");
    git("update-ref", "refs/heads/main", first);
    git("update-ref", "-d", "refs/passrail/keep/r0");
    const { tampered, warnings } = await end();
    expect(tampered).toEqual([]);
    expect(warnings).toHaveLength(3);
    expect(git("rev-parse", "refs/passrail/keep/r0")).toBe(tip);
    expect(git("for-each-ref", "--format=%(objectname)", "refs/passrail/moved/heads/main")).toBe(tip);
  });
});

describe("through the engine", () => {
  let bench: Workbench;
  afterEach(() => bench.close());

  test.each(["worktree", "in-place"])(
    "S11: in a %s a hook ends the attempt as worktree_tampered",
    async (workspace) => {
      bench = await openWorkbench();
      const hooks = join(bench.project, ".git", "hooks");
      const line = `mkdir -p ${hooks} && echo evil > ${hooks}/post-checkout`;
      const run = await playLines(bench, { lines: { validate: line }, workspace });
      expect(run.status).not.toBe("completed");
      expect(await outcomeOf(bench, run, "validate")).toMatchObject({ cause: "worktree_tampered" });
      expect(existsSync(join(hooks, "post-checkout"))).toBe(false);
      expect(bench.errors).toEqual([]);
    },
  );
});

test("S11: worktrees that come and go while the guard looks are neither put back nor blamed on an attempt", async () => {
  git("commit", "--allow-empty", "-m", "first");
  const script = `for round in 1 2 3 4 5 6 7 8; do
  for n in 1 2 3; do git -C "$0" worktree add -q --detach "$1/$n" || exit 1; done
  for n in 1 2 3; do git -C "$1/$n" status > /dev/null || exit 2; git -C "$0" worktree remove "$1/$n" || exit 3; done
done`;
  const others = promisify(execFile)("/bin/sh", ["-c", script, project, join(dir, "trees")]);
  let isOver = false;
  const watched = others.finally(() => (isOver = true));
  const guard = createRepositoryGuard(join(dir, "home"));
  const tampered: string[] = [];
  while (!isOver) tampered.push(...(await (await begin("passrail/r1", guard))()).tampered);
  await watched;
  expect(tampered).toEqual([]);
});

test("S11: a file that stays empty in a worktree's registration is read as it is", async () => {
  git("commit", "--allow-empty", "-m", "first");
  git("worktree", "add", "-q", "--detach", join(dir, "tree"));
  const end = await begin();
  writeFileSync(join(gitDir, "worktrees/tree/commondir"), "");
  expect((await end()).tampered.join()).toContain("worktrees/tree/commondir");
  expect(read("worktrees/tree/commondir")).toBe("../..\n");
});

test("S11: a worktree that is made again under its name, by another umask or after a kill, is neither put back nor blamed", async () => {
  const [top, registered] = [join(dir, "other"), "worktrees/other"];
  git("worktree", "add", "-q", top, "-b", "other");
  const end = await begin();
  git("worktree", "remove", top);
  git("worktree", "add", "-q", top, "other");
  for (const file of ["gitdir", "commondir"]) chmodSync(join(gitDir, registered, file), 0o600);
  expect((await end()).tampered).toEqual([]);

  const [gitdir, commondir] = [read(`${registered}/gitdir`) ?? "", read(`${registered}/commondir`) ?? ""];
  put(`${registered}/gitdir`, "");
  put(`${registered}/commondir`, "");
  const endOfNext = await begin();
  put(`${registered}/gitdir`, gitdir);
  put(`${registered}/commondir`, commondir);
  expect((await endOfNext()).tampered).toEqual([]);
  expect(read(`${registered}/gitdir`)).toBe(gitdir);
});

test("S11: a registered worktree that leads elsewhere is put back", async () => {
  git("worktree", "add", "-q", join(dir, "other"), "-b", "other");
  const before = read("worktrees/other/gitdir");
  const end = await begin();
  put("worktrees/other/gitdir", "/nowhere/.git\n");
  put("worktrees/other/commondir", "/nowhere\n");
  expect((await end()).tampered.join()).toMatch(/worktrees\/other\/commondir, worktrees\/other\/gitdir/u);
  expect([read("worktrees/other/gitdir"), read("worktrees/other/commondir")]).toEqual([before, "../..\n"]);
});
