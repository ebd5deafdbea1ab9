// The pins of one run, made by several who end at once.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newRepository } from "../../test/harness/new-repository.ts";
import { pinCommit } from "./pin.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-pin-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("tracks that end at once all get their work pinned, whoever comes first", async () => {
  const project = newRepository(dir);
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", project, ...args], { encoding: "utf8" }).trim();
  const person = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
  const commits = ["a", "b", "c", "d"].map((name) =>
    git(...person, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", name),
  );
  const pinned = await Promise.all(commits.map((commit) => pinCommit(join(project, ".git"), "r1", commit)));
  expect(pinned.map(({ ok }) => ok)).toEqual([true, true, true, true]);
  const kept = git("for-each-ref", "--format=%(objectname)", "refs/passrail/keep").split("\n");
  expect(kept.toSorted()).toEqual(commits.toSorted());
});
