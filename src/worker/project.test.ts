// Which repository a worker uses for a project: the one that its operator named, or a clone of its own that gets its commits from the node.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newRepository } from "../../test/harness/new-repository.ts";
import { err } from "../core/result.ts";
import { bundleCommits } from "../git/carried-commits.ts";
import { createProjects, type ProjectOrder } from "./project.ts";

let dir: string;
let home: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-projects-")));
  home = join(dir, "home");
  mkdirSync(home);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const git = (at: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-C", at, ...args], { encoding: "utf8" }).trim();

function orderFor(commit: string): ProjectOrder {
  const committer = { name: "Ann", email: "ann@localhost" };
  return { project: { id: "p1", prefix: "", committer }, start: { commit }, job: { run: { id: "r1" } } };
}

const signal = new AbortController().signal;

test("a repository that the operator named is used as it is, and nothing is fetched that it has", async () => {
  const named = newRepository(dir);
  const commit = git(named, "rev-parse", "HEAD");
  const asked: string[] = [];
  const link = {
    fetchCommits: async (claim: string) => {
      asked.push(claim);
      return err({ code: "commits_missing", message: "nobody has them" });
    },
  };
  const projects = createProjects({ home, mapped: new Map([["p1", named]]), link, log: expect.unreachable });
  const opened = await projects.open("c1", orderFor(commit), signal);
  expect(opened).toMatchObject({ ok: true, value: { folder: named } });
  // It must not be collected while a run builds on it.
  expect(git(named, "rev-parse", "refs/passrail/base/r1")).toBe(commit);
  expect(asked).toEqual([]);
  expect(existsSync(join(home, "projects"))).toBe(false);
  expect(await projects.open("c2", orderFor("1".repeat(40)), signal)).toMatchObject({
    ok: false,
    error: { code: "commits_missing" },
  });
  expect(asked).toEqual(["c2"]);
});

test("without one the worker keeps a clone, with the project's committer and the commits that the node sends", async () => {
  const there = newRepository(dir);
  const commit = git(there, "rev-parse", "HEAD");
  const link = {
    fetchCommits: async (claim: string, known: readonly string[], file: string) =>
      bundleCommits({ repository: join(there, ".git"), ref: `refs/passrail/outgoing/${claim}`, commit, known, file }),
  };
  const said: string[] = [];
  const projects = createProjects({ home, mapped: new Map(), link, log: (line) => said.push(line) });
  const opened = await projects.open("c1", orderFor(commit), signal);
  const clone = join(home, "projects", "p1");
  expect(opened).toMatchObject({ ok: true, value: { folder: clone } });
  expect(said).toEqual([expect.stringContaining("--project p1=PATH")]);
  expect(git(clone, "rev-parse", "refs/passrail/base/r1")).toBe(commit);
  expect(git(clone, "config", "--local", "user.email")).toBe("ann@localhost");
});
