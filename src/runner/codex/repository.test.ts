import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readInstructions, readRepository } from "./repository.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "passrail-codex-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...names: string[]): string => join(folder, ...names);
const git = (cwd: string, ...args: string[]): void => {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
  execFileSync("git", [...identity, ...args], { cwd, stdio: "ignore" });
};

describe("where git writes", () => {
  beforeEach(() => {
    mkdirSync(at("repo"));
    git(at("repo"), "init", "--initial-branch=main");
    git(at("repo"), "commit", "--allow-empty", "-m", "first");
    git(at("repo"), "worktree", "add", at("tree"));
  });

  test("a worktree's own folder and the shared objects, but neither hooks nor settings", () => {
    expect(readRepository(at("tree"))).toEqual({
      gitFolders: [at("repo/.git/worktrees/tree"), at("repo/.git/objects"), at("repo/.git/refs"), at("repo/.git/logs")],
      projects: [at("tree"), at("repo")],
    });
  });

  test("a checkout's .git", () => {
    expect(readRepository(at("repo"))).toEqual({ gitFolders: [at("repo/.git")], projects: [at("repo")] });
  });

  test("a pointer that was bent opens nothing", () => {
    mkdirSync(at("private/worktrees/x"), { recursive: true });
    writeFileSync(at("private/worktrees/x/commondir"), "../..\n");
    writeFileSync(at("tree/.git"), `gitdir: ${at("private/worktrees/x")}\n`);
    expect(readRepository(at("tree")).gitFolders).toEqual([]);
    writeFileSync(at("tree/.git"), "gitdir: /\n");
    expect(readRepository(at("tree")).gitFolders).toEqual([]);
    writeFileSync(at("tree/.git"), "x".repeat(100_000));
    expect(readRepository(at("tree")).gitFolders).toEqual([]);
  });

  test("no repository, no folders", () => {
    mkdirSync(at("plain"));
    expect(readRepository(at("plain"))).toEqual({ gitFolders: [], projects: [at("plain")] });
  });
});

describe("instructions", () => {
  test("from the top of the repository down; an override takes the place of its neighbour", () => {
    mkdirSync(at("repo/.git"), { recursive: true });
    mkdirSync(at("repo/sub"));
    writeFileSync(at("AGENTS.md"), "OUTSIDE");
    writeFileSync(at("repo/AGENTS.md"), "TOP");
    writeFileSync(at("repo/sub/AGENTS.md"), "HIDDEN");
    writeFileSync(at("repo/sub/AGENTS.override.md"), "SUB");
    const text = readInstructions(at("repo/sub")) ?? "";
    expect(text.indexOf("TOP")).toBeGreaterThan(0);
    expect(text.indexOf("SUB")).toBeGreaterThan(text.indexOf("TOP"));
    expect(text).not.toMatch(/OUTSIDE|HIDDEN/);
    expect(text).toContain(`# AGENTS.md instructions for ${at("repo")}`);
  });

  test("none, a folder of that name, and a link that leads outside give none", () => {
    mkdirSync(at("w"));
    expect(readInstructions(at("w"))).toBeNull();
    writeFileSync(at("secret"), "SECRET");
    symlinkSync(at("secret"), at("w/AGENTS.md"));
    expect(readInstructions(at("w"))).toBeNull();
    mkdirSync(at("w/AGENTS.override.md"));
    expect(readInstructions(at("w"))).toBeNull();
  });

  test("no more than 32 KiB", () => {
    mkdirSync(at("w"));
    writeFileSync(at("w/AGENTS.md"), "x".repeat(200_000));
    expect(readInstructions(at("w"))?.length).toBeLessThan(33_000);
  });
});
