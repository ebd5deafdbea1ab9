import { existsSync } from "node:fs";
import { appendFile, chmod, chown, mkdir, readFile, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { git } from "./git.ts";
import { makeRepository, removeTempDirs, tempDir, valueOf } from "../workspace/workspace.testsuite.ts";
import { createDirectoryWorkspaces } from "../workspace/directory.ts";
import { createRepositoryGuard } from "../workspace/repository-guard.ts";
import { createWorktreeWorkspaces } from "../workspace/worktree.ts";

afterEach(async () => {
  vi.unstubAllEnvs();
  await removeTempDirs();
});

const repository = async () => makeRepository(join(await tempDir(), "project"));

describe("git", () => {
  test("gives the output, and takes no word of an argument for shell", async () => {
    const dir = await repository();
    const canary = join(dir, "canary");
    expect(valueOf(await git(dir, ["rev-parse", "--abbrev-ref", "HEAD"]))).toBe("main\n");
    const hostile = await git(dir, [
      "rev-parse",
      "--verify",
      "--end-of-options",
      `$(touch ${canary}); touch ${canary}`,
    ]);
    expect(hostile).toMatchObject({ ok: false, error: { code: "git_failed" } });
    expect(existsSync(canary)).toBe(false);
  });

  test("variables of our own environment do not redirect it", async () => {
    const dir = await repository();
    const other = await repository();
    vi.stubEnv("GIT_DIR", join(other, ".git"));
    vi.stubEnv("GIT_EXTERNAL_DIFF", "false");
    vi.stubEnv("GIT_CONFIG_PARAMETERS", "'core.bare=true'");
    expect(valueOf(await git(dir, ["rev-parse", "--show-toplevel"]))).toBe(`${dir}\n`);
  });

  test("a missing program, a missing folder and a failing command are problems in one line", async () => {
    const dir = await repository();
    const failed = await git(dir, ["rev-parse", "--verify", "--end-of-options", "no\nsuch\u001b[31m"]);
    const printable: unknown = expect.stringMatching(/^\P{Cc}+$/u);
    expect(failed).toMatchObject({ ok: false, error: { code: "git_failed", message: printable } });
    expect(await git(join(dir, "nowhere"), ["status"])).toMatchObject({ ok: false, error: { code: "git_failed" } });
    vi.stubEnv("PATH", dir);
    expect(await git(dir, ["status"])).toMatchObject({
      ok: false,
      error: { code: "git_missing", hint: expect.any(String) },
    });
  });

  test("too much output and too much time end it", async () => {
    const dir = await repository();
    const limits = { maxBytes: 10 };
    expect(await git(dir, ["cat-file", "-p", "HEAD"], limits)).toMatchObject({
      ok: false,
      error: { code: "git_output_too_large" },
    });
    expect(valueOf(await git(dir, ["cat-file", "-p", "HEAD"], { ...limits, overflow: "cut" }))).toHaveLength(10);
    const slow = join(dir, "slow");
    await mkdir(slow);
    await writeFile(join(slow, "git"), "#!/bin/sh\nexec sleep 60\n");
    await chmod(join(slow, "git"), 0o755);
    vi.stubEnv("PATH", `${slow}:${process.env["PATH"] ?? ""}`);
    expect(await git(dir, ["status"], { timeoutMs: 100 })).toMatchObject({ ok: false, error: { code: "git_timeout" } });
  });

  test("a program named git in the workspace is not started through a relative PATH", async () => {
    const dir = await repository();
    const canary = join(dir, "canary");
    await writeFile(join(dir, "git"), `#!/bin/sh\ntouch ${canary}\n`);
    await chmod(join(dir, "git"), 0o755);
    vi.stubEnv("PATH", `.:${process.env["PATH"] ?? ""}`);
    valueOf(await git(dir, ["rev-parse", "HEAD"]));
    expect(existsSync(canary)).toBe(false);
  });

  test.runIf(process.getuid?.() === 0)(
    "a repository of another user needs the user's own word that it is safe",
    async () => {
      const dir = await repository();
      const home = await tempDir();
      await chown(dir, 12_345, 12_345);
      await chown(join(dir, ".git"), 12_345, 12_345);
      vi.stubEnv("HOME", home);
      const refused = await git(dir, ["rev-parse", "HEAD"]);
      expect(refused).toMatchObject({
        ok: false,
        error: { code: "dubious_ownership", hint: expect.stringContaining(dir) },
      });
      await writeFile(join(home, ".gitconfig"), `[safe]\n directory = ${dir}\n`);
      valueOf(await git(dir, ["rev-parse", "HEAD"]));
    },
  );

  test("a copy of an index that a killed process left is removed after a day, one of today is not", async () => {
    const dir = await tempDir();
    const project = await makeRepository(join(dir, "project"));
    vi.stubEnv("TMPDIR", dir);
    const old = new Date(Date.now() - 2 * 24 * 3_600_000);
    for (const name of ["passrail-index-old", "passrail-index-new", "another-old"]) await mkdir(join(dir, name));
    for (const name of ["passrail-index-old", "another-old"]) await utimes(join(dir, name), old, old);
    const workspaces = createDirectoryWorkspaces(createRepositoryGuard(dir));
    await workspaces.diff(valueOf(await workspaces.open({ runId: "r1", project })), null);
    const left = (await readdir(dir)).filter((name) => name !== "project");
    expect(left.toSorted((one, other) => one.localeCompare(other))).toEqual(["another-old", "passrail-index-new"]);
  });

  test("opening a worktree takes one git process, opening it again none", async () => {
    const dir = await tempDir();
    const project = await makeRepository(join(dir, "project"));
    // git parses settings once, also for another repository with the same ones.
    await appendFile(join(project, ".git", "config"), `[test]\n\tdir = ${dir}\n`);
    const log = join(dir, "log");
    await mkdir(join(dir, "bin"));
    const path = process.env["PATH"] ?? "";
    await writeFile(join(dir, "bin", "git"), `#!/bin/sh\necho "$4" >> ${log}\nPATH='${path}' exec git "$@"\n`);
    await chmod(join(dir, "bin", "git"), 0o755);
    vi.stubEnv("PATH", `${join(dir, "bin")}:${path}`);
    const workspaces = createWorktreeWorkspaces({ root: join(dir, "worktrees") });
    const request = { runId: "r1", project, branch: "feat/a" };
    valueOf(await workspaces.open(request));
    const first = (await readFile(log, "utf8")).trim().split("\n");
    expect(first).toEqual(["reset"]);
    valueOf(await workspaces.open(request));
    expect((await readFile(log, "utf8")).trim().split("\n")).toEqual(first);
  });
});
