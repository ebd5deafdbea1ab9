import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { looseSince } from "./sync-work.ts";
import { ASK_GIT } from "./plain-file.ts";

// Which objects are synced; that they are, and when, is proven by the system calls of a run (test/scenarios/engine/synced-handoffs.test.ts).
describe("the objects that new commits bring", () => {
  let top = "";
  const run = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", top, "-c", "user.name=a", "-c", "user.email=a@localhost", ...args], {
      encoding: "utf8",
    });
  const commit = (files: Readonly<Record<string, string>>): string => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(top, name, ".."), { recursive: true });
      writeFileSync(join(top, name), text);
    }
    run("add", "-A");
    run("commit", "-q", "--allow-empty", "-m", "work");
    return run("rev-parse", "HEAD").trim();
  };
  const told = (tip: string, since: string | null): readonly string[] => {
    const range = since === null ? [tip] : [tip, `^${since}`];
    return run("rev-list", "--objects", "--no-object-names", ...range)
      .trim()
      .split("\n")
      .toSorted();
  };
  const found = (tip: string, since: string | null): unknown => {
    const ids = looseSince(join(top, ".git"), tip, since);
    return ids === ASK_GIT ? "ask git" : [...ids].toSorted();
  };

  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), "passrail-sync-"));
    run("init", "-q");
  });
  afterEach(() => rmSync(top, { recursive: true, force: true }));

  test("are those that git lists", () => {
    const first = commit({ "a.txt": "a", "lib/b.txt": "b", "lib/deep/c.txt": "c" });
    expect(found(first, null)).toEqual(told(first, null));
    const second = commit({ "lib/deep/c.txt": "changed", "new/d.txt": "d" });
    const third = commit({ lib2: "a file", "a.txt": "something else" });
    expect(found(second, first)).toEqual(told(second, first));
    expect(found(third, first)).toEqual(told(third, first));
    rmSync(join(top, "lib"), { recursive: true });
    const replaced = commit({ lib: "a file where a folder was" });
    expect(found(replaced, third)).toEqual(told(replaced, third));
    expect(found(third, third)).toEqual([]);
  });

  test("without the packed ones, which git has synced", () => {
    const first = commit({ "a.txt": "a", "lib/b.txt": "b", "lib/same.txt": "same" });
    run("gc", "-q");
    const second = commit({ "lib/b.txt": "changed" });
    expect(found(second, first)).toEqual(told(second, first));
    run("gc", "-q");
    expect(found(second, first)).toEqual([]);
  });

  test("of a merge only git tells", () => {
    const first = commit({ "a.txt": "a" });
    run("switch", "-q", "-c", "side");
    commit({ "side.txt": "side" });
    run("switch", "-q", "-");
    commit({ "b.txt": "b" });
    run("merge", "-q", "-m", "merge", "side");
    expect(found(run("rev-parse", "HEAD").trim(), first)).toBe("ask git");
  });
});
