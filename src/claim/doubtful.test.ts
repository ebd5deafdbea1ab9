// Words and files of a worker that nobody should trust: bounded, in order, never outside of their place, and commits only as agreed.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { observedThere } from "../core/worker/observed.ts";
import { fromWorkerSchema, type FromWorker, WORKER_PROTOCOL } from "../core/worker/wire.ts";
import { newRepository } from "../../test/harness/new-repository.ts";
import { bundleCommits, takeBundle, workRef } from "../git/carried-commits.ts";
import { createClaim } from "./claim.ts";
import { statedFacts } from "./facts.ts";
import { openIncoming } from "./incoming.ts";
import { choosePlace } from "./place.ts";
import { openRecordFiles } from "./record.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-doubtful-")));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a message of another shape, of an unknown kind or too large is none", () => {
  const file = { type: "file", name: "output.log", offset: 0, replace: false, data: "" };
  const good: readonly unknown[] = [file, { type: "gave-up", why: "" }];
  for (const each of good) expect(fromWorkerSchema.safeParse(each).success).toBe(true);
  const bad: readonly unknown[] = [
    { type: "approve", item: 1 },
    { ...file, name: "../../keys.json" },
    { ...file, name: "result/../report.json" },
    { ...file, offset: -1 },
    { ...file, data: "x".repeat(600_000) },
    { type: "observed", event: { type: "limits", uses: [{ share: 99, window: "all", resetsAt: null }] } },
    { type: "observed", event: { type: "tool.called", id: "1", name: "Bash", input: { a: 1 } } },
    { type: "report", report: {}, tip: "HEAD", work: null, problem: null },
    { type: "gave-up", why: "x".repeat(2001) },
  ];
  for (const each of bad) expect(fromWorkerSchema.safeParse(each).success).toBe(false);
});

test("of its session a worker passes on what hooks need; the use of its own login is only a sign of life", () => {
  const called = { type: "tool.called", id: "1", name: "Bash", input: "{}" } as const;
  expect(observedThere(called)).toEqual(called);
  expect(observedThere({ type: "limits" })).toEqual({ type: "unknown", name: "limits" });
});

test("facts about processes and folders of another machine are dropped", () => {
  const process = { pid: 1, startTime: "1" };
  expect(statedFacts({ exitCode: 0, process, workspace: "/etc", carrier: { id: "x" } })).toEqual({ exitCode: 0 });
  expect(statedFacts({ process })).toBeNull();
  expect(statedFacts({ detail: "x".repeat(300_000) })).toBeNull();
});

test("messages count once and in order; behind a gap and after the end none counts", async () => {
  const taken: number[] = [];
  const claim = createClaim({ id: "c", worker: "box", key: "k" }, { onSend() {}, onReport() {} });
  const heard = (number: number): FromWorker => ({ type: "heard", number, way: "now" });
  expect(await claim.take(1, [heard(1)])).toBe(0);
  claim.serve(async (message) => void (message.type === "heard" && taken.push(message.number)));
  expect(await claim.take(1, [heard(1), heard(2)])).toBe(2);
  expect(await claim.take(1, [heard(1), heard(2), heard(3)])).toBe(3);
  expect(await claim.take(5, [heard(5)])).toBe(3);
  claim.end({ type: "lost", why: "silent" });
  expect(await claim.take(4, [heard(4)])).toBe(3);
  expect(taken).toEqual([1, 2, 3]);
});

test("the record is written in its folder only: no path, no link, not the node's own report, no gap", () => {
  const record = join(dir, "runs", "r", "build-1");
  mkdirSync(join(record, "result"), { recursive: true });
  const files = openRecordFiles(dir, record);
  const part = (name: string, text: string, offset = 0) => ({ name, offset, replace: false, data: Buffer.from(text) });
  expect(files.write(part("output.log", "one"))).toBeNull();
  expect(files.write(part("output.log", "two", 3))).toBeNull();
  expect(files.write(part("output.log", "late", 100))).toBe(6);
  expect(readFileSync(join(record, "output.log"), "utf8")).toBe("onetwo");
  files.write(part("../../../escaped", "x"));
  files.write(part("report.json", "{}"));
  expect([existsSync(join(dir, "escaped")), existsSync(join(record, "report.json"))]).toEqual([false, false]);
  writeFileSync(join(dir, "outside"), "mine");
  symlinkSync(join(dir, "outside"), join(record, "events.jsonl"));
  expect(files.write(part("events.jsonl", "theirs"))).toBeNull();
  expect(readFileSync(join(dir, "outside"), "utf8")).toBe("mine");
});

test("commits are taken if the bundle has the one agreed ref, whole, and builds on the commit of the order", async () => {
  const repository = join(dir, "project");
  const git = (at: string, ...args: readonly string[]): string =>
    execFileSync("git", ["-C", at, "-c", "user.name=a", "-c", "user.email=a@b", ...args], { encoding: "utf8" }).trim();
  execFileSync("git", ["init", "-q", repository]);
  git(repository, "commit", "-q", "--allow-empty", "-m", "one");
  const from = git(repository, "rev-parse", "HEAD");
  const there = join(dir, "there");
  execFileSync("git", ["clone", "-q", repository, there]);
  git(there, "commit", "-q", "--allow-empty", "-m", "two");
  const tip = git(there, "rev-parse", "HEAD");
  git(there, "checkout", "-q", "--orphan", "foreign");
  git(there, "commit", "-q", "--allow-empty", "-m", "unrelated");
  const foreign = git(there, "rev-parse", "HEAD");
  const ref = workRef("r1", "build", 1);

  const take = async (commit: string, sent: string, name = ref) => {
    const file = join(dir, "sent.bundle");
    rmSync(file, { force: true });
    expect(
      await bundleCommits({ repository: join(there, ".git"), ref: name, commit: sent, known: [], file }),
    ).toMatchObject({ ok: true });
    const incoming = openIncoming(dir, "c");
    incoming.write(0, readFileSync(file));
    return incoming.take({ repository: join(repository, ".git"), ref, from, tip: commit, work: commit });
  };
  const head = git(repository, "rev-parse", "HEAD");
  expect(await take(tip, tip, "refs/heads/main")).toMatchObject({ ok: false, error: { code: "commits_refused" } });
  expect(await take(tip, foreign)).toMatchObject({ ok: false, error: { code: "commits_refused" } });
  expect(await take(foreign, foreign)).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("do not build on") },
  });
  const incoming = openIncoming(dir, "torn");
  incoming.write(0, readFileSync(join(dir, "sent.bundle")).subarray(0, 60));
  expect(await incoming.take({ repository: join(repository, ".git"), ref, from, tip, work: tip })).toMatchObject({
    ok: false,
  });
  expect(git(repository, "for-each-ref", "--format=%(refname)", "refs/heads").split("\n")).toHaveLength(1);
  expect(git(repository, "rev-parse", "HEAD")).toBe(head);
  expect(await take(tip, tip)).toEqual({ ok: true, value: null });
  expect(git(repository, "rev-parse", ref)).toBe(tip);
});

test("commits are taken while the worktree of another attempt is being removed", async () => {
  const repository = newRepository(dir);
  const there = join(dir, "there");
  execFileSync("git", ["clone", "-q", repository, there]);
  const commitThere = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "two"];
  execFileSync("git", ["-C", there, ...commitThere]);
  const commit = execFileSync("git", ["-C", there, "rev-parse", "HEAD"], { encoding: "utf8" }).trim();
  const [ref, file] = [workRef("r1", "build", 1), join(dir, "sent.bundle")];
  await bundleCommits({ repository: join(there, ".git"), ref, commit, known: [], file });
  // Half of it is gone: git reads where its repository is and misses the folder.
  const half = join(repository, ".git", "worktrees", "other");
  mkdirSync(half, { recursive: true });
  writeFileSync(join(half, "gitdir"), `${join(dir, "other", ".git")}\n`);
  writeFileSync(join(half, "HEAD"), "ref: refs/heads/other\n");
  writeFileSync(join(half, "commondir"), "../gone/../..\n");
  const fetch = ["-C", repository, "fetch", "-q", file, `${ref}:refs/tried`];
  expect(() => execFileSync("git", fetch, { stdio: "pipe" })).toThrow("Invalid path");
  const taken = takeBundle({ repository: join(repository, ".git"), ref, commit, file });
  setTimeout(() => rmSync(half, { recursive: true }), 150);
  expect(await taken).toEqual({ ok: true, value: null });
});

test("a place is chosen by labels, by the setting, and by where the session of the stage is", () => {
  const seat = (name: string, labels: readonly string[] = []) => ({
    name,
    labels: [...labels],
    instance: "",
    version: "1",
    protocol: WORKER_PROTOCOL,
    slots: 2,
    startedAt: "",
  });
  const open = [
    { seat: seat("small"), free: 1 },
    { seat: seat("large", ["gpu"]), free: 2 },
    { seat: seat("full", ["gpu"]), free: 0 },
  ];
  const choose = (
    labels: readonly string[],
    place: "here-first" | "workers-first" | "workers-only",
    more: object = {},
  ) => {
    const wish = { runId: "r", stage: "build", key: "k", labels, mayMove: true, ...more };
    const chosen = choosePlace(wish, { open, place, isFreeHere: true, last: undefined, ...more });
    return chosen === undefined || chosen === "here" ? chosen : chosen.name;
  };
  expect(choose([], "here-first")).toBe("here");
  expect(choose([], "here-first", { isFreeHere: false })).toBe("large");
  expect(choose([], "here-first", { last: "small" })).toBe("small");
  expect(choose([], "workers-first")).toBe("large");
  expect(choose(["gpu"], "here-first")).toBe("large");
  expect(choose(["arm"], "here-first")).toBeUndefined();
  expect(choose(["gpu"], "workers-first", { mayMove: false })).toBe("here");
});
