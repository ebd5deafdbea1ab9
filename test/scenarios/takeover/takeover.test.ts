// A person takes over a stage of a real run and hands it back: real store, real git, scripted agents.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ControlAction } from "../../../src/app/control-run.ts";
import { takenOver, type Run } from "../../../src/core/run/run.ts";
import { runState } from "../../../src/core/view/run-state.ts";
import { onlyStages } from "../../harness/custom-flow.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
afterEach(() => bench.close());

const flow = onlyStages("feature", ["build"]);
const ann = { actor: "human:ann" } as const;
const control = (run: Run, action: ControlAction, sent: { actor: `human:${string}` } = ann) =>
  bench.passrail.app.controlRun(run.id, action, sent);
const takeover = (run: Run) => control(run, { type: "takeover" });
const handback = (run: Run, note = "", discard = false) => control(run, { type: "handback", note, discard });
const git = (dir: string, ...args: string[]) =>
  execFileSync("git", ["-C", dir, "-c", "user.name=Ann", "-c", "user.email=ann@localhost", ...args], {
    encoding: "utf8",
  }).trim();
const prompt = (run: Run, attempt: number) =>
  readFileSync(join(bench.home, "runs", run.id, `build-${attempt}`, "prompt.md"), "utf8");

/** An agent that has written a file and works on, and what it does when it continues. */
async function working(again: Script[string] = [{ verdict: "COMPLETE" }]): Promise<Run> {
  const trace = join(bench.dir, "trace");
  const held = { write: { "half.txt": "half" }, hold: join(bench.dir, "never"), trace };
  const run = await bench.run(flow, { "build#1": [held], "build#2": again }, { wait: false });
  await until("the agent works", () => (existsSync(trace) ? true : undefined));
  return run;
}

/** The folder that is the person's, when the agent is gone. */
async function lentTo(run: Run): Promise<string> {
  expect((await takeover(run)).ok).toBe(true);
  return until("the folder is ann's", async () => takenOver(await bench.load(run.id))?.track.lent?.dir);
}

/** Why the engine did not take it back. */
const refusal = (run: Run) => until("it is refused", async () => takenOver(await bench.load(run.id))?.track.refused);

test("the agent ends, its work is committed, a person's changes become their commit, and the stage continues with what they did", async () => {
  bench = await openWorkbench();
  const run = await working();
  const dir = await lentTo(run);
  expect(git(dir, "status", "--porcelain")).toBe("");
  expect(git(dir, "log", "-1", "--format=%s")).toMatch(/: build \(taken over\)$/u);
  writeFileSync(join(dir, "mine.txt"), "mine\n");
  git(dir, "add", "mine.txt");
  git(dir, "commit", "-qm", "ann's own commit");
  writeFileSync(join(dir, "half.txt"), "whole\n");
  expect((await handback(run, "I finished half.txt; check the rest")).ok).toBe(true);
  await bench.passrail.engine.idle();
  expect(await bench.load(run.id)).toMatchObject({ status: "completed" });
  const log = git(bench.project, "log", "--format=%s", "-4", `passrail/${run.id}`).split("\n");
  expect(log).toEqual(expect.arrayContaining([expect.stringContaining("build (by ann)"), "ann's own commit"]));
  const told = prompt(run, 2);
  expect(told).toContain("ann had taken over your session");
  expect(told).toContain("I finished half.txt; check the rest");
  expect(told).toContain("The branch has 2 commits from them.");
  expect(told).toContain("mine.txt | +1 -0");
  const events = await bench.events(run.id);
  expect(events.filter(({ type }) => /taken_over|takeover|handed_back|handback/u.test(type))).toMatchObject([
    { type: "stage.taken_over", stage: "build", attempt: 1, actor: "human:ann" },
    { type: "takeover.prepared", lent: { dir } },
    { type: "handback.requested", actor: "human:ann", discard: false },
    { type: "stage.handed_back", by: "ann", commits: 2, discarded: null },
  ]);
  expect(bench.errors).toEqual([]);
});

test("while a person has it, over a restart too, the run says so, nothing starts, and others cannot take, retry or skip it", async () => {
  bench = await openWorkbench();
  const run = await working();
  const dir = await lentTo(run);
  await bench.restart();
  await bench.passrail.engine.idle();
  const now = await bench.load(run.id);
  const resolved = await bench.passrail.store.loadFlow(now.flowHash);
  if (resolved === undefined) throw new Error("no flow");
  expect(runState(resolved, now, Date.now())).toMatchObject({
    is: "taken",
    text: expect.stringMatching(/^taken over by ann: build, since \d{4}-\d\d-\d\d \d\d:\d\d UTC$/u),
  });
  expect(await takeover(run)).toMatchObject({ ok: true, value: { changed: false } });
  for (const action of [
    { type: "takeover" },
    { type: "retry", note: "" },
    { type: "skip", reason: "done" },
    { type: "steer", text: "hello" },
  ] as const)
    expect(await control(run, action, { actor: "human:bob" })).toMatchObject({
      ok: false,
      error: { code: "action_refused", message: expect.stringContaining("ann has taken over build") },
    });
  expect(await bench.passrail.app.describeRun(run.id)).toMatchObject({
    value: { takeover: { stage: "build", by: "ann", dir, command: null, note: expect.stringContaining("command") } },
  });
  // Somebody else may hand it back.
  await control(run, { type: "handback", note: "", discard: false }, { actor: "human:bob" });
  await bench.passrail.engine.idle();
  expect(await bench.load(run.id)).toMatchObject({ status: "completed" });
  expect(prompt(run, 2)).toContain("They changed no file.");
});

test("another branch and a missing folder are refused with the way out; --discard continues without the changes and keeps them", async () => {
  bench = await openWorkbench();
  const run = await working();
  const dir = await lentTo(run);
  const branch = git(dir, "rev-parse", "--abbrev-ref", "HEAD");
  git(dir, "switch", "-qc", "elsewhere");
  await handback(run);
  expect(await refusal(run)).toContain("elsewhere");
  git(dir, "switch", "-q", branch);
  writeFileSync(join(dir, "mine.txt"), "mine\n");
  git(dir, "add", "mine.txt");
  git(dir, "commit", "-qm", "unwanted");
  const unwanted = git(dir, "rev-parse", "HEAD");
  rmSync(dir, { recursive: true });
  await handback(run);
  expect(
    await until("the folder is missed", async () => {
      const { refused } = takenOver(await bench.load(run.id))?.track ?? {};
      return refused?.includes("no longer exists") === true ? refused : undefined;
    }),
  ).toContain("--discard");
  await handback(run, "start over", true);
  await bench.passrail.engine.idle();
  expect(await bench.load(run.id)).toMatchObject({ status: "completed" });
  const ref = (await bench.events(run.id)).find((event) => event.type === "stage.handed_back")?.discarded ?? "";
  expect(ref).toBe(`refs/passrail/keep/${run.id}`);
  expect(git(bench.project, "for-each-ref", `--contains=${unwanted}`, "--format=%(refname)")).toContain(ref);
  expect(git(bench.project, "ls-tree", "--name-only", branch)).not.toContain("mine.txt");
  expect(prompt(run, 2)).toContain("Nothing of what they changed is kept");
});

test("a canceled run gives the folder up, and what the person left in it is pinned", async () => {
  bench = await openWorkbench();
  const run = await working();
  const dir = await lentTo(run);
  writeFileSync(join(dir, "mine.txt"), "mine\n");
  expect((await control(run, { type: "cancel", reason: "" })).ok).toBe(true);
  await bench.passrail.engine.idle();
  expect(await bench.load(run.id)).toMatchObject({ status: "canceled" });
  expect(existsSync(dir)).toBe(false);
  expect(git(bench.project, "show", `refs/passrail/keep/${run.id}:mine.txt`)).toBe("mine");
});

test("a stopped stage can be taken over, a stage that waits for a person or has ended cannot", async () => {
  bench = await openWorkbench();
  const gated = await bench.run("feature", {}, { subject: "F-2" });
  expect(await takeover(gated)).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("no agent works at") },
  });
  const run = await bench.run(
    onlyStages("ticket", ["plan"]),
    { plan: [{ via: "none", exit: 3 }, { verdict: "COMPLETE" }] },
    {
      facts: { ticket: { repo: "org/app", status: "Needs Plan" } },
    },
  );
  expect(run.status).toBe("stopped");
  const dir = await lentTo(run);
  expect(existsSync(dir)).toBe(true);
  expect((await control(run, { type: "cancel", reason: "" })).ok).toBe(true);
  await bench.passrail.engine.idle();
  expect(await takeover(run)).toMatchObject({ ok: false, error: { code: "run_ended" } });
});

test("with a workspace per stage the person gets the agent's folder, and the next attempt has their work by the branch", async () => {
  bench = await openWorkbench();
  const trace = join(bench.dir, "trace");
  const script = {
    "plan#1": [{ write: { "half.txt": "half" }, hold: join(bench.dir, "never"), trace }],
    "plan#2": [{ needs: "mine.txt", via: "none" }],
  };
  const facts = { ticket: { repo: "org/app", status: "Needs Plan" } };
  const run = await bench.run(onlyStages("ticket", ["plan"]), script, { facts, wait: false });
  await until("the agent works", () => (existsSync(trace) ? true : undefined));
  const dir = await lentTo(run);
  expect(readFileSync(join(dir, "half.txt"), "utf8")).toBe("half\n");
  await bench.restart();
  expect(existsSync(dir)).toBe(true);
  writeFileSync(join(dir, "mine.txt"), "mine\n");
  await handback(run);
  await bench.passrail.engine.idle();
  expect(await bench.load(run.id)).toMatchObject({ stages: { plan: { attempts: 2, last: { health: "complete" } } } });
  expect(existsSync(dir)).toBe(false);
});

test("in place, no other run works in the folder until it is handed back", async () => {
  bench = await openWorkbench({ workspace: "in-place" });
  const run = await working();
  expect(await lentTo(run)).toBe(bench.project);
  const other = await bench.run(flow, { build: [{ verdict: "COMPLETE" }] }, { subject: "F-2", wait: false });
  await bench.passrail.engine.catchUp();
  expect(await bench.load(other.id)).toMatchObject({ status: "running", tracks: { main: { at: "ready" } } });
  await handback(run);
  await bench.passrail.engine.idle();
  expect([(await bench.load(run.id)).status, (await bench.load(other.id)).status]).toEqual(["completed", "completed"]);
});
