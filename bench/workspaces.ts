// The overhead of a workspace over git: a worktree of ours beside a plain `git worktree add`, in turns, on one repository.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkspaces } from "../src/workspace/providers.ts";
import { inFolder, median, ratio, type Row, sample } from "./measure.ts";

const FILES = 10_000;
const FOLDERS = 200;
const ROUNDS = 5;

export async function measureWorkspaces(base: string): Promise<Row[]> {
  return inFolder(base, async (dir) => {
    const project = makeRepository(join(dir, "project"));
    const home = join(dir, "home");
    mkdirSync(home, { mode: 0o700 });
    const workspaces = createWorkspaces({ home, settings: { sandbox: "worktree" }, environment: process.env });
    const plain: number[] = [];
    const ours: number[] = [];
    const clones: number[] = [];
    const opened = async (mode: "worktree" | "clone", runId: string): Promise<void> => {
      const made = await workspaces(mode).open({ runId, project, branch: `feat/${runId}` });
      if (!made.ok) throw new Error(made.error.message);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const folder = join(dir, `plain-${round}`);
      const add = () => git(project, "worktree", "add", "--quiet", "-b", `plain-${round}`, folder);
      plain.push((await sample(() => void add())).wallMs);
      ours.push((await sample(() => opened("worktree", `r${round}`))).wallMs);
      clones.push((await sample(() => opened("clone", `c${round}`))).wallMs);
    }
    const ms = (values: readonly number[]): string => `${Math.round(median(values))} ms`;
    return [
      {
        name: "a worktree against git worktree add",
        value: ratio(ours, plain),
        unit: "x",
        limit: { is: "at most", value: 1.2 },
        note: `${ms(plain)} and ${ms(ours)}, ${FILES} files`,
      },
      { name: "a clone against git worktree add", value: ratio(clones, plain), unit: "x", note: ms(clones) },
    ];
  });
}

function makeRepository(dir: string): string {
  for (let folder = 0; folder < FOLDERS; folder++) mkdirSync(join(dir, `f${folder}`), { recursive: true });
  for (let file = 0; file < FILES; file++)
    writeFileSync(join(dir, `f${file % FOLDERS}`, `${file}.txt`), `line of file ${file}\n`.repeat(100));
  git(dir, "init", "--quiet", "--initial-branch=main");
  git(dir, "add", "--all");
  git(dir, "-c", "gc.auto=0", "-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "--quiet", "-m", "files");
  // The state of a repository after some use.
  git(dir, "gc", "--quiet");
  return dir;
}

function git(dir: string, ...args: string[]): string {
  return execFileSync("git", ["-C", dir, ...args], { encoding: "utf8" });
}
