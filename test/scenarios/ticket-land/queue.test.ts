// The merge queue on a real remote: on top of the newest target, checked there, one at a time, and repeatable at every step.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Forge } from "../../../src/forge/forge.ts";
import { openForge } from "../../../src/forge/open.ts";
import { openRunners } from "../../../src/runner/open.ts";
import type { CachedCheck } from "../../../src/core/flow/check-result.ts";
import { ok, type Result } from "../../../src/core/result.ts";
import { type MergeCheck, runChecks } from "../../../src/ticket/land/checks.ts";
import { landWork, type QueueOptions } from "../../../src/ticket/land/queue.ts";
import type { OutwardLog } from "../../../src/attempt/outward-log.ts";
import { inTurn } from "../../../src/forge/in-turn.ts";
import { createActing } from "../../../src/ticket/land/act.ts";
import { newRepositories, type Repositories } from "./repositories.ts";

/** Nobody cancels anything here. */
const PERMITTED: OutwardLog = { intend: async () => ({ type: "granted" }), see: async () => undefined };

describe.each([true, false])("with a remote: %j", (remote) => {
  let repositories: Repositories;
  let forge: Forge;
  let checked: string[];
  beforeEach(async () => {
    repositories = newRepositories({ remote });
    const { home, project } = repositories;
    const environment = { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_GLOBAL: "/dev/null" };
    const opened = await openForge({
      home,
      project,
      environment,
      own: [],
      settings: { forge: "auto", remote: "origin" },
    });
    if (!opened.ok) throw new Error(opened.error.message);
    forge = opened.value;
    checked = [];
    // Where the target lives in the project itself it is checked out there; a person works elsewhere.
    if (!remote) repositories.git("switch", "-q", "--detach");
  });
  afterEach(() => repositories.close());

  const passed = ok<MergeCheck>({ type: "passed", results: [] });
  const options = (more: Partial<QueueOptions> = {}): QueueOptions => ({
    act: createActing(PERMITTED, "land", 1),
    tried: [],
    forge,
    project: repositories.project,
    strategy: "rebase",
    folder: join(repositories.home, "forge", "trees"),
    check: async (dir) => {
      checked.push(
        readdirSync(dir)
          .filter((name) => name !== ".git")
          .join(" "),
      );
      return passed;
    },
    ...more,
  });
  const work = (commit: string, branch = "feat/AGI-1", runId = "r1") => ({ runId, branch, commit, target: "main" });
  const main = (): string => repositories.there("rev-parse", "refs/heads/main");
  const files = (): string => repositories.there("ls-tree", "--name-only", "main").split("\n").join(" ");
  const trees = (): readonly string[] => {
    const folder = join(repositories.home, "forge", "trees");
    return existsSync(folder) ? readdirSync(folder) : [];
  };

  test("work that is on top already lands as it is", async () => {
    const commit = repositories.commit("feat/AGI-1", { "a.txt": "1" });
    expect(await landWork(work(commit), options())).toMatchObject({
      ok: true,
      value: { type: "landed", commit, how: "fast-forward" },
    });
    expect(main()).toBe(commit);
    expect(trees()).toEqual([]);
  });

  test.each(["rebase", "merge"] as const)(
    "by %s it comes on top of what landed meanwhile, and is checked there",
    async (strategy) => {
      const commit = repositories.commit("feat/AGI-1", { "a.txt": "1" });
      const theirs = repositories.somebody("main", { "theirs.txt": "x" });
      repositories.plant();
      const landed = await landWork(work(commit), options({ strategy }));
      expect(landed).toMatchObject({ ok: true, value: { type: "landed", how: strategy } });
      expect(checked).toEqual(["README.md a.txt theirs.txt"]);
      expect(files()).toBe("README.md a.txt theirs.txt");
      expect(repositories.there("rev-list", "--count", `${theirs}..main`)).toBe(strategy === "rebase" ? "1" : "2");
      expect(repositories.there("log", "-1", "--format=%an", strategy === "rebase" ? "main" : commit)).toBe("t");
      expect(repositories.traces()).toEqual([]);
      expect(trees()).toEqual([]);
    },
  );

  test("work that holds merges is not flattened", async () => {
    repositories.commit("feat/AGI-0", { "before.txt": "0" });
    const one = repositories.commit("feat/AGI-1", { "a.txt": "1" });
    const merged = repositories.git("commit-tree", `${one}^{tree}`, "-p", one, "-p", "feat/AGI-0", "-m", "with AGI-0");
    repositories.git("update-ref", "refs/heads/feat/AGI-1", merged);
    repositories.somebody("main", { "theirs.txt": "x" });
    expect(await landWork(work(merged), options())).toMatchObject({ ok: true, value: { how: "merge" } });
    expect(repositories.there("merge-base", "--is-ancestor", merged, "main")).toBe("");
  });

  test("a conflict names its files, and nothing is half-done", async () => {
    const commit = repositories.commit("feat/AGI-1", { "a.txt": "mine", "dir/b.txt": "mine" });
    const theirs = repositories.somebody("main", { "a.txt": "theirs", "dir/b.txt": "theirs" });
    for (const strategy of ["rebase", "merge"] as const) {
      expect(await landWork(work(commit), options({ strategy }))).toEqual({
        ok: true,
        value: { type: "conflict", files: ["a.txt", "dir/b.txt"] },
      });
    }
    expect(main()).toBe(theirs);
    expect(checked).toEqual([]);
    expect(trees()).toEqual([]);
  });

  test("a check that fails on the merged tree keeps the work out", async () => {
    const commit = repositories.commit("feat/AGI-1", { "a.txt": "1" });
    const before = main();
    const failed: MergeCheck = {
      results: [],
      type: "failed",
      command: "npm test",
      why: "ended with exit code 1",
      excerpt: "1 failed",
    };
    expect(await landWork(work(commit), options({ check: async () => ok(failed) }))).toMatchObject({
      ok: true,
      value: { type: "failed-check", command: "npm test", excerpt: "1 failed" },
    });
    expect(main()).toBe(before);
    expect(trees()).toEqual([]);
  });

  test("a target that moves while it is checked is tried again, and checked again", async () => {
    const commit = repositories.commit("feat/AGI-1", { "a.txt": "1" });
    let times = 0;
    const check = async (dir: string) => {
      checked.push(
        readdirSync(dir)
          .filter((name) => name !== ".git")
          .join(" "),
      );
      if (times++ < 2) repositories.somebody("main", { [`theirs-${times}.txt`]: "x" });
      return passed;
    };
    expect(await landWork(work(commit), options({ check }))).toMatchObject({ ok: true, value: { how: "rebase" } });
    expect(checked).toEqual([
      "README.md a.txt",
      "README.md a.txt theirs-1.txt",
      "README.md a.txt theirs-1.txt theirs-2.txt",
    ]);
    expect(files()).toBe("README.md a.txt theirs-1.txt theirs-2.txt");
  });

  test("a target that never stands still is given up after five tries", async () => {
    const commit = repositories.commit("feat/AGI-1", { "a.txt": "1" });
    const check = async () => {
      checked.push("x");
      repositories.somebody("main", { [`theirs-${checked.length}.txt`]: "x" });
      return passed;
    };
    expect(await landWork(work(commit), options({ check }))).toMatchObject({
      ok: false,
      error: { code: "target_moved" },
    });
    expect(checked).toHaveLength(5);
    expect(files()).not.toContain("a.txt");
    expect(trees()).toEqual([]);
  });

  test("after a crash behind the push the landed commit is found, also where it was rebased and others came on top", async () => {
    const commit = repositories.commit("feat/AGI-1", { "a.txt": "1" });
    repositories.somebody("main", { "theirs.txt": "x" });
    const dying: Forge = {
      ...forge,
      async land(request) {
        await forge.land(request);
        throw new Error("killed");
      },
    };
    await expect(landWork(work(commit), options({ forge: dying }))).rejects.toThrow("killed");
    const landed = main();
    repositories.somebody("main", { "later.txt": "x" });
    expect(await landWork(work(commit), options())).toEqual({
      ok: true,
      value: { type: "landed", commit: landed, how: "already", checks: [] },
    });
    expect(repositories.there("rev-list", "--count", "main")).toBe("4");
  });

  test("after a crash before the push it is done again from the start", async () => {
    const commit = repositories.commit("feat/AGI-1", { "a.txt": "1" });
    const dying: Forge = { ...forge, land: () => Promise.reject(new Error("killed")) };
    await expect(landWork(work(commit), options({ forge: dying }))).rejects.toThrow("killed");
    expect(await landWork(work(commit), options())).toMatchObject({ ok: true, value: { how: "fast-forward" } });
    expect(main()).toBe(commit);
  });

  test("pieces of work of one repository come one after the other, and all of them land", async () => {
    const commits = [1, 2, 3].map((n) =>
      repositories.commit(`feat/AGI-${n}`, { [`${n}.txt`]: String(n) }, repositories.git("rev-parse", "main")),
    );
    let now = 0;
    const check = async () => {
      expect(++now).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      return passed;
    };
    const landed = await Promise.all(
      commits.map((commit, index) =>
        inTurn("one", () => landWork(work(commit, `feat/AGI-${index + 1}`, `r${index}`), options({ check }))),
      ),
    );
    expect(landed.map((each) => each.ok && each.value.type)).toEqual(["landed", "landed", "landed"]);
    expect(files()).toBe("1.txt 2.txt 3.txt README.md");
  });
});

describe("a local target that is checked out", () => {
  let repositories: Repositories;
  afterEach(() => repositories.close());

  async function land(own: readonly string[] = []) {
    const { home, project } = repositories;
    const opened = await openForge({
      home,
      project,
      environment: process.env,
      own,
      settings: { forge: "auto", remote: "origin" },
    });
    if (!opened.ok) throw new Error(opened.error.message);
    const commit = repositories.commit("feat/AGI-1", { "a.txt": "1" });
    const check = async (): Promise<Result<MergeCheck>> => ok({ type: "passed", results: [] });
    const folder = join(home, "trees");
    return landWork(
      { runId: "r1", branch: "feat/AGI-1", commit, target: "main" },
      {
        act: createActing(PERMITTED, "land", 1),
        tried: [],
        forge: opened.value,
        project,
        strategy: "rebase",
        folder,
        check,
      },
    );
  }

  test("is moved with its files where nothing is in the way", async () => {
    repositories = newRepositories({ remote: false });
    expect(await land()).toMatchObject({ ok: true, value: { type: "landed" } });
    expect(readFileSync(join(repositories.project, "a.txt"), "utf8")).toBe("1");
    expect(repositories.git("status", "--porcelain")).toBe("");
  });

  test("is left alone where somebody has changes that are not committed, and the command is named", async () => {
    repositories = newRepositories({ remote: false });
    const { writeFileSync } = await import("node:fs");
    writeFileSync(join(repositories.project, "README.md"), "# half-done\n");
    const before = repositories.git("rev-parse", "main");
    expect(await land()).toMatchObject({
      ok: false,
      error: { code: "target_in_use", hint: expect.stringContaining("merge --ff-only") },
    });
    expect(repositories.git("rev-parse", "main")).toBe(before);
    expect(readFileSync(join(repositories.project, "README.md"), "utf8")).toBe("# half-done\n");
  });

  test("is moved beside changes that are our own: the tickets' files", async () => {
    repositories = newRepositories({ remote: false });
    const { mkdirSync, writeFileSync } = await import("node:fs");
    mkdirSync(join(repositories.project, "feature_requests"));
    writeFileSync(join(repositories.project, "feature_requests", "x.md"), "one");
    repositories.git("add", "-A");
    repositories.git("commit", "-qm", "tickets");
    writeFileSync(join(repositories.project, "feature_requests", "x.md"), "two");
    expect(await land(["feature_requests"])).toMatchObject({ ok: true, value: { type: "landed" } });
    expect(readFileSync(join(repositories.project, "feature_requests", "x.md"), "utf8")).toBe("two");
  });
});

describe("checks", () => {
  let repositories: Repositories;
  beforeEach(() => {
    repositories = newRepositories({ remote: false });
  });
  afterEach(() => repositories.close());
  const kept = new Map<string, CachedCheck>();
  const environment = { PATH: process.env["PATH"] ?? "", MY_TOKEN: "s3cret-of-the-project" };
  const runners = openRunners(environment, { programs: {}, passEnvironment: [] });
  afterAll(() => runners.desk.close());
  const run = async (commands: readonly (readonly string[])[], more: { timeoutMs?: number } = {}) => {
    const checked = await runChecks({
      commands,
      dir: repositories.project,
      commit: repositories.git("rev-parse", "HEAD").trim(),
      place: {},
      timeoutMs: more.timeoutMs ?? 20_000,
      logFolder: repositories.dir,
      marker: "test/queue",
      by: { runId: "r1", stage: "land", attempt: 1 },
      ports: {
        runners,
        findCached: async (key) => kept.get(key),
        saveCached: async (check) => void kept.set(check.key, check),
        now: () => new Date().toISOString(),
        signal: new AbortController().signal,
      },
    });
    if (!checked.ok) throw new Error(checked.error.message);
    return checked.value;
  };
  const node = (code: string): readonly string[] => [process.execPath, "-e", code];

  test("pass when every program ends with 0; the others are not started after a failure", async () => {
    expect(await run([node("0"), node("1")])).toMatchObject({ type: "passed" });
    const failed = await run([node("process.exit(3)"), node("require('fs').writeFileSync('ran', '')")]);
    expect(failed).toMatchObject({ type: "failed", why: "ended with exit code 3" });
    expect(existsSync(join(repositories.project, "ran"))).toBe(false);
  });

  test("the last sixty lines are told, without colours and secrets, and the whole is kept in a file", async () => {
    const code =
      "for (let i = 1; i <= 100; i++) console.log('\\u001b[31mline ' + i + '\\u001b[0m'); console.error('token s3cret-of-the-project'); process.exit(1)";
    const failed = await run([node(code)]);
    if (failed.type !== "failed") throw new Error("it passed");
    const lines = failed.excerpt.split("\n");
    expect(lines.length).toBeLessThanOrEqual(60);
    expect(lines).toContain("line 100");
    expect(failed.excerpt).not.toContain("line 10\n");
    expect(failed.excerpt).toContain("token ");
    expect(failed.excerpt).not.toContain("s3cret-of");
    expect(failed.excerpt).not.toContain("\u001b");
    const log = readFileSync(join(repositories.dir, "check-merge-1.log"), "utf8");
    expect(log).toContain("line 1");
    expect(log).not.toContain("s3cret-of");
  });

  test("a merged tree that was checked before is not checked again", async () => {
    const log = join(repositories.dir, "ran");
    const command = node(`require("fs").appendFileSync(${JSON.stringify(log)}, "x")`);
    await run([command]);
    const again = await run([command]);
    expect(again).toMatchObject({ type: "passed", results: [{ cached: { runId: "r1", stage: "land" } }] });
    expect(readFileSync(log, "utf8")).toBe("x");
  });

  test("a program that never ends is ended with everything it started", async () => {
    const pids = join(repositories.dir, "pid");
    const code = `const { spawn } = require("child_process"); const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" }); require("fs").writeFileSync(${JSON.stringify(pids)}, String(child.pid)); setInterval(() => {}, 1e6)`;
    const failed = await run([node(code)], { timeoutMs: 1500 });
    expect(failed).toMatchObject({ type: "failed", why: expect.stringContaining("took longer") });
    const pid = Number(readFileSync(pids, "utf8"));
    const isGone = (): boolean => {
      try {
        return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
      } catch {
        return true;
      }
    };
    await expect.poll(isGone, { timeout: 5000 }).toBe(true);
  });

  test("a program that is not there is a failure with its name", async () => {
    expect(await run([["no-such-program-here"]])).toMatchObject({ type: "failed", command: "no-such-program-here" });
  });
});
