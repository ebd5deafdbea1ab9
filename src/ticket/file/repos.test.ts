import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownRepoNames, repoRule } from "./repos.ts";

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "passrail-repos-"));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

function setOrigin(url: string, folder = join(project, ".git")): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "config"),
    `[core]\n\tbare = false\n[remote "fork"]\n\turl = https://host/else/where\n[remote "origin"]\n\turl = ${url}\n`,
  );
}

test("a project without a remote is called by its folder", () => {
  expect(ownRepoNames(project)).toEqual([basename(project), "."]);
  const allows = repoRule(project, {});
  expect([basename(project), ".", "other", "", "https://github.com/acme/shop"].map(allows)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test.each(["https://github.com/acme/shop.git", "git@github.com:acme/shop.git", "ssh://git@github.com/acme/shop"])(
  "the origin %s gives the project its name, and any way to reach it is the same",
  (url) => {
    setOrigin(url);
    expect(ownRepoNames(project)[0]).toBe("acme/shop");
    const allows = repoRule(project, {});
    for (const repo of ["acme/shop", "Acme/Shop", "https://github.com/acme/shop", "git@github.com:acme/shop"])
      expect(allows(repo)).toBe(true);
    for (const repo of ["https://evil.example/acme/shop", "acme/other", "shop", "else/where", "file:///acme/shop"])
      expect(allows(repo)).toBe(false);
  },
);

test("a worktree has the remote of its repository", () => {
  const common = join(project, "main.git");
  setOrigin("https://github.com/acme/shop", common);
  mkdirSync(join(common, "worktrees", "w"), { recursive: true });
  writeFileSync(join(common, "worktrees", "w", "commondir"), "../..\n");
  writeFileSync(join(project, ".git"), `gitdir: ${join(common, "worktrees", "w")}\n`);
  expect(ownRepoNames(project)[0]).toBe("acme/shop");
});

test("others are named in settings", () => {
  const allows = repoRule(project, { api: "/srv/api" });
  expect(allows("api")).toBe(true);
  expect(allows("/srv/api")).toBe(false);
});
