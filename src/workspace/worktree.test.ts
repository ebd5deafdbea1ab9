import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { addWorktree } from "./add-worktree.ts";
import { aim } from "./target.ts";
import type { InTurn } from "./turns.ts";
import { type Bench, makeRepository, tempDir, userGit, valueOf, workspacesSuite } from "./workspace.testsuite.ts";
import type { Workspace } from "./workspace.ts";
import { createWorktreeWorkspaces } from "./worktree.ts";

async function bench(): Promise<Bench & { readonly root: string }> {
  const dir = await tempDir();
  const root = join(dir, "state", "worktrees");
  const project = await makeRepository(join(dir, "project"));
  return { dir, root, project, workspaces: createWorktreeWorkspaces({ root }) };
}

workspacesSuite("worktree", bench);

const open = (given: Bench, runId = "r1", branch = "feat/a") =>
  given.workspaces.open({ runId, project: given.project, branch });
const contains = (text: string): unknown => expect.stringContaining(text);
const keep = (given: Bench, runId = "r1") => userGit(given.project, "rev-parse", `refs/passrail/keep/${runId}`);
const show = (given: Bench, what: string) => userGit(given.project, "show", what);
const worktrees = (given: Bench) =>
  userGit(given.project, "worktree", "list", "--porcelain").match(/^worktree /gmu)?.length;

describe("opening a worktree", () => {
  test("makes the branch from the project's HEAD, in a folder that is ours alone", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    expect(workspace).toEqual({
      mode: "worktree",
      key: "r1",
      dir: join(given.root, "r1"),
      branch: "feat/a",
      repository: join(given.project, ".git"),
      lockKeys: [`branch:${join(given.project, ".git")}:feat/a`, `dir:${join(given.root, "r1")}`],
    });
    expect(userGit(workspace.dir, "status", "--porcelain", "--branch")).toBe("## feat/a");
    expect((await lstat(given.root)).mode & 0o777).toBe(0o700);
    expect(existsSync(join(given.project, ".git", "worktrees", "r1", "locked"))).toBe(false);
  });

  test("a base names where a new branch starts, an existing branch is taken as it is", async () => {
    const given = await bench();
    const first = userGit(given.project, "rev-parse", "HEAD");
    await writeFile(join(given.project, "a.txt"), "two\n");
    userGit(given.project, "commit", "--quiet", "-am", "second");
    userGit(given.project, "branch", "feat/there");
    const request = { project: given.project, base: first };
    const fresh = valueOf(await given.workspaces.open({ ...request, runId: "r1", branch: "feat/new" }));
    expect(await given.workspaces.head(fresh)).toBe(first);
    const there = valueOf(await given.workspaces.open({ ...request, runId: "r2", branch: "feat/there" }));
    expect(await readFile(join(there.dir, "a.txt"), "utf8")).toBe("two\n");
    const unnamed = valueOf(await given.workspaces.open({ ...request, runId: "r3" }));
    expect(unnamed.branch).toBe("passrail/r3");
  });

  test("R-004-40: a second run on the same branch is told where the branch is in use", async () => {
    const given = await bench();
    const first = valueOf(await open(given));
    const inUse = { code: "branch_in_use", message: contains(first.dir), hint: contains("git -C") };
    expect(await open(given, "r2")).toMatchObject({ ok: false, error: inUse });
    expect(await open(given, "r3", "main")).toMatchObject({ ok: false, error: { code: "branch_in_use" } });
    valueOf(await given.workspaces.close(first, "r1"));
    valueOf(await open(given, "r2"));
  });

  test("R-004-40: of four runs that open the same new branch at once, exactly one gets it", async () => {
    const given = await bench();
    const all = await Promise.all(["r1", "r2", "r3", "r4"].map((runId) => open(given, runId)));
    expect(all.filter((one) => one.ok)).toHaveLength(1);
    expect(all.filter((one) => !one.ok && one.error.code === "branch_in_use")).toHaveLength(3);
  });

  test("a branch in the middle of a rebase elsewhere counts as in use", async () => {
    const given = await bench();
    const first = valueOf(await open(given));
    await writeFile(join(first.dir, "a.txt"), "mine\n");
    userGit(first.dir, "commit", "--quiet", "-am", "mine");
    await writeFile(join(given.project, "a.txt"), "theirs\n");
    userGit(given.project, "commit", "--quiet", "-am", "theirs");
    expect(() => userGit(first.dir, "rebase", "main")).toThrow("Command failed");
    expect(await open(given, "r2")).toMatchObject({ ok: false, error: { code: "branch_in_use" } });
    expect(valueOf(await open(given)).dir).toBe(first.dir);
  });

  test("every request that cannot work says why, with the command that helps", async () => {
    const given = await bench();
    const refused = async (change: object, code: string, hint: string) => {
      const result = await given.workspaces.open({ runId: "r1", project: given.project, branch: "feat/a", ...change });
      expect(result).toMatchObject({ ok: false, error: { code, hint: contains(hint) } });
    };
    const plain = join(given.dir, "plain");
    await mkdir(plain);
    await refused({ project: plain }, "not_a_git_repository", "init");
    const bare = join(given.dir, "bare.git");
    userGit(given.dir, "init", "--quiet", "--bare", bare);
    await refused({ project: bare }, "bare_repository", "git clone");
    await refused({ project: join(given.project, ".git") }, "bare_repository", "git clone");
    const unborn = join(given.dir, "unborn");
    userGit(given.dir, "init", "--quiet", unborn);
    await refused({ project: unborn }, "unborn_head", "commit");
    await refused({ branch: "feat/$(id)" }, "invalid_branch", "letters");
    await refused({ branch: "--upload-pack=x" }, "invalid_branch", "letters");
    await refused({ base: "no-such" }, "base_not_found", "git -C");
    await refused({ base: "--all" }, "invalid_base", "branch");
    await refused({ runId: "../r1" }, "invalid_run_id", "letters");
    await refused({ runId: "R1" }, "invalid_run_id", "letters");
    userGit(given.project, "branch", "taken");
    await refused({ branch: "taken/deeper" }, "branch_name_taken", "branch -m");
    expect(existsSync(join(given.root, "r1"))).toBe(false);
    await mkdir(join(given.project, "uncommitted"));
    await refused({ project: join(given.project, "uncommitted") }, "project_not_committed", "git add");
  });

  test("files named like a repository do not become one", async () => {
    const given = await bench();
    const project = join(given.project, "packages", "app");
    await mkdir(join(project, "objects"));
    await mkdir(join(project, "refs"));
    await writeFile(join(project, "HEAD"), "ref: refs/heads/main\n");
    await writeFile(join(project, "config"), "[core]\n bare = true\n");
    const result = await given.workspaces.open({ runId: "r1", project, branch: "feat/a" });
    expect(result).toMatchObject({ ok: false, error: { code: "bare_repository" } });
  });
});

describe("opening again after a crash", () => {
  const admin = (given: Bench, ...path: string[]) => join(given.project, ".git", "worktrees", "r1", ...path);
  const breakages: Record<string, (given: Bench, workspace: Workspace) => Promise<void>> = {
    "the folder is gone but registered": async (_, { dir }) => rm(dir, { recursive: true }),
    "the folder is gone, registered and locked": async (given, { dir }) => {
      await rm(dir, { recursive: true });
      await writeFile(admin(given, "locked"), "left behind\n");
    },
    "git died while it set the worktree up": async (given, { dir }) => {
      await rm(join(dir, "a.txt"));
      await rm(admin(given, "index"));
      await writeFile(admin(given, "locked"), "initializing");
    },
    "git died before it wrote the HEAD of the worktree": async (given, { dir }) => {
      await rm(dir, { recursive: true });
      await rm(admin(given, "HEAD"));
      await rm(admin(given, "commondir"));
      await rm(admin(given, "index"));
      await writeFile(admin(given, "locked"), "initializing");
    },
    "we died between registering and checking out": async (given, { dir }) => {
      await rm(join(dir, "packages"), { recursive: true });
      await writeFile(admin(given, "locked"), "passrail: opening\n");
    },
    "the folder is there but not registered": async (given) => rm(admin(given), { recursive: true }),
    "an empty folder stands there": async (given, { dir }) => {
      await rm(admin(given), { recursive: true });
      await rm(dir, { recursive: true });
      await mkdir(dir);
    },
    "only the branch exists": async (given, { dir }) => {
      await rm(admin(given), { recursive: true });
      await rm(dir, { recursive: true });
    },
    "a registration without content": async (given, { dir }) => {
      await rm(admin(given), { recursive: true });
      await rm(dir, { recursive: true });
      await mkdir(admin(given));
    },
    "the .git file is gone": async (_, { dir }) => rm(join(dir, ".git")),
    "the .git file leads elsewhere": async (given, { dir }) => {
      await writeFile(join(dir, ".git"), `gitdir: ${join(given.dir, "elsewhere")}\n`);
    },
    "a lock was left on a worktree in use": async (given) => writeFile(admin(given, "locked"), "in use\n"),
  };

  test("R13: the lock of a branch that a killed process was about to make is removed, though there is no workspace yet", async () => {
    const given = await bench();
    const request = { runId: "r1", project: given.project, branch: "feat/a" };
    const lock = join(given.project, ".git", "refs", "heads", "feat", "a.lock");
    await mkdir(dirname(lock), { recursive: true });
    await writeFile(lock, "");
    expect(await given.workspaces.open(request)).toMatchObject({ ok: false, error: { code: "branch_busy" } });
    await given.workspaces.unlockBranch?.(request);
    expect(existsSync(valueOf(await given.workspaces.open(request)).dir)).toBe(true);
  });

  test("R13: the folder is there before anything is registered, so what is cut off in between can be found; a refusal leaves none", async () => {
    const given = await bench();
    const target = valueOf(await aim(given.root, { runId: "r1", project: given.project, branch: "feat/a" }));
    const isThere: boolean[] = [];
    const inTurn: InTurn = (_, task) => {
      isThere.push(existsSync(target.top));
      return task();
    };
    expect(await addWorktree({ ...target, base: "no-such-commit" }, inTurn)).toMatchObject({ ok: false });
    expect(existsSync(target.top)).toBe(false);
    expect(await addWorktree(target, inTurn)).toMatchObject({ ok: true });
    expect(isThere).toEqual([true, true]);
  });

  for (const [name, breakIt] of Object.entries(breakages)) {
    test(`R13: ${name}`, async () => {
      const given = await bench();
      const first = valueOf(await open(given));
      await breakIt(given, first);
      expect(valueOf(await open(given))).toEqual(first);
      expect(userGit(first.dir, "status", "--porcelain", "--branch")).toBe("## feat/a");
      expect(await readFile(join(first.dir, "packages", "app", "b.txt"), "utf8")).toBe("bee\n");
      expect((await readdir(given.root)).filter((entry) => entry !== "r1")).toEqual([]);
      expect(worktrees(given)).toBe(2);
    });
  }

  test("work in a worktree that was handed out before is still there", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    await writeFile(join(workspace.dir, "a.txt"), "dirty\n");
    valueOf(await open(given));
    expect(await readFile(join(workspace.dir, "a.txt"), "utf8")).toBe("dirty\n");
  });

  test("files of a folder that lost its registration are pinned before it is made anew", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    await writeFile(join(workspace.dir, "precious.txt"), "work\n");
    await rm(admin(given), { recursive: true });
    valueOf(await open(given));
    expect(show(given, "refs/passrail/keep/r1:precious.txt")).toBe("work");
  });

  test("commits on a detached HEAD are pinned when only the folder is lost", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    userGit(workspace.dir, "switch", "--quiet", "--detach");
    await writeFile(join(workspace.dir, "a.txt"), "detached\n");
    userGit(workspace.dir, "commit", "--quiet", "-am", "detached");
    await rm(workspace.dir, { recursive: true });
    valueOf(await open(given));
    expect(show(given, "refs/passrail/keep/r1:a.txt")).toBe("detached");
  });

  test("a workspace on another branch is refused, not switched", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    userGit(workspace.dir, "switch", "--quiet", "--create", "other");
    const again = await open(given);
    expect(again).toMatchObject({
      ok: false,
      error: { code: "workspace_on_other_branch", hint: contains("switch feat/a") },
    });
  });

  test("a folder that belongs to another repository, or is one, is left alone", async () => {
    const given = await bench();
    const other = await makeRepository(join(given.dir, "other"));
    valueOf(await given.workspaces.open({ runId: "r1", project: other, branch: "feat/a" }));
    expect(await open(given)).toMatchObject({ ok: false, error: { code: "workspace_in_the_way" } });
    await makeRepository(join(given.root, "r2"));
    expect(await open(given, "r2")).toMatchObject({ ok: false, error: { code: "workspace_in_the_way" } });
    expect(await readFile(join(given.root, "r1", "a.txt"), "utf8")).toBe("one\n");
    expect(await readFile(join(given.root, "r2", "a.txt"), "utf8")).toBe("one\n");
  });
});

describe("closing a worktree", () => {
  test("whose work was just committed pins its branch; what another branch or commit has is looked at all the same", async () => {
    const given = await bench();
    const closed = { later: true, isCommitted: true };
    const first = valueOf(await open(given));
    await writeFile(join(first.dir, "more.txt"), "more\n");
    userGit(first.dir, "add", "--all");
    userGit(first.dir, "commit", "--quiet", "-m", "work");
    const tip = userGit(first.dir, "rev-parse", "HEAD");
    expect(valueOf(await given.workspaces.close(first, "r1", closed))).toEqual({
      pinned: "refs/passrail/keep/r1",
      leftover: null,
    });
    expect(keep(given)).toBe(tip);
    expect(existsSync(first.dir)).toBe(false);
    const second = valueOf(await open(given, "r2", "feat/b"));
    userGit(second.dir, "checkout", "--quiet", "--detach");
    await writeFile(join(second.dir, "a.txt"), "elsewhere\n");
    userGit(second.dir, "commit", "--quiet", "-am", "elsewhere");
    await writeFile(join(second.dir, "left.txt"), "left\n");
    valueOf(await given.workspaces.close(second, "r2", closed));
    expect(show(given, "refs/passrail/keep/r2:left.txt")).toBe("left");
  });

  test("a clean branch is pinned at its head, the folder goes, the branch stays; once more changes nothing", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    await writeFile(join(workspace.dir, "a.txt"), "two\n");
    userGit(workspace.dir, "commit", "--quiet", "-am", "second");
    const head = await given.workspaces.head(workspace);
    const closed = { ok: true, value: { pinned: "refs/passrail/keep/r1", leftover: null } };
    expect(await given.workspaces.close(workspace, "r1")).toEqual(closed);
    expect(await given.workspaces.close(workspace, "r1")).toEqual(closed);
    expect(keep(given)).toBe(head);
    expect(userGit(given.project, "rev-parse", "feat/a")).toBe(head);
    expect(await readdir(given.root)).toEqual([]);
    expect(worktrees(given)).toBe(1);
    expect(await given.workspaces.head(workspace)).toBeNull();
    expect(await given.workspaces.diff(workspace, head)).toContain("could not be made");
  });

  test("uncommitted, staged, untracked and deleted files are found again under the pin, the branch does not move", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    const head = await given.workspaces.head(workspace);
    await writeFile(join(workspace.dir, "a.txt"), "dirty\n");
    await writeFile(join(workspace.dir, "staged.txt"), "s\n");
    userGit(workspace.dir, "add", "staged.txt");
    await writeFile(join(workspace.dir, "forced.log"), "f\n");
    userGit(workspace.dir, "add", "--force", "forced.log");
    await mkdir(join(workspace.dir, "deep", "er"), { recursive: true });
    await writeFile(join(workspace.dir, "deep", "er", "ünträcked.txt"), "u\n");
    await writeFile(join(workspace.dir, "ignored.log"), "i\n");
    await rm(join(workspace.dir, "packages"), { recursive: true });
    valueOf(await given.workspaces.close(workspace, "r1"));
    expect(existsSync(workspace.dir)).toBe(false);
    const names = userGit(given.project, "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", keep(given));
    expect(names.split("\n").sort()).toEqual([
      ".gitignore",
      "a.txt",
      "deep/er/ünträcked.txt",
      "forced.log",
      "staged.txt",
    ]);
    expect(show(given, "refs/passrail/keep/r1:a.txt")).toBe("dirty");
    expect(userGit(given.project, "rev-parse", "refs/passrail/keep/r1^", "feat/a")).toBe(`${head}\n${head}`);
    expect(userGit(given.project, "log", "-1", "--format=%an <%ae>", keep(given))).toBe("Ada <ada@example.org>");
    expect(userGit(given.project, "status", "--porcelain")).toBe("");
  });

  test("a repository without an identity gets a pin too", async () => {
    const given = await bench();
    userGit(given.project, "config", "--unset", "user.name");
    userGit(given.project, "config", "--unset", "user.email");
    const workspace = valueOf(await open(given));
    await writeFile(join(workspace.dir, "new.txt"), "n\n");
    valueOf(await given.workspaces.close(workspace, "r1"));
    expect(userGit(given.project, "log", "-1", "--format=%an <%ae>", keep(given))).toBe(
      "Passrail <passrail@localhost>",
    );
  });

  test("a later close never drops an earlier pin", async () => {
    const given = await bench();
    const first = valueOf(await open(given));
    await writeFile(join(first.dir, "first.txt"), "1\n");
    valueOf(await given.workspaces.close(first, "r1"));
    const second = valueOf(await open(given));
    valueOf(await given.workspaces.close(second, "r1"));
    expect(show(given, "refs/passrail/keep/r1:first.txt")).toBe("1");
    const third = valueOf(await open(given));
    await writeFile(join(third.dir, "third.txt"), "3\n");
    valueOf(await given.workspaces.close(third, "r1"));
    expect(show(given, "refs/passrail/keep/r1:third.txt")).toBe("3");
    expect(show(given, "refs/passrail/keep/r1.1:first.txt")).toBe("1");
  });

  test("a close that was interrupted after the pin, or after the folder was moved, is completed", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    await writeFile(join(workspace.dir, "new.txt"), "n\n");
    // Interrupted after the pin, by a folder that cannot be moved aside; the pin exists by then.
    await chmod(given.root, 0o777);
    expect(await given.workspaces.close(workspace, "r1")).toMatchObject({
      ok: false,
      error: { code: "workspace_root_unsafe" },
    });
    await chmod(given.root, 0o700);
    userGit(given.project, "worktree", "lock", workspace.dir);
    expect(await given.workspaces.close(workspace, "r1")).toMatchObject({
      ok: false,
      error: { code: "workspace_locked" },
    });
    userGit(given.project, "worktree", "unlock", workspace.dir);
    userGit(workspace.dir, "add", "--all");
    const tree = userGit(workspace.dir, "write-tree");
    const pin = userGit(workspace.dir, "commit-tree", tree, "-p", "HEAD", "-m", "pinned by a close that died");
    userGit(given.project, "update-ref", "refs/passrail/keep/r1", pin);
    await mkdir(join(given.root, ".gone.r1.abcdef"));
    await mkdir(join(given.root, ".gone.r1-other.abcdef"));
    valueOf(await given.workspaces.close(workspace, "r1"));
    expect(keep(given)).toBe(pin);
    expect(userGit(given.project, "for-each-ref", "refs/passrail").split("\n")).toHaveLength(1);
    // Interrupted after the move: registered, folder aside.
    const again = valueOf(await open(given));
    await mkdir(join(given.root, ".gone.r1.ghijkl"));
    await rename(again.dir, join(given.root, ".gone.r1.ghijkl", "work"));
    valueOf(await given.workspaces.close(again, "r1"));
    expect(await readdir(given.root)).toEqual([".gone.r1-other.abcdef"]);
    expect(worktrees(given)).toBe(1);
    expect(keep(given)).toBe(pin);
    // Closed for a stage that waits: the files stay aside until somebody sweeps. A folder that nothing was moved into yet is another's.
    const last = valueOf(await open(given));
    valueOf(await given.workspaces.close(last, "r1", { later: true }));
    expect(worktrees(given)).toBe(1);
    const aside = (await readdir(given.root)).filter((name) => name.startsWith(".gone.r1."));
    expect(aside).toHaveLength(1);
    // Moved in one step: a process that dies before leaves the workspace, one that dies afterwards a folder that anybody may remove.
    expect(await readdir(join(given.root, aside[0] ?? ""))).toContain(".git");
    await mkdir(join(given.root, ".gone.r2.abcdef", "work"), { recursive: true });
    expect(await given.workspaces.sweep?.("r1")).toEqual({ ok: true, value: null });
    expect(await readdir(given.root)).toEqual([".gone.r1-other.abcdef", ".gone.r2.abcdef"]);
    expect(await given.workspaces.sweep?.()).toEqual({ ok: true, value: null });
    expect(await readdir(given.root)).toEqual([".gone.r1-other.abcdef"]);
  });

  test("a half-finished rebase loses neither the branch nor what lies in the files", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    await writeFile(join(workspace.dir, "a.txt"), "mine\n");
    userGit(workspace.dir, "commit", "--quiet", "-am", "mine");
    await writeFile(join(given.project, "a.txt"), "theirs\n");
    userGit(given.project, "commit", "--quiet", "-am", "theirs");
    expect(() => userGit(workspace.dir, "rebase", "main")).toThrow("Command failed");
    valueOf(await given.workspaces.close(workspace, "r1"));
    expect(show(given, "refs/passrail/keep/r1:a.txt")).toContain("<<<<<<<");
    expect(show(given, "refs/passrail/keep/r1.1:a.txt")).toBe("mine");
    expect(show(given, "feat/a:a.txt")).toBe("mine");
  });

  test("when the pin cannot be made nothing is removed", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    await writeFile(join(workspace.dir, "new.txt"), "n\n");
    userGit(given.project, "update-ref", "refs/passrail/keep/r1/blocking", "HEAD");
    expect(await given.workspaces.close(workspace, "r1")).toMatchObject({ ok: false, error: { code: "git_failed" } });
    expect(await readFile(join(workspace.dir, "new.txt"), "utf8")).toBe("n\n");
    expect(worktrees(given)).toBe(2);
  });

  test("a pin name that was planted as a symbolic ref does not move the branch behind it", async () => {
    const given = await bench();
    const main = userGit(given.project, "rev-parse", "main");
    const workspace = valueOf(await open(given));
    await writeFile(join(workspace.dir, "new.txt"), "n\n");
    userGit(given.project, "symbolic-ref", "refs/passrail/keep/r1", "refs/heads/main");
    valueOf(await given.workspaces.close(workspace, "r1"));
    expect(userGit(given.project, "rev-parse", "main")).toBe(main);
    expect(show(given, "refs/passrail/keep/r1:new.txt")).toBe("n");
  });

  test("a nested repository with work of its own stops the close; one that is on a remote does not", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    const inner = await makeRepository(join(workspace.dir, "inner"));
    const refused = await given.workspaces.close(workspace, "r1");
    expect(refused).toMatchObject({ ok: false, error: { code: "nested_repository" } });
    expect(existsSync(join(inner, "a.txt"))).toBe(true);
    const upstream = await makeRepository(join(given.dir, "upstream"));
    await rm(inner, { recursive: true });
    userGit(workspace.dir, "clone", "--quiet", upstream, inner);
    valueOf(await given.workspaces.close(workspace, "r1"));
    expect(userGit(given.project, "ls-tree", keep(given), "inner")).toContain(userGit(upstream, "rev-parse", "HEAD"));
  });

  test("a workspace that is not this run's, or not ours, is not touched", async () => {
    const given = await bench();
    const workspace = valueOf(await open(given));
    for (const [dir, runId] of [
      [workspace.dir, "r2"],
      [given.project, "r1"],
      [given.root, "r1"],
      [workspace.dir, ".."],
    ] as const) {
      expect((await given.workspaces.close({ ...workspace, dir }, runId)).ok).toBe(false);
    }
    expect(existsSync(join(workspace.dir, "a.txt"))).toBe(true);
    expect(existsSync(join(given.project, "a.txt"))).toBe(true);
  });
});

describe("S13: links", () => {
  async function victim(given: Bench): Promise<string> {
    const dir = join(given.dir, "victim");
    await mkdir(dir, { mode: 0o700 });
    await writeFile(join(dir, "file"), "precious\n");
    return dir;
  }
  const isLink = { ok: false, error: { code: "workspace_is_a_link", hint: contains("rm ") } };

  test("a link in place of the root, or of the run's folder, is refused and its target untouched", async () => {
    const given = await bench();
    const target = await victim(given);
    await mkdir(join(given.dir, "state"));
    await symlink(target, given.root);
    expect(await open(given)).toMatchObject(isLink);
    await rm(given.root);
    await mkdir(given.root, { mode: 0o700 });
    await symlink(target, join(given.root, "r1"));
    expect(await open(given)).toMatchObject(isLink);
    expect(await readdir(target)).toEqual(["file"]);
  });

  test("a link that replaced a workspace stops diff and close, and its target is untouched", async () => {
    const given = await bench();
    const target = await victim(given);
    const workspace = valueOf(await open(given));
    await rename(workspace.dir, join(given.dir, "taken-away"));
    await symlink(target, workspace.dir);
    expect(await open(given)).toMatchObject(isLink);
    expect(await given.workspaces.head(workspace)).toBeNull();
    expect(await given.workspaces.diff(workspace, null)).toContain("symbolic link");
    expect(await given.workspaces.close(workspace, "r1")).toMatchObject(isLink);
    expect(await readdir(target)).toEqual(["file"]);
  });

  test("links inside a workspace are pinned as links and never followed when it is removed", async () => {
    const given = await bench();
    const target = await victim(given);
    const workspace = valueOf(await open(given));
    await symlink(target, join(workspace.dir, "out"));
    await symlink(target, join(workspace.dir, "ignored.log"));
    valueOf(await given.workspaces.close(workspace, "r1"));
    expect(await readFile(join(target, "file"), "utf8")).toBe("precious\n");
    expect(show(given, "refs/passrail/keep/r1:out")).toBe(target);
  });

  test("a link that replaced the project's folder in the worktree is refused", async () => {
    const given = await bench();
    const target = await victim(given);
    const request = { runId: "r1", project: join(given.project, "packages", "app"), branch: "feat/a" };
    const workspace = valueOf(await given.workspaces.open(request));
    await rm(workspace.dir, { recursive: true });
    await symlink(target, workspace.dir);
    expect(await given.workspaces.open(request)).toMatchObject(isLink);
  });

  test("a link that replaced the registration is not followed", async () => {
    const given = await bench();
    const target = await victim(given);
    const workspace = valueOf(await open(given));
    await writeFile(join(target, "gitdir"), `${join(workspace.dir, ".git")}\n`);
    await writeFile(join(target, "HEAD"), "ref: refs/heads/feat/a\n");
    await writeFile(join(target, "commondir"), `${join(given.project, ".git")}\n`);
    await rm(join(given.project, ".git", "worktrees", "r1"), { recursive: true });
    await symlink(target, join(given.project, ".git", "worktrees", "r1"));
    await given.workspaces.close(workspace, "r1");
    expect(await readFile(join(target, "file"), "utf8")).toBe("precious\n");
  });

  test("a root that others can write is refused", async () => {
    const given = await bench();
    await mkdir(given.root, { recursive: true });
    await chmod(given.root, 0o777);
    expect(await open(given)).toMatchObject({ ok: false, error: { code: "workspace_root_unsafe" } });
  });
});
