// The contract of every kind of workspace, run by each of them against real repositories. Also creates the repositories: a plain one, and
// one with a trap for everything that git can be configured to execute.

import { execFileSync, spawnSync } from "node:child_process";
import { appendFile, chmod, mkdir, mkdtemp, realpath, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { copyRepository } from "../../test/harness/new-repository.ts";
import type { Result } from "../core/result.ts";
import type { Workspace, Workspaces } from "./workspace.ts";

export type Bench = {
  /** A folder for this test alone, removed afterwards. */
  readonly dir: string;
  readonly project: string;
  readonly workspaces: Workspaces;
};

const dirs: string[] = [];

export async function tempDir(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "passrail-test-")));
  dirs.push(dir);
  return dir;
}

export async function removeTempDirs(): Promise<void> {
  for (const dir of dirs.splice(0)) await rm(dir, { recursive: true, force: true });
}

/** The user's own git, as a developer would type it, without the machine's configuration. */
export function userGit(dir: string, ...args: string[]): string {
  const env = { PATH: process.env["PATH"] ?? "", HOME: dir, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  return execFileSync("git", ["-C", dir, ...args], { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

export async function makeRepository(dir: string): Promise<string> {
  copyRepository("with-folders", dir);
  // As `git config` writes it.
  await appendFile(join(dir, ".git", "config"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
  return dir;
}

/** Plants every way in which a repository can make git run a program; each would create the canary. */
async function plant(repository: string, canary: string): Promise<void> {
  const gitDir = join(repository, ".git");
  const touch = `touch ${canary}`;
  const hooks = [
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-commit",
    "post-commit",
    "pre-auto-gc",
  ];
  for (const hook of hooks) {
    await mkdir(join(gitDir, "hooks"), { recursive: true });
    await writeFile(join(gitDir, "hooks", hook), `#!/bin/sh\n${touch}\n`);
    await chmod(join(gitDir, "hooks", hook), 0o755);
  }
  const filter = `clean = "${touch}; cat"\n smudge = "${touch}; cat"\n`;
  await writeFile(
    join(gitDir, "evil.inc"),
    `[filter "included"]\n ${filter}\n[filter "p"]\n process = ${touch}\n required = true\n`,
  );
  await writeFile(join(gitDir, "branch.inc"), `[filter "branch"]\n ${filter}`);
  const config = [
    `[core]\n fsmonitor = "${touch}; false"\n pager = "${touch}; cat"\n sshCommand = ${touch}\n editor = ${touch}\n askPass = ${touch}`,
    ` hooksPath = ${join(gitDir, "hooks")}`,
    `[diff]\n external = "${touch}; true"\n[diff "d"]\n textconv = "${touch}; cat"\n command = ${touch}`,
    `[filter "plain"]\n ${filter}\n[filter "a=b"]\n ${filter}\n[filter "dot.ted"]\n ${filter}`,
    `[alias]\n add = "!${touch}"\n diff = "!${touch}"\n worktree = "!${touch}"\n rev-parse = "!${touch}"`,
    `[pager]\n diff = "${touch}; cat"\n[interactive]\n diffFilter = ${touch}`,
    `[credential]\n helper = "!${touch}"\n[gpg]\n program = ${touch}\n[commit]\n gpgSign = true\n[gc]\n auto = 1`,
    `[include]\n path = evil.inc\n[includeIf "onbranch:feat/**"]\n path = branch.inc`,
    `[remote "origin"]\n url = "ext::sh -c '${touch}'"\n uploadpack = ${touch}\n promisor = true`,
  ].join("\n");
  const existing = await readFile(join(gitDir, "config"), "utf8");
  await writeFile(join(gitDir, "config"), `${existing}\n${config}\n`);
  const names = ["plain", "a=b", "dot.ted", "included", "p", "branch"];
  const attributes = names.map((name) => `*.${name.replace(/\W/gu, "")} filter=${name} diff=d`).join("\n");
  await mkdir(join(gitDir, "info"), { recursive: true });
  await writeFile(join(gitDir, "info", "attributes"), `${attributes}\n* diff=d\n`);
}

/** Files that each planted filter applies to. */
const PLANTED_FILES = ["x.plain", "x.ab", "x.dotted", "x.included", "x.p", "x.branch"];

export function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

export function workspacesSuite(name: string, bench: () => Promise<Bench>): void {
  afterEach(removeTempDirs);

  // Some tests make the branch themselves.
  const opened = async (given: Bench): Promise<Workspace> =>
    valueOf(await given.workspaces.open({ runId: "r1", project: given.project, branch: "feat/a", adopts: true }));

  describe(`every workspace: ${name}`, () => {
    test("opening twice gives the same workspace, with the files of the project", async () => {
      const given = await bench();
      const first = await opened(given);
      expect(await opened(given)).toEqual(first);
      expect(first.mode).toBe(given.workspaces.mode);
      expect(await readFile(join(first.dir, "a.txt"), "utf8")).toBe("one\n");
    });

    test("R-X-14: its folder is a lock key, the same one at every opening", async () => {
      const given = await bench();
      const workspace = await opened(given);
      expect(workspace.lockKeys).toContain(`dir:${workspace.dir}`);
    });

    test("two openings at once both succeed", async () => {
      const given = await bench();
      const [first, second] = await Promise.all([opened(given), opened(given)]);
      expect(first).toEqual(second);
    });

    test("the head is the current commit and moves with a commit", async () => {
      const given = await bench();
      const workspace = await opened(given);
      const before = await given.workspaces.head(workspace);
      expect(before).toBe(userGit(given.project, "rev-parse", "main"));
      await writeFile(join(workspace.dir, "a.txt"), "two\n");
      userGit(workspace.dir, "commit", "--quiet", "-am", "second");
      expect(await given.workspaces.head(workspace)).toBe(userGit(workspace.dir, "rev-parse", "HEAD"));
      expect(await given.workspaces.head(workspace)).not.toBe(before);
    });

    test("the diff shows committed, staged, unstaged and untracked changes, and leaves index and objects alone", async () => {
      const given = await bench();
      const workspace = await opened(given);
      const from = await given.workspaces.head(workspace);
      expect(await given.workspaces.diff(workspace, from)).toBe("");
      await writeFile(join(workspace.dir, "committed.txt"), "c\n");
      userGit(workspace.dir, "add", "committed.txt");
      userGit(workspace.dir, "commit", "--quiet", "-m", "second");
      await writeFile(join(workspace.dir, "staged.txt"), "s\n");
      userGit(workspace.dir, "add", "staged.txt");
      await writeFile(join(workspace.dir, "a.txt"), "changed\n");
      await writeFile(join(workspace.dir, "untracked.txt"), "u\n");
      await writeFile(join(workspace.dir, "ignored.log"), "i\n");
      await rm(join(workspace.dir, "packages"), { recursive: true });
      const status = userGit(workspace.dir, "status", "--porcelain");
      const objects = userGit(workspace.dir, "count-objects");
      const diff = await given.workspaces.diff(workspace, from);
      expect(diff).toContain("+++ b/committed.txt");
      expect(diff).toContain("+++ b/staged.txt");
      expect(diff).toContain("-one\n+changed\n");
      expect(diff).toContain("+++ b/untracked.txt");
      expect(diff).toContain("--- a/packages/app/b.txt\n+++ /dev/null");
      expect(diff).not.toContain("ignored.log");
      expect(userGit(workspace.dir, "status", "--porcelain")).toBe(status);
      expect(userGit(workspace.dir, "count-objects")).toBe(objects);
    });

    test("a change of the same length right after a commit is seen", async () => {
      const given = await bench();
      const workspace = await opened(given);
      await writeFile(join(workspace.dir, "a.txt"), "two\n");
      userGit(workspace.dir, "commit", "--quiet", "-am", "second");
      await writeFile(join(workspace.dir, "a.txt"), "six\n");
      const head = await given.workspaces.head(workspace);
      expect(await given.workspaces.diff(workspace, head)).toContain("-two\n+six\n");
    });

    test("a diff from null shows every file, a diff from nonsense says that it failed", async () => {
      const given = await bench();
      const workspace = await opened(given);
      expect(await given.workspaces.diff(workspace, null)).toContain("+++ b/a.txt");
      for (const from of ["--output=/tmp/x", "0".repeat(40), "a b", "main..main"]) {
        expect(await given.workspaces.diff(workspace, from)).toMatch(/^\[passrail: the diff could not be made: /u);
      }
    });

    test("a diff larger than 2 MiB is cut at a line and says so", async () => {
      const given = await bench();
      const workspace = await opened(given);
      await writeFile(join(workspace.dir, "big.txt"), "é line of text\n".repeat(200_000));
      const diff = await given.workspaces.diff(workspace, await given.workspaces.head(workspace));
      expect(Buffer.byteLength(diff)).toBeLessThan(2 * 1024 * 1024 + 200);
      expect(
        diff.endsWith("\n+é line of text\n[passrail: the diff was cut here, it is larger than 2097152 bytes]\n"),
      ).toBe(true);
    });

    test("a file that cannot be added is named in the diff, the rest is shown", async () => {
      const given = await bench();
      const workspace = await opened(given);
      // git refuses to add a repository without a commit, even for root.
      await mkdir(join(workspace.dir, "inner"));
      userGit(join(workspace.dir, "inner"), "init", "--quiet");
      await writeFile(join(workspace.dir, "zz.txt"), "z\n");
      const diff = await given.workspaces.diff(workspace, await given.workspaces.head(workspace));
      expect(diff).toContain("+++ b/zz.txt");
      expect(diff).toMatch(/\[passrail: some files could not be read: .*inner/u);
    });

    test("S11: nothing that was planted in the repository is executed by ten operations", async () => {
      const given = await bench();
      for (const file of PLANTED_FILES) await writeFile(join(given.project, file), "text\n");
      userGit(given.project, "add", "--all");
      userGit(given.project, "commit", "--quiet", "-m", "files");
      userGit(given.project, "branch", "feat/a");
      const canary = join(given.dir, "canary");
      await plant(given.project, canary);
      const { workspaces } = given;
      const workspace = await opened(given);
      for (const file of PLANTED_FILES) await writeFile(join(workspace.dir, file), "changed\n");
      await writeFile(join(workspace.dir, "new.plain"), "new\n");
      const from = await workspaces.head(workspace);
      expect(await workspaces.diff(workspace, from)).toContain("+++ b/new.plain");
      await opened(given);
      await workspaces.diff(workspace, null);
      await workspaces.diff(workspace, from);
      await workspaces.head(workspace);
      valueOf(await workspaces.close(workspace, "r1"));
      valueOf(await workspaces.close(workspace, "r1"));
      const again = await opened(given);
      await workspaces.head(again);
      await workspaces.diff(again, from);
      valueOf(await workspaces.close(again, "r1"));
      await expect(readFile(canary)).rejects.toThrow("ENOENT");
      // The trap works: the user's own git does run it.
      await writeFile(join(given.project, "x.plain"), "once more\n");
      spawnSync("git", ["-C", given.project, "status"], { stdio: "ignore" });
      expect(await readFile(canary, "utf8")).toBe("");
    });

    test("S11: a nested repository with filters of its own is not entered", async () => {
      const given = await bench();
      const workspace = await opened(given);
      const canary = join(given.dir, "canary");
      const inner = await makeRepository(join(workspace.dir, "inner"));
      await writeFile(join(inner, ".gitattributes"), "* filter=evil\n");
      userGit(inner, "add", "--all");
      userGit(inner, "commit", "--quiet", "-m", "attributes");
      userGit(workspace.dir, "add", "inner");
      userGit(inner, "config", "filter.evil.clean", `touch ${canary}; cat`);
      await writeFile(join(inner, "a.txt"), "other\n");
      const diff = await given.workspaces.diff(workspace, await given.workspaces.head(workspace));
      expect(diff).toContain("Subproject commit");
      expect(diff).toContain('[passrail: "inner" is a repository of its own');
      await given.workspaces.close(workspace, "r1");
      await expect(readFile(canary)).rejects.toThrow("ENOENT");
    });

    test("a project that is missing or a file is a problem with a hint", async () => {
      const given = await bench();
      const open = (project: string) => given.workspaces.open({ runId: "r1", project, branch: "feat/a" });
      expect(await open(join(given.dir, "nowhere"))).toMatchObject({ ok: false, error: { code: "project_missing" } });
      expect(await open("relative")).toMatchObject({ ok: false, error: { code: "project_missing" } });
      const file = await open(join(given.project, "a.txt"));
      expect(file).toMatchObject({ ok: false, error: { code: "project_not_a_directory", hint: expect.any(String) } });
    });

    test("a project below the top of its repository works in that folder", async () => {
      const given = await bench();
      const project = join(given.project, "packages", "app");
      const workspace = valueOf(await given.workspaces.open({ runId: "r1", project, branch: "feat/a" }));
      expect(await readFile(join(workspace.dir, "b.txt"), "utf8")).toBe("bee\n");
      await writeFile(join(workspace.dir, "b.txt"), "wasp\n");
      const diff = await given.workspaces.diff(workspace, await given.workspaces.head(workspace));
      expect(diff).toContain("+++ b/packages/app/b.txt");
      valueOf(await given.workspaces.close(workspace, "r1"));
    });
  });
}
