// Old files go, and nothing that is still needed: real runs in a real repository, with the days moved.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCommitOf } from "../../../src/app/commit-of.ts";
import { readDiskUse } from "../../../src/app/retention/disk-note.ts";
import { prune, type Pruned, type PruneOptions } from "../../../src/app/retention/prune.ts";
import { openSweep } from "../../../src/app/retention/sweep.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { onlyStages } from "../../harness/custom-flow.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

const DAY = 86_400_000;
/** One stage that builds, and no gate. */
const BUILD = onlyStages("feature", ["build"]);
const builds = (name: string) => ({
  build: [{ via: "json-tail", verdict: "COMPLETE", write: { [`${name}.txt`]: name }, commit: true }],
});

let bench: Workbench;
let landed: Run;
let unmerged: Run;
let waiting: Run;
const folderOf = (run: Run): string => join(bench.home, "runs", run.id);

beforeAll(async () => {
  bench = await openWorkbench();
  landed = await bench.run(BUILD, builds("one"), { subject: "F-1" });
  unmerged = await bench.run(BUILD, builds("two"), { subject: "F-2" });
  waiting = await bench.run("feature", {}, { subject: "F-3" });
  const branch = execFileSync(
    "git",
    ["for-each-ref", "--format=%(refname:short)", "--contains", tipOf(await attemptTo(landed)), "refs/heads"],
    { cwd: bench.project, encoding: "utf8" },
  ).trim();
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", "merge", "-q", "--no-edit", branch], {
    cwd: bench.project,
  });
});
afterAll(() => bench.close());

async function attemptTo(run: Run): Promise<unknown> {
  return (await bench.passrail.store.attempts(run.id)).at(-1)?.facts["to"];
}

function tipOf(commit: unknown): string {
  if (typeof commit !== "string") throw new Error("the attempt left no commit");
  return commit;
}

function options(change: Partial<PruneOptions> = {}): PruneOptions {
  const { store } = bench.passrail;
  return {
    home: bench.home,
    store,
    commitOf: createCommitOf(store),
    rules: { files: { ageMs: 30 * DAY, count: null, bytes: null }, logs: { ageMs: 30 * DAY }, runs: { ageMs: null } },
    now: () => new Date(Date.now() + 31 * DAY).toISOString(),
    dryRun: false,
    ...change,
  };
}

const runsOf = ({ files, kept }: Pruned) => ({
  gone: files.map(({ runId }) => runId),
  kept: kept.map(({ runId }) => runId),
});

describe("prune", () => {
  test("the runs are as the others expect them", () => {
    expect([landed.status, unmerged.status, waiting.status]).toEqual(["completed", "completed", "waiting"]);
  });

  test("removes nothing before its time, and nothing in a dry run", async () => {
    const young = await prune(options({ now: () => new Date(Date.now() + 29 * DAY).toISOString() }));
    expect(runsOf(young)).toEqual({ gone: [], kept: [] });
    const dry = await prune(options({ dryRun: true }));
    expect(runsOf(dry)).toEqual({ gone: [landed.id], kept: [unmerged.id] });
    expect(dry.bytes).toBeGreaterThan(0);
    expect(existsSync(join(folderOf(landed), "build-1", "prompt.md"))).toBe(true);
  });

  test("keeps what has not landed and what has not ended, whatever its size and number", async () => {
    const rules = { files: { ageMs: null, count: 1, bytes: 1 }, logs: { ageMs: null }, runs: { ageMs: DAY } };
    const dry = await prune(options({ rules, dryRun: true }));
    expect(runsOf(dry)).toEqual({ gone: [landed.id], kept: [unmerged.id] });
    expect(dry.runs).toEqual([landed.id]);
  });

  test("removes the files of landed work, leaves a note, and the run can still be shown and verified", async () => {
    const pruned = await prune(options());
    expect(runsOf(pruned)).toEqual({ gone: [landed.id], kept: [unmerged.id] });
    expect(readdirSync(folderOf(landed))).toEqual(["removed.json"]);
    expect(JSON.parse(readFileSync(join(folderOf(landed), "removed.json"), "utf8"))).toMatchObject({ because: "age" });
    expect(existsSync(join(folderOf(unmerged), "build-1", "prompt.md"))).toBe(true);
    expect((await bench.load(landed.id)).status).toBe("completed");
    expect(runsOf(await prune(options()))).toEqual({ gone: [], kept: [unmerged.id] });
  });

  test("goes on where a crash cut it off", async () => {
    mkdirSync(join(folderOf(landed), "build-1"));
    writeFileSync(join(folderOf(landed), "build-1", "output.log"), "left");
    await prune(options());
    expect(readdirSync(folderOf(landed))).toEqual(["removed.json"]);
  });

  test("results of stages that nobody has used for long go, and a dry run only counts them", async () => {
    const folder = join(bench.home, "memo", "ab");
    mkdirSync(folder, { recursive: true });
    for (const name of ["old", "used"]) writeFileSync(join(folder, `${name}.json`), "{}");
    const used = (Date.now() + 20 * DAY) / 1000;
    utimesSync(join(folder, "used.json"), used, used);
    expect((await prune(options({ dryRun: true }))).memos).toMatchObject({ count: 1 });
    expect(readdirSync(folder)).toHaveLength(2);
    const { memos, bytes } = await prune(options());
    expect(memos.count).toBe(1);
    expect(bytes).toBeGreaterThanOrEqual(memos.bytes);
    expect(readdirSync(folder)).toEqual(["used.json"]);
  });

  test("a link in the place of a run's folder is not followed", async () => {
    const away = join(bench.dir, "away");
    mkdirSync(away);
    writeFileSync(join(away, "dear.txt"), "dear");
    rmSync(folderOf(landed), { recursive: true });
    symlinkSync(away, folderOf(landed));
    await prune(options());
    expect(readdirSync(away)).toEqual(["dear.txt"]);
    rmSync(folderOf(landed));
  });

  test("folders of runs that the store does not know stay: it may be an older copy of the store", async () => {
    const unknown = join(bench.home, "runs", "r0000000000", "build-1");
    mkdirSync(unknown, { recursive: true });
    await prune(options());
    expect(existsSync(unknown)).toBe(true);
  });

  test("the sweep of the daemon does the same, removes old copies of logs, says so, and measures the disk", async () => {
    const logs = join(bench.home, "logs", "AGI-7");
    mkdirSync(logs, { recursive: true });
    writeFileSync(join(logs, "implement.log"), "old");
    const old = (Date.now() - 40 * DAY) / 1000;
    utimesSync(join(logs, "implement.log"), old, old);
    const lines: string[] = [];
    let fire = (): void => undefined;
    const sweep = openSweep({
      ...options(),
      log: (line) => lines.push(line),
      onError: (error) => lines.push(String(error)),
      every: (_first, _then, look) => {
        fire = look;
        return () => undefined;
      },
    });
    fire();
    await sweep.look();
    await sweep.close();
    expect(lines).toEqual([expect.stringMatching(/^retention: removed the logs of AGI-7 \(/u)]);
    expect(existsSync(logs)).toBe(false);
    const use = readDiskUse(bench.home);
    expect(use?.store).toBeGreaterThan(0);
    expect(use?.files).toBeGreaterThan(0);
  });

  test("runs go with their events when the user says so, never those of work that has not landed", async () => {
    const rules = { ...options().rules, runs: { ageMs: 30 * DAY } };
    const { runs } = await prune(options({ rules }));
    expect(runs).toEqual([landed.id]);
    expect(await bench.passrail.store.loadRun(landed.id)).toBeUndefined();
    expect(await bench.passrail.store.loadRun(unmerged.id)).toBeDefined();
    expect(await bench.passrail.store.verify()).toEqual([]);
  });
});
