// A git repository with one commit, as most tests need it. Git makes one of each kind before the first test (build-program.ts); the others
// are copies of its files, because three processes each cost more than many a test.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./build-once.ts";

export const TEMPLATES: string = join(ROOT, "node_modules/.cache/passrail/repositories");

/** What its only commit has, by path. */
const FILES = {
  "with-file": { "README.md": "# project\n" },
  "with-folders": { ".gitignore": "*.log\n", "a.txt": "one\n", "packages/app/b.txt": "bee\n" },
  empty: {},
} as const satisfies Record<string, Readonly<Record<string, string>>>;

export type NewRepository = keyof typeof FILES;

/** The folder `project` in the given one, on the branch main. */
export function newRepository(dir: string, kind: NewRepository = "with-file"): string {
  const project = join(dir, "project");
  copyRepository(kind, project);
  return project;
}

/** The same in this folder, which may be there already. */
export function copyRepository(kind: NewRepository, project: string): void {
  const template = join(TEMPLATES, kind);
  // Benchmarks open a workbench, too, and nothing was made before them.
  if (!existsSync(template)) return makeRepository(project, kind);
  cpSync(template, project, { recursive: true });
  showToIndex(project, Object.keys(FILES[kind]));
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
  for (const kind of Object.keys(FILES) as NewRepository[]) makeRepository(join(folder, kind), kind);
}

function makeRepository(project: string, kind: NewRepository): void {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { cwd: project });
  execFileSync("git", ["init", "-q", "-b", "main", project]);
  // Samples that nobody reads, half of all files.
  rmSync(join(project, ".git", "hooks"), { recursive: true, force: true });
  mkdirSync(join(project, ".git", "hooks"));
  for (const [path, text] of Object.entries(FILES[kind])) {
    mkdirSync(join(project, path, ".."), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  git("add", "-A");
  git("commit", "-q", "--allow-empty", "-m", "first");
}

/**
 * The index knows each file by the times and numbers that the file system gave it. Those of the copy take their place, as after `git add`;
 * otherwise each git that looks would have to read the files.
 */
function showToIndex(project: string, paths: readonly string[]): void {
  const file = join(project, ".git", "index");
  if (paths.length === 0) return;
  const index = readFileSync(file);
  const second = 1_000_000_000n;
  for (const path of paths) {
    const seen = statSync(join(project, path), { bigint: true });
    const times = [seen.ctimeNs / second, seen.ctimeNs % second, seen.mtimeNs / second, seen.mtimeNs % second];
    // Times, device and inode begin an entry, 62 bytes before its path; the mode and what follows stay.
    const at = index.indexOf(`${path}\0`) - 62;
    [...times, seen.dev, seen.ino].forEach((value, field) =>
      index.writeUInt32BE(Number(value & 0xff_ff_ff_ffn), at + 4 * field),
    );
  }
  const content = index.subarray(0, -20);
  writeFileSync(file, Buffer.concat([content, createHash("sha1").update(content).digest()]));
}
