import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createCloneWorkspaces } from "./clone.ts";
import { makeRepository, removeTempDirs, tempDir, userGit, valueOf, workspacesSuite } from "./workspace.testsuite.ts";

afterEach(removeTempDirs);

async function bench() {
  const dir = await tempDir();
  const project = await makeRepository(join(dir, "project"));
  const root = join(dir, "home", "clones");
  return { dir, project, root, workspaces: createCloneWorkspaces({ root }) };
}

workspacesSuite("clone", bench);

type Bench = Awaited<ReturnType<typeof bench>>;
const openAt = async ({ workspaces, project }: Bench, key = "r1-build-1") =>
  valueOf(await workspaces.open({ runId: "r1", key, project, branch: "feat/a" }));
const commit = (dir: string, text: string) => {
  userGit(dir, "add", "--all");
  userGit(dir, "commit", "--quiet", "-m", text);
  return userGit(dir, "rev-parse", "HEAD");
};

describe("work comes back to the project", () => {
  test("commits are on the project's branch after publish, and its own files are untouched", async () => {
    const given = await bench();
    const workspace = await openAt(given);
    await writeFile(join(workspace.dir, "new.txt"), "new\n");
    const made = commit(workspace.dir, "new");
    valueOf((await given.workspaces.publish?.(workspace, "r1")) ?? { ok: false, error: { code: "x", message: "x" } });
    expect(userGit(given.project, "rev-parse", "feat/a")).toBe(made);
    expect(userGit(given.project, "status", "--porcelain")).toBe("");
    expect(userGit(given.project, "for-each-ref", "refs/passrail/incoming")).toBe("");
  });

  test("closing takes commits and what lies uncommitted, and removes the clone; twice is fine", async () => {
    const given = await bench();
    const workspace = await openAt(given);
    await writeFile(join(workspace.dir, "new.txt"), "new\n");
    const made = commit(workspace.dir, "new");
    await writeFile(join(workspace.dir, "half.txt"), "half\n");
    const closed = valueOf(await given.workspaces.close(workspace, "r1"));
    expect(userGit(given.project, "rev-parse", "feat/a")).toBe(made);
    expect(closed.leftover).toBe(userGit(given.project, "rev-parse", "refs/passrail/keep/r1"));
    expect(userGit(given.project, "show", "refs/passrail/keep/r1:half.txt")).toBe("half");
    expect(await readdir(given.root)).toEqual([]);
    expect(valueOf(await given.workspaces.close(workspace, "r1"))).toMatchObject({ leftover: null });
    expect(userGit(given.project, "show", "refs/passrail/keep/r1:half.txt")).toBe("half");
  });

  test("a second workspace of the run goes on where the first one ended", async () => {
    const given = await bench();
    const first = await openAt(given);
    await writeFile(join(first.dir, "one.txt"), "1\n");
    commit(first.dir, "one");
    valueOf(await given.workspaces.close(first, "r1"));
    const second = await openAt(given, "r1-test-1");
    expect(second.dir).not.toBe(first.dir);
    expect(await readFile(join(second.dir, "one.txt"), "utf8")).toBe("1\n");
    valueOf(await given.workspaces.close(second, "r1"));
  });

  test("a branch that a person moved meanwhile is left alone, the work is pinned and the error names the pin", async () => {
    const given = await bench();
    const workspace = await openAt(given);
    await writeFile(join(workspace.dir, "new.txt"), "new\n");
    const made = commit(workspace.dir, "new");
    const theirs = userGit(given.project, "commit-tree", "-m", "theirs", "-p", "main", "main^{tree}");
    userGit(given.project, "branch", "feat/a", theirs);
    const closed = await given.workspaces.close(workspace, "r1");
    expect(closed).toMatchObject({ ok: false, error: { code: "branch_diverged" } });
    expect(closed.ok ? "" : closed.error.message).toContain("refs/passrail/keep/r1");
    expect(userGit(given.project, "rev-parse", "feat/a")).toBe(theirs);
    expect(userGit(given.project, "rev-parse", "refs/passrail/keep/r1")).toBe(made);
    expect(await readdir(given.root)).toEqual([]);
  });

  test("a branch that a person has checked out is not moved under their feet", async () => {
    const given = await bench();
    const workspace = await openAt(given);
    await writeFile(join(workspace.dir, "new.txt"), "new\n");
    commit(workspace.dir, "new");
    userGit(given.project, "switch", "--quiet", "--create", "feat/a");
    expect(await given.workspaces.close(workspace, "r1")).toMatchObject({ error: { code: "branch_diverged" } });
    expect(userGit(given.project, "status", "--porcelain")).toBe("");
    expect(await given.workspaces.open({ runId: "r2", project: given.project, branch: "feat/a" })).toMatchObject({
      error: { code: "branch_in_use" },
    });
  });

  test("a detached head is pinned, and the branch keeps what it has", async () => {
    const given = await bench();
    const workspace = await openAt(given);
    userGit(workspace.dir, "switch", "--quiet", "--detach");
    await writeFile(join(workspace.dir, "loose.txt"), "loose\n");
    const made = commit(workspace.dir, "loose");
    valueOf(await given.workspaces.close(workspace, "r1"));
    expect(userGit(given.project, "rev-parse", "refs/passrail/keep/r1")).toBe(made);
    expect(userGit(given.project, "rev-parse", "feat/a")).toBe(userGit(given.project, "rev-parse", "main"));
  });
});

describe("an agent's own repository is hostile", () => {
  test("S11: hooks, filters and programs of the project do not come along", async () => {
    const given = await bench();
    const canary = join(given.dir, "canary");
    await mkdir(join(given.project, ".git", "hooks"), { recursive: true });
    await writeFile(join(given.project, ".git", "hooks", "post-checkout"), `#!/bin/sh\ntouch ${canary}\n`);
    await chmod(join(given.project, ".git", "hooks", "post-checkout"), 0o755);
    const workspace = await openAt(given);
    expect(await readdir(join(workspace.dir, ".git"))).not.toContain("hooks");
    userGit(workspace.dir, "switch", "--quiet", "--detach");
    await expect(readFile(canary)).rejects.toThrow("ENOENT");
  });

  test("S11: what an agent plants in its clone is not run when the work is taken", async () => {
    const given = await bench();
    const canary = join(given.dir, "canary");
    const workspace = await openAt(given);
    await writeFile(join(workspace.dir, "new.txt"), "new\n");
    commit(workspace.dir, "new");
    const config = join(workspace.dir, ".git", "config");
    const touch = `touch ${canary}`;
    await writeFile(
      config,
      `${await readFile(config, "utf8")}[core]\n fsmonitor = "${touch}"\n sshCommand = ${touch}\n alternateRefsCommand = ${touch}\n[uploadpack]\n packObjectsHook = ${touch}\n[filter "x"]\n clean = "${touch}; cat"\n smudge = "${touch}; cat"\n[diff]\n external = ${touch}\n[alias]\n bundle = "!${touch}"\n`,
    );
    await mkdir(join(workspace.dir, ".git", "hooks"), { recursive: true });
    for (const hook of ["reference-transaction", "post-index-change", "post-checkout"]) {
      await writeFile(join(workspace.dir, ".git", "hooks", hook), `#!/bin/sh\n${touch}\n`);
      await chmod(join(workspace.dir, ".git", "hooks", hook), 0o755);
    }
    await writeFile(join(workspace.dir, ".gitattributes"), "* filter=x\n");
    valueOf(await given.workspaces.close(workspace, "r1"));
    await expect(readFile(canary)).rejects.toThrow("ENOENT");
    expect(userGit(given.project, "show", "feat/a:new.txt")).toBe("new");
  });

  test.each([
    [
      "the repository is a link to another one",
      async (dir: string, other: string) => {
        await rm(join(dir, ".git"), { recursive: true });
        await symlink(join(other, ".git"), join(dir, ".git"));
      },
    ],
    ["the repository is gone", async (dir: string) => rm(join(dir, ".git"), { recursive: true })],
    [
      "the refs are a link",
      async (dir: string, other: string) => {
        await rm(join(dir, ".git", "refs"), { recursive: true });
        await symlink(join(other, ".git", "refs"), join(dir, ".git", "refs"));
      },
    ],
    [
      "objects are borrowed from another repository",
      async (dir: string, other: string) => {
        await writeFile(join(dir, ".git", "objects", "info", "alternates"), `${join(other, ".git", "objects")}\n`);
      },
    ],
  ])("S12: %s: it is not used, its files are kept, nothing elsewhere changes", async (_name, ruin) => {
    const given = await bench();
    const other = await makeRepository(join(given.dir, "other"));
    const before = userGit(other, "for-each-ref");
    const workspace = await openAt(given);
    await writeFile(join(workspace.dir, "half.txt"), "half\n");
    await ruin(workspace.dir, other);
    expect(await given.workspaces.head(workspace)).toBe(null);
    expect(await given.workspaces.publish?.(workspace, "r1")).toMatchObject({ error: { code: "workspace_damaged" } });
    const closed = valueOf(await given.workspaces.close(workspace, "r1"));
    expect(userGit(given.project, "show", `${closed.pinned}:half.txt`)).toBe("half");
    expect(userGit(other, "for-each-ref")).toBe(before);
    expect(userGit(other, "status", "--porcelain")).toBe("");
    expect(await readdir(given.root)).toEqual([]);
  });

  test("S12: a root or a clone that is a link is refused", async () => {
    const given = await bench();
    await mkdir(given.root, { recursive: true, mode: 0o700 });
    await symlink(given.project, join(given.root, "r1"));
    const open = () => given.workspaces.open({ runId: "r1", project: given.project, branch: "feat/a" });
    expect(await open()).toMatchObject({ error: { code: "workspace_is_a_link" } });
    await rm(given.root, { recursive: true });
    await symlink(given.project, given.root);
    expect(await open()).toMatchObject({ error: { code: "workspace_is_a_link" } });
    expect(userGit(given.project, "status", "--porcelain")).toBe("");
  });

  test.each(["--upload-pack=touch x", "feat/$(id)", "../x", "refs/heads/x", "a..b", "-x"])(
    "S13: the branch name %s is refused before git hears of it",
    async (branch) => {
      const given = await bench();
      expect(await given.workspaces.open({ runId: "r1", project: given.project, branch })).toMatchObject({
        error: { code: "invalid_branch" },
      });
    },
  );
});

test("the clone knows who commits and where the project's remote is", async () => {
  const given = await bench();
  userGit(given.project, "remote", "add", "origin", "https://example.org/app.git");
  const workspace = await openAt(given);
  expect(userGit(workspace.dir, "config", "user.name")).toBe("Ada");
  expect(userGit(workspace.dir, "remote", "get-url", "origin")).toBe("https://example.org/app.git");
});

test("objects are copied, not linked", async () => {
  const given = await bench();
  const workspace = await openAt(given);
  const { statSync } = await import("node:fs");
  const names = (
    await readdir(join(workspace.dir, ".git", "objects"), { recursive: true, withFileTypes: true })
  ).filter((entry) => entry.isFile());
  expect(names.length).toBeGreaterThan(0);
  for (const entry of names) expect(statSync(join(entry.parentPath, entry.name)).nlink).toBe(1);
});
