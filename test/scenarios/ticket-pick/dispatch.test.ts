// Which tickets are picked and when: dependencies, branches, slots, refusals, what a dead process left behind.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { resolveShipped } from "../../harness/workbench.ts";
import { OK, type Opened, openHere, openShort, type Project } from "./project.ts";

let project: Project | undefined;
let here: Opened | undefined;
afterEach(async () => {
  await here?.close();
  project?.remove();
  [project, here] = [undefined, undefined];
});

type Mark = { readonly mark: "begin" | "end"; readonly run: string; readonly stage: string; readonly at: number };

function traced(script: Readonly<Record<string, object>> = {}, more: Readonly<Record<string, unknown>> = {}) {
  const own = openShort({}, more);
  project = own;
  const trace = join(own.dir, "trace");
  const withTrace = Object.fromEntries(
    Object.entries({ "*": OK, ...script }).map(([stage, outcome]) => [stage, [{ ...outcome, trace }]]),
  );
  own.settings(withTrace, { ...more, tickets: { flow: "short", ...(more["tickets"] as object | undefined) } });
  const marks = (): readonly Mark[] =>
    existsSync(trace)
      ? readFileSync(trace, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Mark)
      : [];
  return { own, marks };
}

async function open(own: Project, options?: Parameters<typeof openHere>[1]): Promise<Opened> {
  here = await openHere(own, options);
  return here;
}

const allDone = (own: Project, ...numbers: readonly number[]) =>
  until(
    `${numbers.join(", ")} are done`,
    () => numbers.every((number) => own.status(number) === "Done") || undefined,
    60_000,
  );

test("R-004-37, R-004-54: a ticket begins after those it depends on, and is told their commits", async () => {
  const { own, marks } = traced({ implement: { ...OK, write: { "made.txt": "1" }, commit: true } });
  own.ticket(1, { status: "Needs Implement" });
  own.ticket(2, { dependsOn: ["AGI-1"], status: "Needs Implement" });
  own.ticket(3, { dependsOn: ["AGI-2"], status: "Needs Validate" });
  const opened = await open(own);
  await allDone(own, 1, 2, 3);
  const runs = await Promise.all(["AGI-1", "AGI-2", "AGI-3"].map((id) => opened.newestRun(id)));
  const span = (run: string) =>
    marks()
      .filter((mark) => mark.run === run)
      .map(({ at }) => at);
  for (const [before, after] of [
    [0, 1],
    [1, 2],
  ] as const)
    expect(Math.max(...span(runs[before]?.id ?? ""))).toBeLessThanOrEqual(Math.min(...span(runs[after]?.id ?? "")));
  const head = (branch: string) =>
    execFileSync("git", ["-C", own.project, "rev-parse", branch], { encoding: "utf8" }).trim();
  expect(runs[0]?.facts["ticket"]).toMatchObject({
    terminal: false,
    contains: [],
    file: "feature_requests/FR-1/AGI-1.md",
  });
  expect(runs[1]?.facts["ticket"]).toMatchObject({ terminal: false, contains: [head("feat/AGI-1")] });
  expect(runs[2]?.facts["ticket"]).toMatchObject({ terminal: true, contains: [head("feat/AGI-2")] });
});

test("R-004-59: one slow ticket holds up nobody else", async () => {
  const own = openShort({});
  project = own;
  const gate = join(own.dir, "go");
  // All agents read the same script; the slow one is known by its stage.
  own.settings({ "*": [OK], plan: [{ ...OK, hold: gate }] }, { tickets: { flow: "short" } });
  own.ticket(1, { status: "Needs Plan" });
  for (const number of [2, 3, 4, 5, 6]) own.ticket(number, { status: "Needs Validate" });
  const opened = await open(own, { slots: 2 });
  await allDone(own, 2, 3, 4, 5, 6);
  expect(own.status(1)).toBe("Plan In Progress");
  writeFileSync(gate, "");
  await allDone(own, 1);
  expect(opened.errors).toEqual([]);
});

test("R-004-58, R-004-40: no more stages at once than slots, lower priority first, and one branch is never worked on twice at once", async () => {
  const { own, marks } = traced();
  own.ticket(1, { status: "Needs Validate" });
  own.ticket(2, { status: "Needs Validate", priority: 1 });
  own.ticket(3, { status: "Needs Implement", group: "login" });
  own.ticket(4, { status: "Needs Implement", group: "login" });
  const opened = await open(own, { slots: 2 });
  await allDone(own, 1, 2, 3, 4);
  const works = new Map<string, string>();
  const branchOf = new Map<string, string>();
  for (const id of ["AGI-1", "AGI-2", "AGI-3", "AGI-4"])
    branchOf.set((await opened.newestRun(id)).id, id === "AGI-3" || id === "AGI-4" ? "login" : id);
  for (const { mark, run } of marks()) {
    if (mark === "end") works.delete(run);
    else {
      expect([...works.values()]).not.toContain(branchOf.get(run));
      works.set(run, branchOf.get(run) ?? "");
    }
    expect(works.size).toBeLessThanOrEqual(2);
  }
  expect((await opened.newestRun("AGI-2")).createdAt <= (await opened.newestRun("AGI-1")).createdAt).toBe(true);
});

test("R-004-39, R-004-37: what waits for people, is unknown or broken is left alone, and the rest is done", async () => {
  const { own } = traced();
  own.ticket(1, { status: "Blocked" });
  own.ticket(2, { status: "Needs Human Review" });
  own.ticket(3, { status: "Awaiting Merge" });
  own.ticket(4, { dependsOn: ["AGI-99"] });
  own.ticket(5, { repo: "TBD" });
  own.ticket(6, { status: "Need Plan" });
  own.ticket(7, { status: "Needs Validate" });
  const opened = await open(own);
  await allDone(own, 7);
  expect([1, 2, 3, 4, 5, 6].map((number) => own.status(number))).toEqual([
    "Blocked",
    "Needs Human Review",
    "Awaiting Merge",
    "Backlog",
    "Backlog",
    "Need Plan",
  ]);
  expect((await opened.passrail.store.listRuns({ limit: 10 })).map(({ subject }) => subject.id)).toEqual(["AGI-7"]);
});

test("R-004-57: that nothing can start is said once, and a new ticket is picked without waiting for the sleep to end", async () => {
  const { own } = traced({}, { tickets: { idle_sleep: "1h" } });
  own.ticket(1, { status: "Done" });
  const opened = await open(own);
  await opened.dispatcher.look();
  await opened.dispatcher.look();
  expect(opened.lines).toEqual(["No eligible tasks"]);
  own.ticket(2, { status: "Needs Validate" });
  await allDone(own, 2);
  await until("it is said again", () => opened.lines.length === 2 || undefined);
  expect(opened.dispatcher.state()).toMatchObject({ isOn: true, inLine: 0, eligible: 0, refused: [] });
});

test("while everything is paused no ticket starts, and the next look after that starts it", async () => {
  const { own } = traced();
  own.ticket(1, { status: "Needs Validate" });
  const opened = await open(own, { dispatch: false });
  const { app, person: actor, store } = opened.passrail;
  await app.controlAll({ type: "pause", reason: "the night is over" }, { actor });
  await opened.dispatcher.start();
  await opened.dispatcher.look();
  expect(await store.listRuns({ limit: 1 })).toEqual([]);
  expect(own.status(1)).toBe("Needs Validate");
  await app.controlAll({ type: "resume" }, { actor });
  await opened.dispatcher.look();
  await allDone(own, 1);
});

test("R-004-57: after the sleep it looks again, though nothing told of a change", async () => {
  const { own } = traced({}, { tickets: { idle_sleep: "50ms" } });
  own.ticket(1, { status: "Done" });
  const opened = await open(own);
  const first = opened.dispatcher.state().lookedAt;
  await until("it looked again", () => opened.dispatcher.state().lookedAt !== first || undefined);
});

test("R-004-61: In Progress without a run goes back when picking begins, and is done", async () => {
  const { own } = traced();
  own.ticket(1, { status: "Validate In Progress" });
  own.ticket(2, { status: "Oneshot In Progress", dependsOn: ["AGI-99"] });
  const opened = await open(own);
  await allDone(own, 1);
  expect(own.status(2)).toBe("Backlog");
  expect(opened.lines.slice(0, 2)).toEqual([
    "AGI-1: Validate In Progress without a run goes back to Needs Validate",
    "AGI-2: Oneshot In Progress without a run goes back to Backlog",
  ]);
});

test("a ticket whose agent has no program is told once, with what helps, and keeps its status", async () => {
  const own = openShort({});
  project = own;
  writeFileSync(join(own.project, "passrail.yaml"), JSON.stringify({ tickets: { flow: "short", idle_sleep: "20ms" } }));
  own.ticket(1);
  const opened = await open(own);
  await opened.dispatcher.look();
  await opened.dispatcher.look();
  expect(opened.lines).toHaveLength(1);
  expect(opened.lines[0]).toMatch(/^1 ticket cannot start:\n {2}AGI-1 \(.*AGI-1\.md\): Flow short needs a program/u);
  expect(own.status(1)).toBe("Backlog");
  expect(opened.dispatcher.state().refused).toMatchObject([{ code: "agent_not_configured" }]);
  // Settings are read anew: nobody has to start it again.
  own.settings({ "*": [OK] }, { tickets: { flow: "short" } });
  await allDone(own, 1);
});

test("more tickets than one look asks for cannot start, and the one behind them is done", async () => {
  const { own } = traced();
  for (let number = 1; number <= 45; number++) own.ticket(number, { flow: "no-such-flow" });
  own.ticket(46, { status: "Needs Validate" });
  const opened = await open(own);
  await allDone(own, 46);
  expect(opened.lines[0]).toContain("no-such-flow");
  expect(opened.dispatcher.state().refused).toHaveLength(45);
  expect(opened.dispatcher.state().cannotStart).toHaveLength(45);
});

test("a ticket works in the repository that its name means, and nowhere where the name means nothing", async () => {
  const { own } = traced({}, { tickets: { repos: { "Org/Other": "../other", gone: "../gone" } } });
  const other = join(own.dir, "other");
  execFileSync("git", ["init", "-q", "-b", "main", other]);
  execFileSync("git", [
    "-C",
    other,
    "-c",
    "user.name=t",
    "-c",
    "user.email=t@localhost",
    "commit",
    "-q",
    "--allow-empty",
    "-m",
    "first",
  ]);
  own.ticket(1, { status: "Needs Validate", repo: "org/other" });
  own.ticket(2, { status: "Needs Validate", repo: "gone" });
  own.ticket(3, { status: "Needs Validate", repo: "somewhere/else" });
  const opened = await open(own);
  await allDone(own, 1);
  const branches = (folder: string) =>
    execFileSync("git", ["-C", folder, "branch", "--format=%(refname:short)"], { encoding: "utf8" });
  expect(branches(other)).toContain("feat/AGI-1");
  expect(branches(own.project)).not.toContain("feat/AGI-1");
  expect([own.status(2), own.status(3)]).toEqual(["Needs Validate", "Needs Validate"]);
  expect(opened.dispatcher.state().refused).toMatchObject([{ code: "repo_not_found" }]);
});

test("R-004-40: a ticket that a run goes on with is not started again, whoever started that run", async () => {
  const own = openShort({});
  project = own;
  const gate = join(own.dir, "go");
  own.settings({ "*": [{ ...OK, hold: gate }] }, { tickets: { flow: "short" } });
  const file = own.ticket(1);
  const opened = await open(own, { dispatch: false });
  const started = await own.passrail(["run", "short", "--ticket", file, "--detach"]);
  expect(started.code).toBe(0);
  await opened.dispatcher.start();
  await opened.dispatcher.look();
  expect(await opened.passrail.store.runsOf("AGI-1")).toHaveLength(1);
  writeFileSync(gate, "");
});

test("R-004-40, S14: a run that lands the ticket's earlier work is not its own: the ticket starts, and its file is left to its own run", async () => {
  const { own } = traced({ implement: { ...OK, write: { "made.txt": "1" }, commit: true } });
  own.ticket(1, { status: "Needs Implement" });
  const opened = await open(own);
  await allDone(own, 1);
  const first = await opened.newestRun("AGI-1");
  // A pull request that nobody merges: the run stays open, for weeks perhaps.
  await opened.passrail.engine.startRun({
    runId: "rlanding",
    resolved: resolveShipped("land"),
    subject: first.subject,
    facts: {
      land: { run: first.id, branch: "feat/AGI-1" },
      config: { project: own.project, workspace: "worktree", merge_mode: "pr" },
    },
    actor: "human:tester",
  });
  await until("it waits", async () => (await opened.newestRun("AGI-1")).word === "awaiting merge" || undefined);
  expect([...opened.passrail.mirror.goingOn(own.project).keys()]).toEqual([]);
  expect(own.status(1)).toBe("Done");
  own.ticket(1, { status: "Needs Validate" });
  await until("its own run has ended", async () => {
    const runs = await opened.passrail.store.runsOf("AGI-1");
    return (runs.length === 3 && runs[0]?.status === "completed") || undefined;
  });
  expect(own.status(1)).toBe("Done");
});
