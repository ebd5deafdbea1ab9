// Source 002, complex flow: two tracks at once, each with its own checks; one tester for both.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { APPROVED, each, hands } from "../../harness/handoff-text.ts";
import { openWorkbench, resolveShipped, type Script, verdictsOf, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const CLEAN = ["Lint: 0 errors", "Tests: OK (3 tests)"];
const CHANGES = (finding: string, more: { blame?: string } = {}) =>
  hands({ verdict: "REQUEST_CHANGES", findings: [finding], ...more });
const BLOCKED = (gap: string) => hands({ verdict: "BLOCKED", gaps: [gap] });
const happy: Script = {
  "be-dev": [hands({ gates: CLEAN })],
  "be-dod": [APPROVED],
  "be-review": [APPROVED],
  "fe-dev": [hands({ gates: CLEAN })],
  "fe-dod": [APPROVED],
  "fe-review": [APPROVED],
  test: [APPROVED],
  "update-specs": [hands()],
};

async function build(script: Script, facts: JsonObject = {}): Promise<Run> {
  const run = await bench.run("build-plan-complex", script, { facts });
  await bench.answer(run, "gate", "approve");
  return bench.load(run.id);
}
const prompt = (run: Run, attempt: string) =>
  readFileSync(join(bench.home, "runs", run.id, attempt, "prompt.md"), "utf8");
const attemptsOf = (run: Run, ...stages: string[]) => stages.map((stage) => run.stages[stage]?.attempts ?? 0);

test("R-002-24: backend and frontend work at the same time", async () => {
  const mark = (name: string) => join(bench.dir, name);
  // Each developer says that it is there and ends only when the other has said so too: one after the other, neither would end.
  const meets = (own: string, other: string) => [hands({}, { write: { [mark(own)]: "here" }, hold: mark(other) })];
  const run = await build({ ...happy, "be-dev": meets("be", "fe"), "fe-dev": meets("fe", "be") });
  expect(run).toMatchObject({ status: "waiting", word: "merge question" });
  const attempts = await bench.passrail.store.attempts(run.id);
  const times = (stage: string) =>
    attempts.find((attempt) => attempt.stage === stage) as { startedAt: string; endedAt: string };
  expect(times("be-dev").startedAt < times("fe-dev").endedAt).toBe(true);
  expect(times("fe-dev").startedAt < times("be-dev").endedAt).toBe(true);
  expect(bench.errors).toEqual([]);
});

test("R-002-24: with one slot the tracks take turns and end the same", async () => {
  await bench.close();
  bench = await openWorkbench({ slots: 1 });
  const run = await build(happy);
  expect(run).toMatchObject({ word: "merge question" });
  expect(attemptsOf(run, ...Object.keys(happy))).toEqual(Object.keys(happy).map(() => 1));
});

test("R-002-25: each track has its own DoD-checker and reviewer, with a budget of its own", async () => {
  const script = {
    ...happy,
    ...each("be-review", CHANGES("b1"), CHANGES("b2"), APPROVED),
    ...each("fe-review", CHANGES("f1"), CHANGES("f2"), APPROVED),
    ...each("be-dod", BLOCKED("gap"), APPROVED),
  };
  const run = await build(script);
  expect(run).toMatchObject({ word: "merge question" });
  expect(attemptsOf(run, "be-dev", "be-dod", "be-review", "fe-dev", "fe-dod", "fe-review", "test")).toEqual([
    4, 4, 3, 3, 3, 3, 1,
  ]);
  expect(run.counters).toMatchObject({ "be.review": { loops: 2 }, "fe.review": { loops: 2 }, "be.dod": { loops: 1 } });
  expect(prompt(run, "be-dev-3")).toContain("- b1");
  expect(prompt(run, "fe-dev-2")).toContain("- f1");
  expect(prompt(run, "fe-dev-2")).not.toContain("- b1");
});

test("R-002-26: the tester runs once, after both tracks", async () => {
  const run = await build({ ...happy, ...each("fe-review", CHANGES("late"), APPROVED) });
  const stages = verdictsOf(await bench.events(run.id)).map((line) => line.split(":")[0]);
  expect(stages.filter((stage) => stage === "test")).toHaveLength(1);
  expect(stages.slice(-2)).toEqual(["test", "update-specs"]);
  expect(stages.lastIndexOf("be-review")).toBeLessThan(stages.indexOf("test"));
  expect(stages.lastIndexOf("fe-review")).toBeLessThan(stages.indexOf("test"));
});

test("R-002-26, R-002-27: an escalation on one side does not stop the other, and the tester waits until it is accepted", async () => {
  const run = await build({ ...happy, "be-review": [CHANGES("never good")] });
  expect(run).toMatchObject({
    status: "waiting",
    word: "ESCALATED",
    tracks: { fe: { at: "done" }, be: { at: "waiting" } },
  });
  expect(attemptsOf(run, "be-review", "fe-review", "test")).toEqual([3, 1, 0]);
  expect(openItems(run)).toMatchObject([{ kind: "escalation", stage: "be-review" }]);
  await bench.answer(run, "escalation", "accept-with-known-issues");
  expect(await bench.load(run.id)).toMatchObject({ word: "merge question", stages: { test: { attempts: 1 } } });
});

test("R-002-27: a track that is blocked waits alone; the other reaches the join", async () => {
  const run = await build({
    ...happy,
    ...each("fe-dev", hands({ status: "blocked", questions: ["Dark mode?"] }), hands()),
  });
  expect(run).toMatchObject({
    status: "waiting",
    word: "blocked",
    tracks: { be: { at: "done" }, fe: { at: "waiting" } },
  });
  expect(attemptsOf(run, "be-review", "test")).toEqual([1, 0]);
  await bench.answer(run, "question", "", "yes");
  expect(await bench.load(run.id)).toMatchObject({
    word: "merge question",
    stages: { test: { attempts: 1 }, "fe-dev": { attempts: 2 } },
  });
});

test("R-002-27: two tracks may wait for a person at once, each answered by itself", async () => {
  const run = await build({ ...happy, "be-review": [CHANGES("b")], "fe-review": [CHANGES("f")] });
  expect(
    openItems(run)
      .map((item) => item.stage)
      .sort(),
  ).toEqual(["be-review", "fe-review"]);
  await bench.answer(run, "escalation", "accept-with-known-issues");
  const half = await bench.load(run.id);
  expect(half).toMatchObject({ status: "waiting" });
  expect(attemptsOf(half, "test")).toEqual([0]);
  await bench.answer(half, "escalation", "accept-with-known-issues");
  expect(await bench.load(run.id)).toMatchObject({ word: "merge question" });
});

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
    cwd: bench.project,
    encoding: "utf8",
  });
const filesOf = (branch: string) => git("ls-tree", "-r", "--name-only", branch).trim().split("\n").sort();
const noted = async (run: Run, stage: string) =>
  (await bench.passrail.store.attempts(run.id)).findLast((attempt) => attempt.stage === stage)?.facts ?? {};

test("R-002-28: each track works in its own folder of its own worktree", async () => {
  for (const name of ["backend", "frontend"]) {
    mkdirSync(join(bench.project, name));
    writeFileSync(join(bench.project, name, "kept.txt"), "kept\n");
  }
  git("add", "-A");
  git("commit", "-q", "-m", "folders");
  const log = join(bench.dir, "log.jsonl");
  const dev = hands({}, { write: { "made.txt": "x" }, log });
  const facts = { plan: { backend_dir: "backend", frontend_dir: "frontend" } };
  const run = await build({ ...happy, "be-dev": [dev], "fe-dev": [dev], test: [{ ...APPROVED, log }] }, facts);
  expect(run).toMatchObject({ word: "merge question" });
  const lines = readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { stage: string; cwd: string });
  const cwd = (stage: string) => lines.find((line) => line.stage === stage)?.cwd ?? "";
  expect(cwd("be-dev")).toBe(`${cwd("test")}-t-be/backend`);
  expect(cwd("fe-dev")).toBe(`${cwd("test")}-t-fe/frontend`);
  expect(existsSync(join(cwd("test"), "made.txt"))).toBe(false);
  expect(existsSync(join(cwd("test"), "backend/made.txt"))).toBe(true);
});

test("R-002-28: each track has its own branch, diff and files; the join has both, and the tester sees them", async () => {
  const run = await build({
    ...happy,
    "be-dev": [hands({}, { write: { "api.txt": "be" }, commit: true })],
    "fe-dev": [hands({}, { write: { "page.txt": "fe" } })],
  });
  expect(run).toMatchObject({ word: "merge question", stages: { join: { attempts: 1 } } });
  const branch = `passrail/${run.id}`;
  expect(filesOf(`${branch}-be`)).toEqual(["README.md", "api.txt"]);
  expect(filesOf(`${branch}-fe`)).toEqual(["README.md", "page.txt"]);
  expect(filesOf(branch)).toEqual(["README.md", "api.txt", "page.txt"]);
  expect(await noted(run, "be-dev")).toMatchObject({ branch: `${branch}-be`, files: ["api.txt"] });
  expect(await noted(run, "fe-dev")).toMatchObject({ branch: `${branch}-fe`, files: ["page.txt"] });
  const diff = readFileSync(join(bench.home, "runs", run.id, "fe-dev-1/changes.diff"), "utf8");
  expect(diff).toContain("page.txt");
  expect(diff).not.toContain("api.txt");
  expect(prompt(run, "fe-review-1")).not.toContain("api.txt");
});

test("R-002-28: a join conflict goes to a person with its files; joined by hand the run goes on", async () => {
  const both = (text: string) => [hands({}, { write: { "package.json": text }, commit: true })];
  const run = await build({ ...happy, "be-dev": both('{"be":1}'), "fe-dev": both('{"fe":1}') });
  expect(run).toMatchObject({ status: "waiting", word: "ESCALATED" });
  expect(run.stages["test"]).toBeUndefined();
  const [item] = openItems(run);
  expect(item).toMatchObject({ kind: "choice", stage: "join" });
  const branch = `passrail/${run.id}`;
  const dir = join(bench.home, "worktrees", run.id);
  const text = JSON.stringify(item);
  for (const part of ["package.json", `${branch}-fe`, `git -C ${dir} merge ${branch}-fe`]) expect(text).toContain(part);
  // Neither side is lost, and nothing is half-merged.
  expect(git("show", `${branch}-be:package.json`)).toBe('{"be":1}\n');
  expect(git("show", `${branch}-fe:package.json`)).toBe('{"fe":1}\n');
  expect(execFileSync("git", ["status", "--porcelain"], { cwd: dir, encoding: "utf8" })).toBe("");
  const byHand = ["-c", "user.name=t", "-c", "user.email=t@localhost", "merge", "-q", "-X", "ours", "-m", "both"];
  execFileSync("git", [...byHand, `${branch}-fe`], { cwd: dir });
  await bench.answer(run, "choice", "joined-by-hand-go-on");
  expect(await bench.load(run.id)).toMatchObject({ word: "merge question", stages: { join: { attempts: 2 } } });
});

test("R-002-28: where the flow has a way back, the conflicting track resolves the conflict itself", async () => {
  const shipped = resolveShipped("build-plan-complex");
  const join = { goto: "tracks", onlyBlamed: true, counter: "ci", carry: ["issues"], once: false };
  const stages = shipped.flow.stages.map((stage) =>
    stage.id === "join" && "route" in stage ? { ...stage, route: { revise: join } } : stage,
  ) as typeof shipped.flow.stages;
  const both = (text: string) => hands({}, { write: { "package.json": text }, commit: true });
  const script: Script = {
    ...happy,
    "be-dev": [both('{"be":1}')],
    ...each("fe-dev", both('{"fe":1}'), hands({}, { merges: true })),
  };
  const started = await bench.run({ ...shipped, flow: { ...shipped.flow, stages } }, script);
  await bench.answer(started, "gate", "approve");
  const run = await bench.load(started.id);
  expect(run).toMatchObject({ word: "merge question" });
  expect(attemptsOf(run, "be-dev", "fe-dev", "fe-review", "join", "test")).toEqual([1, 2, 2, 2, 1]);
  expect(prompt(run, "fe-dev-2")).toContain(`git merge passrail/${run.id}`);
});

test("R-002-29: after a bounce the blamed track works on the joined commit", async () => {
  const run = await build({
    ...happy,
    ...each(
      "be-dev",
      hands({}, { write: { "api.txt": "1" } }),
      hands({}, { write: { "api.txt": "2" }, needs: "page.txt" }),
    ),
    "fe-dev": [hands({}, { write: { "page.txt": "fe" } })],
    ...each("test", CHANGES("login fails", { blame: "be" }), APPROVED),
  });
  expect(run).toMatchObject({ word: "merge question" });
  expect(attemptsOf(run, "be-dev", "fe-dev", "join", "test")).toEqual([2, 1, 2, 2]);
  expect(await noted(run, "be-dev")).toMatchObject({ files: ["api.txt"] });
  expect(git("show", `passrail/${run.id}:api.txt`)).toBe("1\n2\n");
  expect(git("show", `passrail/${run.id}:page.txt`)).toBe("fe\n");
});

test.each([
  ["leads out", "..", "workspace_dir_invalid"],
  ["leads out further on", "a/../../b", "workspace_dir_invalid"],
  ["is absolute", "/tmp", "workspace_dir_invalid"],
  ["is a repository of its own", "nested", "workspace_dir_is_repository"],
])("R-002-28: a track's folder that %s is an error, never the root", async (_, dir, cause) => {
  execFileSync("git", ["init", "-q", join(bench.project, "nested")]);
  const run = await build(happy, { plan: { backend_dir: dir } });
  expect(run).toMatchObject({ status: "stopped", tracks: { be: { at: "stopped" }, fe: { at: "done" } } });
  const failed = (await bench.events(run.id)).find(
    (event) => event.type === "stage.finished" && event.stage === "be-dev",
  );
  expect(failed).toMatchObject({ outcome: { cause } });
});

test("R-002-28: in place the tracks are refused, they would overwrite each other", async () => {
  const run = await build(happy, { config: { workspace: "in-place" } });
  expect(run).toMatchObject({ status: "stopped" });
  expect(JSON.stringify(await bench.events(run.id))).toContain("tracks_in_place");
});

test("R-002-28: a folder that is not there yet is made for its track", async () => {
  const run = await build(happy, { plan: { backend_dir: "services/api", frontend_dir: "apps/web" } });
  expect(run).toMatchObject({ word: "merge question" });
});

test("R-002-28: a track's folder that leads out of the workspace is not entered", async () => {
  const outside = join(bench.dir, "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(bench.project, "backend"));
  execFileSync("git", ["add", "backend"], { cwd: bench.project });
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "link"], {
    cwd: bench.project,
  });
  const run = await build(
    { ...happy, "be-dev": [hands({}, { write: { "made.txt": "x" } })] },
    { plan: { backend_dir: "backend" } },
  );
  expect(run).toMatchObject({
    status: "stopped",
    word: "failed",
    tracks: { be: { at: "stopped" }, fe: { at: "done" } },
  });
  expect(existsSync(join(outside, "made.txt"))).toBe(false);
});

test("R-002-29: a failure that the tester blames on one track goes to that track only, with a new review budget", async () => {
  const script = {
    ...happy,
    ...each("be-review", CHANGES("a"), CHANGES("b"), APPROVED, CHANGES("c"), APPROVED),
    ...each("test", CHANGES("login fails", { blame: "be" }), APPROVED),
  };
  const run = await build(script);
  expect(run).toMatchObject({ word: "merge question", counters: { test: { loops: 1 } } });
  expect(attemptsOf(run, "be-dev", "be-review", "fe-dev", "fe-review", "test")).toEqual([5, 5, 1, 1, 2]);
  expect(prompt(run, "be-dev-4")).toContain("- login fails");
});

test("R-002-29: blame on both, or on nobody in particular, sends both back", async () => {
  for (const blame of ["be, fe", "database"]) {
    const run = await build({ ...happy, ...each("test", CHANGES("x", { blame }), APPROVED) });
    expect(run).toMatchObject({ word: "merge question" });
    expect(attemptsOf(run, "be-dev", "fe-dev", "test")).toEqual([2, 2, 2]);
  }
});

test("R-002-21: the tester's budget belongs to the run: the third failure is escalated", async () => {
  const run = await build({
    ...happy,
    ...each("test", CHANGES("1", { blame: "be" }), CHANGES("2", { blame: "fe" }), CHANGES("3", { blame: "be" })),
  });
  expect(run).toMatchObject({
    word: "ESCALATED",
    stages: { test: { attempts: 3 }, "be-dev": { attempts: 2 }, "fe-dev": { attempts: 2 } },
  });
});

test("R-002-55: the tester gets the handoffs of both tracks, and trust for each", async () => {
  const run = await build({ ...happy, "fe-dev": [hands({ gates: ["Lint: 3 errors"] })] });
  const text = prompt(run, "test-1");
  for (const attempt of ["be-dev-1", "be-review-1", "fe-dev-1", "fe-review-1"]) {
    expect(text).toMatch(new RegExp(`\\(handoff: /\\S+/handoffs/${attempt}\\.md\\)`, "u"));
  }
  expect(text).toContain("Quality gates of be-dev, iteration 1: trusted.");
  expect(text).toMatch(/Quality gates of fe-dev, iteration 1: not trusted, because not every line/u);
  expect(prompt(run, "be-review-1")).not.toMatch(/fe-dev-1|of fe-dev/u);
});
