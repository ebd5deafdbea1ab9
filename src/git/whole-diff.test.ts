import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Run } from "../core/run/run.ts";
import { createRedaction } from "../core/secrets/redaction.ts";
import { wholeDiff } from "./whole-diff.ts";

const { text: redact } = createRedaction([{ name: "DB_PASSWORD", value: "known-but-shapeless" }]);
let dir: string;
const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { encoding: "utf8" });
const runIn = (project: string) => ({ facts: { config: { project } } }) as unknown as Run;

function commit(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  git("add", "-A");
  git("commit", "-q", "-m", name);
  return git("rev-parse", "HEAD").trim();
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-whole-"));
  git("init", "-q");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("it holds every commit between the two, and nothing that is not committed", async () => {
  const from = commit("a.txt", "one\n");
  commit("b.txt", "two\n");
  const to = commit("c.txt", "three\n");
  writeFileSync(join(dir, "d.txt"), "four\n");
  const diff = await wholeDiff(runIn(dir), from, to, redact);
  expect(diff).toContain("+++ b/b.txt");
  expect(diff).toContain("+++ b/c.txt");
  expect(diff).not.toContain("a.txt");
  expect(diff).not.toContain("d.txt");
});

test("what looks like a key is taken out, as it is from the diffs of attempts", async () => {
  const from = commit("a.txt", "one\n");
  const key = ["ghp", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"].join("_");
  const diff = await wholeDiff(runIn(dir), from, commit("b.txt", `token = ${key}\n`), redact);
  expect(diff).toContain("b.txt");
  expect(diff).not.toContain(key);
});

test("a repository cannot make it run programs", async () => {
  const from = commit("a.txt", "one\n");
  writeFileSync(join(dir, ".git", "info", "attributes"), "* diff=evil\n");
  git("config", "diff.external", `touch ${join(dir, "ran")}`);
  git("config", "diff.evil.textconv", `touch ${join(dir, "ran")}; cat`);
  const to = git("rev-parse", "HEAD").trim();
  writeFileSync(join(dir, "a.txt"), "two\n");
  execFileSync("git", ["-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qam", "x"]);
  expect(await wholeDiff(runIn(dir), to, git("rev-parse", "HEAD").trim(), redact)).toContain("+two");
  expect(from).toBe(to);
  expect(execFileSync("ls", [dir], { encoding: "utf8" })).not.toContain("ran");
});

test.each(["--output=x", "main", "", "0".repeat(40)])("%j is no commit of it, and that is said", async (name) => {
  const to = commit("a.txt", "one\n");
  expect(await wholeDiff(runIn(dir), name, to, redact)).toMatch(/^\[passrail: the diff could not be made: /);
});
