// The preparation of a fresh workspace, by real commands in real repositories, for every kind with its own branch.

import { createServer } from "node:net";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createWorkspaces } from "./providers.ts";
import type { WorkspaceSettings } from "../settings/workspaces.ts";
import { makeRepository, removeTempDirs, tempDir, userGit, valueOf, workspacesSuite } from "./workspace.testsuite.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";

afterEach(removeTempDirs);

async function bench(mode: WorkspaceMode, settings: Partial<WorkspaceSettings> = {}) {
  const dir = await tempDir();
  const project = await makeRepository(join(dir, "project"));
  const home = join(dir, "home");
  await mkdir(home, { mode: 0o700 });
  const workspaces = createWorkspaces({
    home,
    settings: { sandbox: "worktree", ...settings },
    environment: { ...process.env, SECRET_TOKEN: "do not pass" },
  })(mode);
  const open = (runId = "r1") => workspaces.open({ runId, project, branch: `feat/${runId}` });
  return { dir, project, home, workspaces, open };
}

workspacesSuite("worktree with everything", () =>
  bench("worktree", { ports: { first: 24_000, step: 5 }, caches: { npm_config_cache: "npm" }, setup: [["true"]] }),
);

for (const mode of ["worktree", "clone"] as const) {
  describe(`a usable ${mode}`, () => {
    test("setup commands run once, in order, with an allow-listed environment; their output is kept", async () => {
      const given = await bench(mode, {
        setup: [
          ["/bin/sh", "-c", "echo one >> ran.log; env"],
          ["/bin/sh", "-c", "echo two >> ran.log"],
        ],
      });
      const workspace = valueOf(await given.open());
      valueOf(await given.open());
      expect(await readFile(join(workspace.dir, "ran.log"), "utf8")).toBe("one\ntwo\n");
      const log = readFileSync(join(given.home, "runs", "r1", "setup-r1.log"), "utf8");
      expect(log).toContain("PATH=");
      expect(log).not.toContain("do not pass");
    });

    test("half a copy of what setup made goes when the process that made it was killed long ago", async () => {
      const given = await bench(mode, {
        setup: [["/bin/sh", "-c", "mkdir installed"]],
        setup_cache: { key: ["lock"], folders: ["installed"] },
      });
      const open = async (runId: string) =>
        valueOf(await given.workspaces.open({ runId, project: given.project, branch: `feat/${runId}` }));
      await open("r1");
      const caches = join(given.home, "setup-cache");
      const root = join(caches, readdirSync(caches)[0] ?? "");
      for (const name of [".making-killed", ".making-at-work"]) mkdirSync(join(root, name));
      const longAgo = new Date(Date.now() - 48 * 60 * 60_000);
      utimesSync(join(root, ".making-killed"), longAgo, longAgo);
      writeFileSync(join(given.project, "lock"), "two\n");
      userGit(given.project, "add", "-A");
      userGit(given.project, "commit", "-qm", "lock");
      await open("r2");
      expect(readdirSync(root).filter((name) => name.startsWith("."))).toEqual([".making-at-work"]);
    });

    test("what setup made is copied where the lockfile is the same, and kept only of the project's own commits", async () => {
      const line =
        "echo ran >> ../../ran; mkdir -p installed/deep; cat lock made.txt > installed/deep/all 2>/dev/null; ln -s deep installed/link";
      const given = await bench(mode, {
        setup: [["/bin/sh", "-c", line]],
        setup_cache: { key: ["lock"], folders: ["installed"] },
      });
      const commitHere = (name: string, text: string): void => {
        writeFileSync(join(given.project, name), text);
        userGit(given.project, "add", "-A");
        userGit(given.project, "commit", "-qm", name);
      };
      writeFileSync(join(given.project, ".gitignore"), "installed\n");
      commitHere("lock", "one\n");
      const ran = (): number => readFileSync(join(given.home, "ran"), "utf8").trim().split("\n").length;
      const open = async (runId: string, adopts = false) => {
        const request = { runId, project: given.project, branch: `feat/${runId}`, adopts };
        const { dir } = valueOf(await given.workspaces.open(request));
        return readFileSync(join(dir, "installed/link/all"), "utf8");
      };
      expect([await open("r1"), ran()]).toEqual(["one\n", 1]);
      expect([await open("r2"), ran()]).toEqual(["one\n", 1]);
      // A copy is nobody else's.
      writeFileSync(join(valueOf(await given.open("r2")).dir, "installed/deep/all"), "changed by an agent\n");
      expect(await open("r3")).toBe("one\n");
      commitHere("lock", "two\n");
      // Commits that are not the project's: nothing of theirs is kept.
      userGit(given.project, "checkout", "-qb", "feat/r4");
      commitHere("made.txt", "by an agent\n");
      userGit(given.project, "checkout", "-q", "main");
      expect([await open("r4", true), ran()]).toEqual(["two\nby an agent\n", 2]);
      expect([await open("r5"), ran()]).toEqual(["two\n", 3]);
      // Where something is in the way, the commands decide.
      userGit(given.project, "checkout", "-qb", "feat/r6");
      userGit(
        given.project,
        "update-index",
        "--add",
        "--cacheinfo",
        `120000,${linkTo(given.project, "/nonexistent/place")},installed`,
      );
      userGit(given.project, "commit", "-qm", "a link");
      userGit(given.project, "checkout", "-qf", "main");
      const inTheWay = await given.workspaces.open({
        runId: "r6",
        project: given.project,
        branch: "feat/r6",
        adopts: true,
      });
      expect([inTheWay.ok, ran()]).toEqual([false, 4]);
    });

    test("a setup command that fails is said with its last lines, and leaves no workspace", async () => {
      const given = await bench(mode, { setup: [["/bin/sh", "-c", "echo the reason >&2; exit 7"]] });
      const opened = await given.open();
      expect(opened).toMatchObject({ ok: false, error: { code: "workspace_setup_failed" } });
      if (opened.ok) return;
      expect(opened.error.message).toContain("the reason");
      expect(opened.error.message).toContain("7");
      expect(existsSync(join(given.home, "workspaces", "r1.json"))).toBe(false);
      expect((await given.workspaces.left?.())?.length).toBe(0);
    });

    test("a setup command that does not exist is named", async () => {
      const given = await bench(mode, { setup: [["no-such-installer"]] });
      expect(await given.open()).toMatchObject({ error: { message: expect.stringContaining("no-such-installer") } });
    });

    test("a canceled setup ends at once, with everything it started", async () => {
      const given = await bench(mode, { setup: [["/bin/sh", "-c", "sleep 300 & sleep 300"]] });
      const cancel = new AbortController();
      const opening = given.workspaces.open({
        runId: "r1",
        project: given.project,
        branch: "feat/r1",
        signal: cancel.signal,
      });
      await expect
        .poll(() => existsSync(join(given.home, "runs", "r1", "setup-r1.log")), { timeout: 20_000 })
        .toBe(true);
      cancel.abort();
      expect(await opening).toMatchObject({ error: { message: expect.stringContaining("canceled") } });
    });

    test("named files are copied, and never committed", async () => {
      const given = await bench(mode, { copy: [".env.log", "missing.log"] });
      await writeFile(join(given.project, ".env.log"), "KEY=1\n");
      const workspace = valueOf(await given.open());
      expect(await readFile(join(workspace.dir, ".env.log"), "utf8")).toBe("KEY=1\n");
      await writeFile(join(workspace.dir, "work.txt"), "work\n");
      const commit = valueOf((await given.workspaces.commit?.(workspace, "T-1: build")) ?? missing());
      expect(commit).toBe(userGit(workspace.dir, "rev-parse", "HEAD"));
      expect(userGit(workspace.dir, "ls-files")).not.toContain(".env");
      expect(userGit(workspace.dir, "status", "--porcelain")).toBe("");
      expect(valueOf((await given.workspaces.commit?.(workspace, "again")) ?? missing())).toBeNull();
      expect(await given.workspaces.commits?.(workspace, userGit(given.project, "rev-parse", "main"))).toEqual([
        commit,
      ]);
    });

    test("a file that is there is not overwritten, one that leads elsewhere is refused", async () => {
      const given = await bench(mode, { copy: ["a.txt"] });
      await writeFile(join(given.project, "a.txt"), "changed by the person\n");
      const workspace = valueOf(await given.open());
      expect(await readFile(join(workspace.dir, "a.txt"), "utf8")).toBe("one\n");
      const linked = await bench(mode, { copy: ["link.log"] });
      await symlink("/etc/passwd", join(linked.project, "link.log"));
      expect(await linked.open()).toMatchObject({ error: { code: "workspace_copy_refused" } });
      for (const path of ["../outside", "/etc/passwd"]) {
        const out = await bench(mode, { copy: [path] });
        expect(await out.open()).toMatchObject({ error: { code: "workspace_copy_refused" } });
      }
    });

    test("each workspace has ports of its own that are free, the same ones when it is opened again", async () => {
      const given = await bench(mode, { ports: { first: 23_410, step: 10 } });
      const busy = createServer().listen(23_410, "127.0.0.1");
      try {
        const first = valueOf(await given.open("r1"));
        const second = valueOf(await given.open("r2"));
        expect(first.env).toMatchObject({ PORT: "23420", PASSRAIL_PORT_BASE: "23420", PASSRAIL_PORT_COUNT: "10" });
        expect(second.env).toMatchObject({ PORT: "23430" });
        expect(valueOf(await given.open("r1")).env).toEqual(first.env);
        valueOf(await given.workspaces.close(first, "r1"));
        expect(valueOf(await given.open("r3")).env).toMatchObject({ PORT: "23420" });
      } finally {
        busy.close();
      }
    });

    test("caches are shared, given as variables, and folders that a sandbox may write", async () => {
      const given = await bench(mode, { caches: { npm_config_cache: "npm" } });
      const [first, second] = [valueOf(await given.open("r1")), valueOf(await given.open("r2"))];
      expect(first.env?.["npm_config_cache"]).toBe(join(given.home, "caches", "npm"));
      expect(first.env).toEqual(second.env);
      expect(first.folders).toEqual([join(given.home, "caches", "npm")]);
    });

    test("R-002-28: what a workspace must contain may be younger than the workspace", async () => {
      const given = await bench(mode);
      const { project } = given;
      const workspace = valueOf(await given.open("r1"));
      userGit(project, "switch", "--quiet", "--create", "track", "main");
      await writeFile(join(project, "track.txt"), "later\n");
      userGit(project, "add", "--all");
      userGit(project, "commit", "--quiet", "-m", "track");
      const contains = [userGit(project, "rev-parse", "HEAD")];
      userGit(project, "switch", "--quiet", "main");
      const again = await given.workspaces.open({ runId: "r1", project, branch: "feat/r1", contains });
      expect(valueOf(again).dir).toBe(workspace.dir);
      expect(await readFile(join(workspace.dir, "track.txt"), "utf8")).toBe("later\n");
      const unknown = await given.workspaces.open({
        runId: "r1",
        project,
        branch: "feat/r1",
        contains: ["0123456789".repeat(4)],
      });
      expect(unknown).toMatchObject({ error: { code: "commit_unknown" } });
    });

    test("R-004-54: merging runs no merge driver of the repository, and a conflict changes nothing", async () => {
      const given = await bench(mode);
      const canary = join(given.dir, "canary");
      const { project } = given;
      const change = async (branch: string, name: string, text: string) => {
        userGit(project, "switch", "--quiet", "--create", branch, "main");
        await writeFile(join(project, name), text);
        userGit(project, "add", "--all");
        userGit(project, "commit", "--quiet", "-m", branch);
        const commit = userGit(project, "rev-parse", "HEAD");
        userGit(project, "switch", "--quiet", "main");
        return commit;
      };
      const other = await change("other", "a.txt", "theirs\n");
      await change("feat/r1", "a.txt", "ours\n");
      userGit(project, "config", "merge.evil.driver", `touch ${canary}; true`);
      await writeFile(join(project, ".git", "info", "attributes"), "* merge=evil\n");
      const opened = await given.workspaces.open({
        runId: "r1",
        project,
        branch: "feat/r1",
        adopts: true,
        contains: [other],
      });
      expect(opened).toMatchObject({ error: { code: "merge_conflict", message: expect.stringContaining("a.txt") } });
      expect(existsSync(canary)).toBe(false);
      expect(userGit(project, "show", "feat/r1:a.txt")).toBe("ours");
    });
  });
}

test("a kept worktree lets go of its branch and keeps its files", async () => {
  const given = await bench("worktree");
  const workspace = valueOf(await given.open());
  await writeFile(join(workspace.dir, "half.txt"), "half\n");
  valueOf((await given.workspaces.letGo?.(workspace)) ?? missing());
  userGit(given.project, "switch", "--quiet", "feat/r1");
  expect(await readFile(join(workspace.dir, "half.txt"), "utf8")).toBe("half\n");
  expect(userGit(workspace.dir, "status", "--porcelain")).toBe("?? half.txt");
});

test("a file that git does not ignore is not copied into a worktree: it would be committed", async () => {
  const given = await bench("worktree", { copy: ["secret.key"] });
  await writeFile(join(given.project, "secret.key"), "k\n");
  expect(await given.open()).toMatchObject({ error: { code: "workspace_copy_refused" } });
  const clone = await bench("clone", { copy: ["secret.key"] });
  await writeFile(join(clone.project, "secret.key"), "k\n");
  const workspace = valueOf(await clone.open());
  expect(userGit(workspace.dir, "status", "--porcelain")).toBe("");
});

const missing = () => ({ ok: false as const, error: { code: "missing", message: "the provider cannot do that" } });

/** The object of a link. */
function linkTo(project: string, target: string): string {
  return execFileSync("git", ["-C", project, "hash-object", "-w", "--stdin"], {
    input: target,
    encoding: "utf8",
  }).trim();
}
