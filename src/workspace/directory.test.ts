import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDirectoryWorkspaces } from "./directory.ts";
import { createRepositoryGuard } from "./repository-guard.ts";
import { makeRepository, tempDir, userGit, valueOf, workspacesSuite } from "./workspace.testsuite.ts";

workspacesSuite("in place", async () => {
  const dir = await tempDir();
  const workspaces = createDirectoryWorkspaces(createRepositoryGuard(join(dir, "home")));
  return { dir, project: await makeRepository(join(dir, "project")), workspaces };
});

describe("the project folder as workspace", () => {
  const workspaces = createDirectoryWorkspaces(createRepositoryGuard("/nowhere"));

  test("works without git: no head, no diff, nothing to pin", async () => {
    const project = await tempDir();
    const workspace = valueOf(await workspaces.open({ runId: "r1", project }));
    expect(workspace).toEqual({ mode: "in-place", dir: project, lockKeys: [`dir:${project}`] });
    expect(await workspaces.head(workspace)).toBeNull();
    expect(await workspaces.diff(workspace, null)).toBe("");
    expect(await workspaces.close(workspace, "r1")).toEqual({ ok: true, value: { pinned: null, leftover: null } });
  });

  test("R-X-14: a project reached through a link has the same lock key", async () => {
    const dir = await tempDir();
    const project = await makeRepository(join(dir, "project"));
    await symlink(project, join(dir, "link"));
    const direct = valueOf(await workspaces.open({ runId: "r1", project }));
    const linked = valueOf(await workspaces.open({ runId: "r2", project: join(dir, "link") }));
    expect(linked.lockKeys).toEqual(direct.lockKeys);
  });

  test("a repository without a commit has no head, and its diff shows the files", async () => {
    const project = await tempDir();
    userGit(project, "init", "--quiet");
    await writeFile(join(project, "a.txt"), "one\n");
    const workspace = valueOf(await workspaces.open({ runId: "r1", project }));
    expect(await workspaces.head(workspace)).toBeNull();
    expect(await workspaces.diff(workspace, null)).toContain("+one");
  });

  test("closing leaves the folder and its uncommitted work", async () => {
    const project = await makeRepository(join(await tempDir(), "project"));
    const workspace = valueOf(await workspaces.open({ runId: "r1", project }));
    await writeFile(join(project, "a.txt"), "changed\n");
    expect(valueOf(await workspaces.close(workspace, "r1")).pinned).toBeNull();
    expect(userGit(project, "status", "--porcelain")).toBe("M a.txt");
  });
});
