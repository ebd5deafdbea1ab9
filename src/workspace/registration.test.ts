// A worktree that Passrail registers by itself is one of git's, and what git would refuse is left to git.

import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { makeRepository, removeTempDirs, tempDir, userGit, valueOf } from "./workspace.testsuite.ts";
import { createWorktreeWorkspaces } from "./worktree.ts";

afterEach(removeTempDirs);

async function bench() {
  const dir = await tempDir();
  const project = await makeRepository(join(dir, "project"));
  const workspaces = createWorktreeWorkspaces({ root: join(dir, "worktrees") });
  return { dir, project, workspaces, request: { runId: "r1", project, branch: "feat/a" } };
}

test("git lists it, finds nothing to repair, and knows nothing of it once it is closed", async () => {
  const { project, workspaces, request } = await bench();
  const before = userGit(project, "worktree", "list", "--porcelain");
  const workspace = valueOf(await workspaces.open(request));
  const head = userGit(project, "rev-parse", "HEAD");
  const entry = `worktree ${workspace.dir}\nHEAD ${head}\nbranch refs/heads/feat/a`;
  expect(userGit(project, "worktree", "list", "--porcelain")).toBe(`${before}\n\n${entry}`);
  expect(userGit(project, "worktree", "prune", "--verbose", "--expire=now")).toBe("");
  expect(userGit(workspace.dir, "worktree", "repair")).toBe("");
  expect(userGit(workspace.dir, "status", "--porcelain", "--branch")).toBe("## feat/a");
  expect(userGit(project, "reflog", "show", "--format=%gs", "feat/a")).toBe(`branch: Created from ${head}`);
  valueOf(await workspaces.close(workspace, "r1"));
  expect(userGit(project, "worktree", "list", "--porcelain")).toBe(before);
  expect(existsSync(join(project, ".git", "worktrees"))).toBe(false);
});

test("git that is called for another run meanwhile never sees a half-written record of it", async () => {
  const { project, workspaces, request } = await bench();
  // Looks as often as it can, as a process of its own.
  const watcher = spawn(process.execPath, ["-e", WATCHER, join(project, ".git", "worktrees")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const seen = text(watcher.stdout);
  for (let at = 0; at < 20; at += 1) {
    const workspace = valueOf(await workspaces.open({ ...request, runId: `r${at}`, branch: `feat/${at}` }));
    valueOf(await workspaces.close(workspace, `r${at}`));
  }
  watcher.stdin.end();
  expect(await seen).toBe("");
});

const WATCHER = `
  const { readdirSync, statSync } = require("node:fs");
  const all = (path) => { try { return readdirSync(path); } catch { return []; } };
  const empty = new Set();
  const look = () => {
    for (const until = Date.now() + 20; Date.now() < until; )
      for (const name of all(process.argv[1]))
        for (const file of ["locked", "gitdir", "HEAD", "commondir"])
          try {
            if (statSync(process.argv[1] + "/" + name + "/" + file).size === 0) empty.add(file);
          } catch {}
    timer = setImmediate(look);
  };
  let timer = setImmediate(look);
  process.stdin.resume().on("end", () => { clearImmediate(timer); process.stdout.write([...empty].join(" ")); });`;

test("a branch that is being rebased elsewhere is in use", async () => {
  const { dir, project, workspaces, request } = await bench();
  userGit(project, "branch", "feat/a");
  const other = join(dir, "other");
  userGit(project, "worktree", "add", "-q", other, "feat/a");
  await writeFile(join(other, "a.txt"), "theirs\n");
  userGit(other, "commit", "-qam", "theirs");
  await writeFile(join(project, "a.txt"), "mine\n");
  userGit(project, "commit", "-qam", "mine");
  expect(() => userGit(other, "rebase", "-q", "main")).toThrow("Command failed");
  expect(userGit(other, "branch", "--show-current")).toBe("");
  expect(await workspaces.open(request)).toMatchObject({ ok: false, error: { code: "branch_in_use" } });
});

test("a name that is taken gets another, and nothing is registered through a link by Passrail", async () => {
  const { dir, project, workspaces, request } = await bench();
  await mkdir(join(project, ".git", "worktrees", "r1"), { recursive: true });
  const workspace = valueOf(await workspaces.open(request));
  expect(readdirSync(join(project, ".git", "worktrees")).sort()).toEqual(["r1", "r11"]);
  valueOf(await workspaces.close(workspace, "r1"));
  await rename(join(project, ".git", "worktrees"), join(dir, "elsewhere"));
  await symlink(join(dir, "elsewhere"), join(project, ".git", "worktrees"));
  const again = valueOf(await workspaces.open(request));
  valueOf(await workspaces.close(again, "r1"));
  expect(readdirSync(join(dir, "elsewhere"))).toEqual(["r1"]);
});

test("after a crash the lock of the run's own branch goes, and only that", async () => {
  const { project, workspaces, request } = await bench();
  const workspace = valueOf(await workspaces.open(request));
  for (const name of ["feat/a", "main"]) await writeFile(join(project, ".git", "refs", "heads", `${name}.lock`), "");
  await workspaces.unlock(workspace);
  expect(existsSync(join(project, ".git", "refs", "heads", "feat", "a.lock"))).toBe(false);
  expect(existsSync(join(project, ".git", "refs", "heads", "main.lock"))).toBe(true);
});
