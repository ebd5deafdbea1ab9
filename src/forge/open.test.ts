// A project's forge is opened by several landings at once, in this process and in others.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newRepositories, type Repositories } from "../../test/scenarios/ticket-land/repositories.ts";
import { openForge } from "./open.ts";
import { bringHome } from "./bring-home.ts";
import { keepAddress } from "./remote-address.ts";

let repositories: Repositories;
beforeEach(() => {
  repositories = newRepositories({ remote: true });
});
afterEach(() => repositories.close());

const open = () =>
  openForge({
    home: repositories.home,
    project: repositories.project,
    environment: { PATH: process.env["PATH"], HOME: repositories.dir },
    own: [],
    settings: { forge: "auto", remote: "origin" },
  });

test("S14, R-004-46: the first landings of a project open its forge at once, and none of them fails", async () => {
  const opened = await Promise.all(Array.from({ length: 12 }, open));
  expect(opened.filter(({ ok }) => !ok)).toEqual([]);
});

test("S14: two processes may keep the address at once; the first one counts, and no draft stays", async () => {
  const folder = join(repositories.home, "forge", "x");
  const kept = await Promise.all(Array.from({ length: 12 }, () => keepAddress(folder, "/a/remote.git")));
  expect(kept.every(({ ok }) => ok)).toBe(true);
  expect(readdirSync(folder)).toEqual(["address"]);
  expect(await keepAddress(folder, "/another/remote.git")).toMatchObject({
    ok: false,
    error: { code: "remote_changed" },
  });
});

/** As `git worktree add` leaves it for a moment. */
function registerHalf(): () => void {
  const folder = join(repositories.project, ".git", "worktrees", "half");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "HEAD"), `${"0".repeat(40)}\n`);
  writeFileSync(join(folder, "commondir"), "../..\n");
  writeFileSync(join(folder, "gitdir"), "/nowhere/.git\n");
  return () => rmSync(folder, { recursive: true });
}

test("R-004-46: a work tree that is being registered does not turn a landing into a person's task", async () => {
  const commit = repositories.somebody("main", { "theirs.txt": "x" });
  const commonDir = join(repositories.project, ".git");
  const finish = registerHalf();
  const brought = bringHome(commonDir, repositories.bare, commit);
  setTimeout(finish, 100);
  expect(await brought).toEqual({ ok: true, value: null });
  expect(repositories.git("cat-file", "-t", commit)).toBe("commit");
});

test("R-004-46: a repository that stays busy is a passing fault with a name of its own", async () => {
  const commit = repositories.somebody("main", { "theirs.txt": "x" });
  const finish = registerHalf();
  const brought = await bringHome(join(repositories.project, ".git"), repositories.bare, commit);
  finish();
  expect(brought).toMatchObject({ ok: false, error: { code: "repository_busy" } });
});
