import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withProjectKeys } from "./project-keys.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-keys-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const TEXT =
  'ANTHROPIC_API_KEY="from file"\nDAYTONA_API_KEY=d\nGITHUB_TOKEN=g\nPATH=/evil\nNODE_OPTIONS=--require=/evil\nMERGE_MODE=pr\n';

test("R-004-62: keys come from the environment, else from .env; nothing else of the file is taken", () => {
  writeFileSync(join(dir, ".env"), TEXT);
  expect(withProjectKeys({ PATH: "/bin", DAYTONA_API_KEY: "own" }, dir, dir)).toEqual({
    PATH: "/bin",
    DAYTONA_API_KEY: "own",
    ANTHROPIC_API_KEY: "from file",
    GITHUB_TOKEN: "g",
    MERGE_MODE: "pr",
  });
});

test("without the file, or with one that is a link or too large, the environment stays as it is", () => {
  const environment = { PATH: "/bin" };
  expect(withProjectKeys(environment, dir, null)).toBe(environment);
  writeFileSync(join(dir, "elsewhere"), TEXT);
  symlinkSync("elsewhere", join(dir, ".env"));
  expect(withProjectKeys(environment, dir, null)).toBe(environment);
  rmSync(join(dir, ".env"));
  writeFileSync(join(dir, ".env"), `${TEXT}${"#".repeat(70_000)}`);
  expect(withProjectKeys(environment, dir, null)).toBe(environment);
});

test("keys that a repository brings are not used", () => {
  writeFileSync(join(dir, ".env"), TEXT);
  execFileSync("git", ["init", "-q", dir]);
  const environment = { PATH: "/bin" };
  expect(withProjectKeys(environment, dir, null)).not.toBe(environment);
  execFileSync("git", ["-C", dir, "add", ".env"]);
  expect(withProjectKeys(environment, dir, null)).toBe(environment);
});
