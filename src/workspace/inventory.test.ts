import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { cleanWorkspaces, findWorkspaces, type InventoryOptions, type Owner } from "./inventory.ts";
import { createWorkspaces } from "./providers.ts";
import { makeRepository, removeTempDirs, tempDir, userGit, valueOf } from "./workspace.testsuite.ts";

afterEach(removeTempDirs);

async function bench(owners: Readonly<Record<string, Owner>>) {
  const dir = await tempDir();
  const project = await makeRepository(join(dir, "project"));
  const home = join(dir, "home");
  await mkdir(home, { mode: 0o700 });
  const workspaces = createWorkspaces({ home, settings: { sandbox: "worktree" }, environment: process.env });
  const options: InventoryOptions = {
    home,
    workspaces,
    ownerOf: async (runId) => owners[runId] ?? "unknown",
    remembered: async () => null,
  };
  const open = async (mode: "worktree" | "clone", runId: string) =>
    valueOf(await workspaces(mode).open({ runId, project, branch: `feat/${runId}` }));
  return { project, home, options, open };
}

test("live, dirty, orphaned and stray workspaces are told apart; only what nobody owns is removed, after its work is pinned", async () => {
  const { project, home, options, open } = await bench({ rlive: "live", rended: "ended" });
  const live = await open("worktree", "rlive");
  const clean = await open("worktree", "rended");
  const dirty = await open("clone", "rgone");
  await writeFile(join(dirty.dir, "half.txt"), "half\n");
  await mkdir(join(home, "worktrees", "rstray"));
  const found = await findWorkspaces(options);
  expect(Object.fromEntries(found.map(({ key, state, owner }) => [key, [state, owner]]))).toEqual({
    rlive: ["live", "live"],
    rended: ["orphaned", "ended"],
    rgone: ["dirty", "unknown"],
    rstray: ["stray", "unknown"],
  });
  expect(found.find(({ key }) => key === "rgone")).toMatchObject({ mode: "clone", bytes: expect.any(Number) });
  const cleaned = await cleanWorkspaces(options, found);
  expect(cleaned.map(({ key, result }) => [key, result.ok])).toEqual([
    ["rended", true],
    ["rgone", true],
    ["rstray", false],
  ]);
  expect(existsSync(live.dir)).toBe(true);
  expect(existsSync(clean.dir)).toBe(false);
  expect(existsSync(dirty.dir)).toBe(false);
  expect(existsSync(join(home, "worktrees", "rstray"))).toBe(true);
  expect(userGit(project, "show", "refs/passrail/keep/rgone:half.txt")).toBe("half");
  expect((await findWorkspaces(options)).map(({ key }) => key)).toEqual(["rlive", "rstray"]);
});

test("a run that is taken up between looking and cleaning keeps its workspace", async () => {
  const owners: Record<string, Owner> = { r1: "ended" };
  const { options, open } = await bench(owners);
  const workspace = await open("worktree", "r1");
  const found = await findWorkspaces(options);
  owners["r1"] = "live";
  await cleanWorkspaces(options, found);
  expect(existsSync(workspace.dir)).toBe(true);
});

test("when the store cannot be asked, nothing is deleted", async () => {
  const { options, open } = await bench({});
  const workspace = await open("worktree", "r1");
  const found = await findWorkspaces(options);
  const broken = { ...options, ownerOf: () => Promise.reject(new Error("the disk is gone")) };
  await expect(findWorkspaces(broken)).rejects.toThrow("the disk is gone");
  await expect(cleanWorkspaces(broken, found)).rejects.toThrow("the disk is gone");
  expect(existsSync(workspace.dir)).toBe(true);
});

test("a worktree that a person locked is kept, and the reason is said", async () => {
  const { project, options, open } = await bench({});
  const workspace = await open("worktree", "r1");
  userGit(project, "worktree", "lock", "--reason", "mine", workspace.dir);
  const [cleaned] = await cleanWorkspaces(options, await findWorkspaces(options));
  expect(cleaned?.result).toMatchObject({ ok: false, error: { code: "workspace_locked" } });
  expect(existsSync(workspace.dir)).toBe(true);
});
