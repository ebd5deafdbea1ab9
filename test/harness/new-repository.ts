// A git repository with one commit, as most tests need it. Git makes one of each kind before the first test (build-program.ts); the others
// are copies of its files, because three processes each cost more than many a test.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./build-once.ts";

export const TEMPLATES: string = join(ROOT, "node_modules/.cache/passrail/repositories");

/** Its only commit has the file README.md, or nothing. */
export type NewRepository = "with-file" | "empty";

const FILE = "README.md";

/** The folder `project` in the given one, on the branch main. */
export function newRepository(dir: string, kind: NewRepository = "with-file"): string {
  const project = join(dir, "project");
  const template = join(TEMPLATES, kind);
  // Benchmarks open a workbench, too, and nothing was made before them.
  if (!existsSync(template)) {
    makeRepository(project, kind);
    return project;
  }
  cpSync(template, project, { recursive: true });
  if (kind === "with-file") showToIndex(project);
  return project;
}

/** A bare remote with what the project has; the project calls it origin. */
export function newRemote(project: string, bare: string): void {
  cpSync(join(project, ".git"), bare, { recursive: true });
  rmSync(join(bare, "index"), { force: true });
  configure(bare, "core", { bare: "true" });
  configure(join(project, ".git"), 'remote "origin"', { url: bare, fetch: "+refs/heads/*:refs/remotes/origin/*" });
}

/** Adds to a repository's settings, as `git config` does with a process for each. */
export function configure(gitDir: string, section: string, values: Readonly<Record<string, string>>): void {
  const lines = Object.entries(values).map(([key, value]) => `\t${key} = ${JSON.stringify(value)}`);
  appendFileSync(join(gitDir, "config"), `[${section}]\n${lines.join("\n")}\n`);
}

export function makeTemplates(folder: string): void {
  makeRepository(join(folder, "empty"), "empty");
  makeRepository(join(folder, "with-file"), "with-file");
}

function makeRepository(project: string, kind: NewRepository): void {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { cwd: project });
  execFileSync("git", ["init", "-q", "-b", "main", project]);
  // Samples that nobody reads, half of all files.
  rmSync(join(project, ".git", "hooks"), { recursive: true, force: true });
  mkdirSync(join(project, ".git", "hooks"));
  if (kind === "with-file") writeFileSync(join(project, FILE), "# project\n");
  git("add", "-A");
  git("commit", "-q", "--allow-empty", "-m", "first");
}

/**
 * The index knows its only file by the times and numbers that the file system gave it. Those of the copy take their place, as after `git add`;
 * otherwise each git that looks would have to read the file.
 */
function showToIndex(project: string): void {
  const file = join(project, ".git", "index");
  const index = readFileSync(file);
  const seen = statSync(join(project, FILE), { bigint: true });
  const second = 1_000_000_000n;
  const times = [seen.ctimeNs / second, seen.ctimeNs % second, seen.mtimeNs / second, seen.mtimeNs % second];
  // After the head of 12 bytes: times, device and inode; then the mode, which stays.
  [...times, seen.dev, seen.ino].forEach((value, at) =>
    index.writeUInt32BE(Number(value & 0xff_ff_ff_ffn), 12 + 4 * at),
  );
  const content = index.subarray(0, -20);
  writeFileSync(file, Buffer.concat([content, createHash("sha1").update(content).digest()]));
}
