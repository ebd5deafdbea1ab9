import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadCatalog } from "../catalog/catalog.ts";
import { shippedDir } from "../settings/site.ts";
import type { Run } from "../core/run/run.ts";
import { transition } from "../core/run/transition.ts";
import { commitOf, createCommitOf } from "./commit-of.ts";

let dir = "";
let project = "";
const path = process.env["PATH"] ?? "";

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-commit-"));
  project = join(dir, "project");
  mkdirSync(project);
  git("init", "-q", "-b", "main");
  for (const name of ["first", "second"]) {
    git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "--allow-empty", "-m", name);
  }
  git("branch", "passrail/r1", "main~1");
  git("branch", "passrail/r2", "main");
});

afterEach(() => {
  process.env["PATH"] = path;
  rmSync(dir, { recursive: true, force: true });
});

test("each run has the commit of its own branch, or of the project, or none, however many ask at once", async () => {
  const [head = "", before = ""] = git("rev-parse", "main", "main~1").split("\n");
  const runs = ["r1", "r2", "gone", "r2\nHEAD", "r1"].map((id) => runOf(id, "worktree"));
  const inPlace = runOf("r9", "in-place");
  const elsewhere = runOf("r1", "worktree", join(dir, "nowhere"));
  const ask = createCommitOf(store);
  const wanted = [before, head, null, null, before, head, null];
  expect(await Promise.all([...runs, inPlace, elsewhere].map(ask))).toEqual(wanted);
  expect(await Promise.all([...runs, inPlace, elsewhere].map((run) => commitOf(store, run)))).toEqual(wanted);
});

test("a hundred runs of one project cost no git, and whoever asks later gets what is true then", async () => {
  const log = countGit();
  const ask = createCommitOf(store);
  const runs = Array.from({ length: 100 }, (_, at) => runOf(`r${at}`, "worktree"));
  const found = await Promise.all(runs.map(ask));
  expect(found.filter((commit) => commit !== null)).toHaveLength(2);
  expect(existsSync(log)).toBe(false);
  git("branch", "-f", "passrail/r1", "main");
  expect(await ask(runOf("r1", "worktree"))).toBe(found[2]);
});

const resolved = loadCatalog({ shippedDir }).resolve("feature");
if (!resolved.ok) throw new Error("the shipped flow is broken");
const { value } = resolved;
const store = { loadFlow: async () => value };

function runOf(id: string, workspace: "worktree" | "in-place", folder = project): Run {
  return transition(value.flow, undefined, {
    type: "run.requested",
    id: "s",
    at: "2026-01-01T00:00:00.000Z",
    actor: "human:tester",
    runId: id,
    flowHash: value.hash,
    subject: { id: "T-1", title: "A title", body: "" },
    facts: { config: { project: folder, workspace } },
  }).run;
}

function git(...args: readonly string[]): string {
  return execFileSync("git", ["-C", project, ...args], {
    encoding: "utf8",
    env: { ...process.env, PATH: path },
  }).trim();
}

/** The code under test adds a line to this file each time it starts git. */
function countGit(): string {
  const bin = join(dir, "bin");
  const log = join(dir, "starts");
  mkdirSync(bin);
  writeFileSync(join(bin, "git"), `#!/bin/sh\necho git >> '${log}'\nPATH='${path}' exec git "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  process.env["PATH"] = `${bin}:${path}`;
  return log;
}
