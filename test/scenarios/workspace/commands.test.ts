// Workspaces from the command line: a run in a clone, what it leaves when it is kept, and cleaning.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { type Bench, openBench } from "../cli/bench.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
afterEach(() => bench.remove());

const git = (...args: string[]) => execFileSync("git", ["-C", bench.project, ...args], { encoding: "utf8" }).trim();
const FLOW = `flow: small
version: 1
subject: thing
allow_ungated: true
workspace: { mode: sandbox, per: stage, branch: "feat/small" }
defaults: { result: { from: exit-code } }
words: { unknown_verdict: pass, health: { "0": complete }, unknown_health: failed }
stages:
  - { id: build, agent: builder }
  - { id: check, agent: builder }
`;

function openProject(settings: object): void {
  bench = openBench();
  mkdirSync(join(bench.project, ".passrail", "flows"), { recursive: true });
  mkdirSync(join(bench.project, ".passrail", "agents"), { recursive: true });
  writeFileSync(join(bench.project, ".passrail", "flows", "small.yaml"), FLOW);
  writeFileSync(join(bench.project, ".passrail", "agents", "builder.md"), "---\nname: builder\n---\nYou build.\n");
  writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify(settings));
}

const run = (...more: string[]) => {
  const agent = join(bench.dir, "agent.sh");
  writeFileSync(agent, '#!/bin/sh\ncat > /dev/null\necho "$PASSRAIL_STAGE" >> made.txt\n', { mode: 0o755 });
  return bench.passrail(["run", "small", "Do it", "--agent", `*=${agent}`, ...more]);
};

test("R-004-67: what a flow calls a sandbox is what the settings say; the work is on the project's branch", async () => {
  openProject({ workspaces: { sandbox: "clone" } });
  const ended = await run();
  expect(ended).toMatchObject({ code: 0 });
  expect(git("show", "feat/small:made.txt")).toBe("build\ncheck");
  expect(git("worktree", "list").split("\n")).toHaveLength(1);
  expect(readdirSync(join(bench.home, "clones"))).toEqual([]);
  expect(await bench.passrail(["workspace", "list", "--json"])).toMatchObject({
    code: 0,
    out: expect.stringContaining('"workspaces": []'),
  });
});

test("kept workspaces are listed with their run, and cleaned after they are pinned; --dry-run removes nothing", async () => {
  openProject({ workspaces: { keep: true } });
  expect((await run("--workspace", "worktree")).code).toBe(0);
  const listed = JSON.parse((await bench.passrail(["workspace", "list", "--json"])).out) as {
    workspaces: { key: string; state: string; runId: string; dir: string }[];
  };
  expect(listed.workspaces.map(({ state }) => state)).toEqual(["orphaned", "orphaned"]);
  const folders = listed.workspaces.map(({ dir }) => dir);
  expect((await bench.passrail(["workspace", "clean", "--dry-run"])).code).toBe(0);
  expect(folders.every((folder) => existsSync(folder))).toBe(true);
  const cleaned = await bench.passrail(["workspace", "clean"]);
  expect(cleaned.code).toBe(0);
  expect(cleaned.out).toContain(`refs/passrail/keep/${listed.workspaces[0]?.runId}`);
  expect(folders.some((folder) => existsSync(folder))).toBe(false);
  expect(git("worktree", "list").split("\n")).toHaveLength(1);
});

test("a store that cannot be read stops the cleaning, and nothing is removed", async () => {
  openProject({ workspaces: { keep: true } });
  expect((await run("--workspace", "clone")).code).toBe(0);
  const before = readdirSync(join(bench.home, "clones"));
  for (const name of readdirSync(bench.home).filter((file) => file.startsWith("passrail.db")))
    writeFileSync(join(bench.home, name), "this is no database, and never was one\n".repeat(200));
  const cleaned = await bench.passrail(["workspace", "clean"]);
  expect(cleaned.code).not.toBe(0);
  expect(readdirSync(join(bench.home, "clones"))).toEqual(before);
});

test("a kind of workspace that cannot be had is refused before anything is stored", async () => {
  openProject({});
  const ended = await run("--workspace", "docker");
  expect(ended.code).not.toBe(0);
  expect((await bench.passrail(["runs", "list", "--json"])).out).not.toContain("small");
});
