import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMirrorRepository } from "./mirror-repository.ts";

let dir: string;
let commonDir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-courier-")));
  commonDir = join(dir, "project.git");
  execFileSync("git", ["init", "-q", "--bare", commonDir]);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const headOf = (gitDir: string): string =>
  execFileSync("git", ["--git-dir", gitDir, "rev-parse", "--is-bare-repository"], { encoding: "utf8" }).trim();

test("many that come first at the same time get one whole repository, and nothing is left beside it", async () => {
  const opened = await Promise.all(Array.from({ length: 8 }, () => openMirrorRepository(dir, commonDir)));
  const [first] = opened.map((each) => (each.ok ? each.value : undefined));
  expect(opened.every((each) => each.ok)).toBe(true);
  expect(headOf(first?.gitDir ?? "")).toBe("true");
  expect(readdirSync(first?.folder ?? "")).toEqual(["courier.git"]);
});

test("one that a crash left in pieces is made anew", async () => {
  const opened = await openMirrorRepository(dir, commonDir);
  const { gitDir } = opened.ok ? opened.value : { gitDir: "" };
  rmSync(join(gitDir, "HEAD"));
  expect((await openMirrorRepository(dir, commonDir)).ok).toBe(true);
  expect(headOf(gitDir)).toBe("true");
});
