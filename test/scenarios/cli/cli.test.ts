// A whole run by the command line, as a person drives it: gates, questions, escalations, and the ways to take a run in hand.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Bench, CLI, happyFeature, isAlive, openBench, pidIn, until } from "./bench.ts";

// Every line below starts a program; a busy machine needs its time for that.
vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

/** Starts a run of the feature flow and stops at its first gate. */
async function startFeature(script: Readonly<Record<string, unknown>> = happyFeature): Promise<void> {
  const started = await bench.passrail(["run", "feature", "Add login", "--agent", `*=${bench.player(script)}`]);
  expect(started).toMatchObject({ code: 3 });
}

async function json(args: readonly string[]): Promise<Record<string, unknown>> {
  const ended = await bench.passrail([...args, "--json"]);
  return JSON.parse(ended.out) as Record<string, unknown>;
}

describe("a feature from start to ship", () => {
  test("R-000-11 R-000-17 R-X-07: nothing is spawned before the first approve, and two approvals ship it", async () => {
    await startFeature();
    expect(existsSync(join(bench.home, "runs"))).toBe(false);
    const inbox = await json(["inbox"]);
    expect(inbox["items"]).toMatchObject([
      { kind: "gate", stage: "start", who: "owner", runNumber: 1, flow: "feature" },
    ]);

    const first = await bench.passrail(["gate", "approve", "1.1"]);
    expect(first.code).toBe(3);
    expect(first.err).toContain("[Phase 1/4] IN1 iter 1: APPROVED");
    expect(first.err).toContain("→ gate ship");
    expect(first.err).toMatch(/! no sandbox: worktree, processes held by [\w ]+ \(spec, design, build, qa\)/u);
    expect(first.out).toMatch(/^r[0-9a-f]{10}\t1\twaiting\treview\t/u);

    const second = await bench.passrail(["gate", "approve", "--comment", "ship it"]);
    expect(second.code).toBe(0);
    expect(second.out).toContain("\tcompleted\tshipped\t");
    expect(second.err).toMatch(/! no sandbox: worktree, processes held by [\w ]+ \(spec, design, build, qa\)/u);

    const events = (await json(["runs", "events", "1"]))["events"] as { actor: string; type: string }[];
    expect(events.filter(({ type }) => type === "gate.answered").map(({ actor }) => actor.split(":")[0])).toEqual([
      "human",
      "human",
    ]);
    expect(events.filter(({ actor }) => actor.startsWith("human:")).map(({ type }) => type)).toEqual([
      "run.created",
      "gate.answered",
      "gate.answered",
    ]);
  });

  test("a second approve changes nothing and ends with 0; another answer to a closed gate is refused", async () => {
    await startFeature();
    await bench.passrail(["gate", "approve", "1.1"]);
    const before = ((await json(["runs", "events", "1"]))["events"] as unknown[]).length;
    const again = await bench.passrail(["gate", "approve", "1.1"]);
    expect(again.code).toBe(0);
    expect(again.err).toContain("was already approved");
    const other = await bench.passrail(["gate", "reject", "1.1", "--json"]);
    expect(other.code).toBe(1);
    expect(JSON.parse(other.err)).toMatchObject({
      error: { code: "gate_not_waiting", hint: expect.stringContaining("review") },
    });
    expect(((await json(["runs", "events", "1"]))["events"] as unknown[]).length).toBe(before);
    const unknown = await bench.passrail(["gate", "approve", "7"]);
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.err).toContain("run_not_found");
  });

  test("S06: a decision is bound to the commit that was looked at, and says which one it was", async () => {
    await startFeature();
    await bench.passrail(["gate", "approve", "1.1"]);
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["-C", bench.project, ...args], { encoding: "utf8" }).trim();
    const branch =
      git("for-each-ref", "--format=%(refname:short)", "refs/heads/passrail/", "refs/heads/feat/")
        .split("\n")
        .find(Boolean) ?? "";
    const seen = git("rev-parse", branch);
    const tree = git("rev-parse", `${branch}^{tree}`);
    const who = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
    const later = git(...who, "commit-tree", tree, "-p", seen, "-m", "after the look");
    git("update-ref", `refs/heads/${branch}`, later);
    const refused = await bench.passrail(["gate", "approve", "1.2", "--commit", seen]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("code version_mismatch");
    expect(refused.err).toContain(later.slice(0, 12));
    expect((await bench.passrail(["gate", "approve", "1.2", "--commit", "HEAD"])).code).toBe(2);
    expect((await bench.passrail(["gate", "approve", "1.2", "--commit", later.slice(0, 10)])).code).toBe(0);
    const events = (await json(["runs", "events", "1"]))["events"] as { type: string; commit?: string }[];
    expect(events.findLast(({ type }) => type === "gate.answered")?.commit).toBe(later);
  });

  test("R-000-22: the owner can send a finished feature back with a comment, which uses up no loop", async () => {
    await startFeature();
    await bench.passrail(["gate", "approve", "1.1"]);
    const back = await bench.passrail(["gate", "revise", "1.2", "--comment", "use the new colours"]);
    expect(back.code).toBe(3);
    const prompt = await bench.passrail(["runs", "show", "1", "--attempt", "build#2", "--prompt"]);
    expect(prompt.out).toContain("use the new colours");
    expect(await json(["runs", "show", "1"])).toMatchObject({
      counters: [
        { key: "revision", loops: 0, max: 2 },
        { key: "ci", loops: 0 },
        { key: "checks", loops: 0 },
      ],
    });
  });

  test("a rejected feature is canceled and nothing was spawned", async () => {
    await startFeature();
    const rejected = await bench.passrail(["gate", "reject"]);
    expect(rejected.code).toBe(0);
    expect(rejected.out).toContain("\tcanceled\tcanceled\t");
    expect(existsSync(join(bench.home, "runs"))).toBe(false);
  });

  test("R-X-10: a run shows every attempt with verdict, exit code, duration and commits, and its files", async () => {
    await startFeature({
      ...happyFeature,
      qa: [
        { via: "json-tail", verdict: "REVISE", issues: ["no test"] },
        { via: "json-tail", verdict: "SHIP" },
      ],
    });
    await bench.passrail(["gate", "approve"]);
    const shown = await json(["runs", "show", "1"]);
    const stages = shown["stages"] as { id: string; attempts: Record<string, unknown>[] }[];
    expect(stages.find(({ id }) => id === "qa")?.attempts).toMatchObject([
      { attempt: 1, word: "REVISE", canonical: "revise", exitCode: 0 },
      { attempt: 2, word: "SHIP", canonical: "pass", exitCode: 0 },
    ]);
    expect(stages.find(({ id }) => id === "build")?.attempts[0]).toMatchObject({
      commits: { from: expect.any(String), to: expect.any(String) },
      durationMs: expect.any(Number),
      containment: { mode: "worktree", isConfined: false, label: expect.stringContaining("no sandbox: worktree") },
    });
    expect(shown["counters"]).toMatchObject([
      { key: "revision", loops: 1, max: 2 },
      { key: "ci", loops: 0 },
      { key: "checks", loops: 0 },
    ]);
    const lines = (await bench.passrail(["runs", "show", "1"])).out.split("\n");
    const attempts = lines.filter((line) => line.startsWith("attempt\t"));
    // Last come the step of the ladder of runners and the worker; there is neither.
    const held = /\tno sandbox: worktree, processes held by [\w ]+\t\t$/u;
    expect(attempts.filter((line) => held.test(line))).toHaveLength(6);
    const output = await bench.passrail(["runs", "show", "1", "--attempt", "qa#1", "--output"]);
    expect(output.out).toContain('"verdict": "REVISE"');
    const diff = await bench.passrail(["runs", "show", "1", "--attempt", "build#1", "--diff"]);
    expect(diff.out).toContain("a.txt");
    const outside = await bench.passrail(["runs", "show", "1", "--attempt", "../../../etc#1", "--output"]);
    expect(outside.err).toContain("attempt_not_found");
  });
});

describe("what else waits for a person", () => {
  test("R-X-07: a question is shown, answered, and the answer reaches the next attempt", async () => {
    const spec = bench.player({
      "spec#1": [{ via: "text", text: "QUESTIONS:\n1. Which database?\n" }],
      "spec#2": [{ via: "text", text: "TICKETS:\n- title: A\n  description: B\n" }],
    });
    const asked = await bench.passrail(["run", "intake", "Build a shop", "--agent", `spec=${spec}`]);
    expect(asked.code).toBe(3);
    expect(asked.err).toContain("Which database?");
    const empty = await bench.passrail(["ask", "answer", "1.1", ""]);
    expect(empty).toMatchObject({ code: 2 });
    const missing = await bench.passrail(["ask", "answer", "1.1"]);
    expect(missing.err).toContain("answer_missing");
    const answered = await bench.passrail(["ask", "answer", "1.1", "SQLite, please"]);
    expect([0, 5]).toContain(answered.code);
    const prompt = await bench.passrail(["runs", "show", "1", "--attempt", "spec#2", "--prompt"]);
    expect(prompt.out).toContain("SQLite, please");
    const again = await bench.passrail(["ask", "answer", "1.1", "SQLite, please"]);
    expect(again.code).toBe(0);
    const other = await bench.passrail(["ask", "answer", "1.1", "Postgres"]);
    expect(other.err).toContain("question_not_waiting");
  });

  test("R-X-07: an escalation lists its choices; a wrong one is refused, a right one goes on", async () => {
    await startFeature({ ...happyFeature, spec: [{ via: "json-tail", verdict: "REJECT", reason: "not clear" }] });
    const escalated = await bench.passrail(["gate", "approve"]);
    expect(escalated.code).toBe(3);
    expect(escalated.err).toContain("passrail escalation choose 1.2 accept");
    const wrong = await bench.passrail(["escalation", "choose", "1.2", "maybe"]);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.err).toContain("passrail escalation choose 1.2 cancel");
    const accepted = await bench.passrail(["escalation", "choose", "accept", "--note", "go on"]);
    expect(accepted.code).toBe(3);
    expect(accepted.out).toContain("gate ship");
    const again = await bench.passrail(["escalation", "choose", "1.2", "accept"]);
    expect(again.code).toBe(0);
  });

  test("where several items are open, one has to be named", async () => {
    await startFeature();
    await startFeature();
    const ambiguous = await bench.passrail(["gate", "approve"]);
    expect(ambiguous.code).toBe(2);
    expect(ambiguous.err).toContain("1.1  gate start");
    expect(ambiguous.err).toContain("2.1  gate start");
    const wrongKind = await bench.passrail(["escalation", "choose", "1", "accept"]);
    expect(wrongKind.err).toContain("escalation_not_waiting");
  });
});

describe("taking a run in hand", () => {
  /** A run whose first stage works until it is ended. */
  async function startStubborn(...manner: readonly string[]) {
    const file = join(bench.dir, "agent.pid");
    const started = bench.start([
      "run",
      "routed",
      "Fix the typo",
      "--input",
      "agent=builder",
      "--agent",
      `builder=${bench.scripted("stubborn.mjs", file, ...manner)}`,
    ]);
    await until(() => existsSync(file), "the agent works");
    return { started, pids: [pidIn(file), pidIn(`${file}.child`)] };
  }

  test("another process cancels a run at work; no process stays and the first one ends with 5", async () => {
    const { started, pids } = await startStubborn();
    const canceled = await bench.passrail(["runs", "cancel", "1", "--reason", "wrong task"]);
    expect(canceled.code).toBe(0);
    const ended = await started.ended;
    expect(ended.code).toBe(5);
    expect(ended.err).toContain("wrong task");
    expect(pids.filter(isAlive)).toEqual([]);
    const again = await bench.passrail(["runs", "cancel", "1"]);
    expect(again.code).toBe(0);
    const late = await bench.passrail(["runs", "retry", "1"]);
    expect(late.err).toContain("run_ended");
  });

  test("Ctrl-C ends the agents in order, exits with 130 and leaves a run that can be canceled without starting it again", async () => {
    const { started, pids } = await startStubborn();
    started.child.kill("SIGINT");
    const ended = await started.ended;
    expect(ended.code).toBe(130);
    expect(ended.err).toContain("passrail runs watch 1");
    expect(pids.filter(isAlive)).toEqual([]);
    const canceled = await bench.passrail(["runs", "cancel", "1"]);
    expect(canceled.code).toBe(0);
    expect(await json(["runs", "show", "1"])).toMatchObject({ status: "canceled" });
    const attempts = (await json(["runs", "events", "1"]))["events"] as { type: string }[];
    expect(attempts.filter(({ type }) => type === "stage.started")).toHaveLength(1);
  });

  test("a second Ctrl-C does not wait for an agent that will not listen, and leaves no process", async () => {
    const { started, pids } = await startStubborn("deaf");
    started.child.kill("SIGINT");
    await until(() => started.err().includes("Stopping"), "the first is noticed");
    const second = Date.now();
    started.child.kill("SIGINT");
    expect((await started.ended).code).toBe(130);
    expect(Date.now() - second).toBeLessThan(4000);
    await until(() => !pids.some(isAlive), "nothing is left");
  });

  test("runs watch carries on a run that was stopped", async () => {
    const agent = bench.player({
      "builder#1": [{ hold: join(bench.dir, "never") }],
      "builder#2": [{ write: { "b.txt": "1" }, commit: true, verdict: "APPROVE" }],
    });
    const started = bench.start(["run", "routed", "x", "--input", "agent=builder", "--agent", `builder=${agent}`]);
    await until(() => started.err().includes("Running builder"), "the agent works");
    started.child.kill("SIGTERM");
    expect((await started.ended).code).toBe(143);
    const watched = await bench.passrail(["runs", "watch", "1", "--exit-status"]);
    expect(watched).toMatchObject({ code: 0 });
    expect(watched.out).toContain("was interrupted");
    expect(watched.out).toContain("[pipeline] Pipeline complete");
  });

  test("a program that was killed leaves its run to the next command, which ends what was left and carries on", async () => {
    const { started, pids } = await startStubborn();
    started.child.kill("SIGKILL");
    await started.ended;
    expect(pids.filter(isAlive)).not.toEqual([]);
    const paused = await bench.passrail(["runs", "pause", "1"]);
    expect(paused.code).toBe(0);
    await until(() => !pids.some(isAlive), "what was left is ended");
  });

  test("pause holds a run, resume lets it go on, retry and skip are recorded with who and why", async () => {
    await startFeature({ ...happyFeature, spec: [{ via: "none", exit: 4 }] });
    expect(await bench.passrail(["runs", "pause"])).toMatchObject({ code: 2 });
    const paused = await bench.passrail(["runs", "pause", "--all", "--reason", "lunch"]);
    expect(paused).toMatchObject({ code: 0 });
    const none = await bench.passrail(["runs", "pause", "--all"]);
    expect([none.code, none.out]).toEqual([0, ""]);
    expect(none.err).toMatch(/Everything is paused by .+: lunch\.\nNext: passrail runs resume --all/u);
    expect((await bench.passrail(["status"])).out).toMatch(/^paused {3}everything is paused by .+: lunch, since/mu);
    await bench.passrail(["run", "feature", "Started later", "--agent", "*=true"]);
    expect(await json(["runs", "show", "2"])).toMatchObject({ paused: true });
    expect(await bench.passrail(["runs", "stop", "1"])).toMatchObject({ code: 0 });
    const held = await bench.passrail(["gate", "approve", "1.1"]);
    expect(held.code).toBe(8);
    expect(existsSync(join(bench.home, "runs"))).toBe(false);
    const pausedAgain = await bench.passrail(["runs", "pause", "#1"]);
    expect(pausedAgain.code).toBe(0);
    const resumed = await bench.passrail(["runs", "resume", "--all"]);
    expect([resumed.code, resumed.out]).toEqual([0, "#1 resumed\n#2 resumed\n"]);
    const watched = await bench.passrail(["runs", "watch", "1"]);
    expect(watched.out).toContain("escalation spec");
    const retried = await bench.passrail(["runs", "retry", "1", "--note", "try once more"]);
    expect(retried.code).toBe(3);
    const noReason = await bench.passrail(["runs", "skip", "1"]);
    expect(noReason).toMatchObject({ code: 2 });
    const skipped = await bench.passrail(["runs", "skip", "1", "--reason", "spec exists"]);
    expect(skipped.code).toBe(3);
    const events = (await json(["runs", "events", "1"]))["events"] as {
      type: string;
      actor: string;
      reason?: string;
    }[];
    expect(events.find(({ type }) => type === "stage.skipped")).toMatchObject({
      reason: "spec exists",
      actor: expect.stringMatching(/^human:/u),
    });
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["run.paused", "run.unpaused"]));
  });

  test("a detached run goes on without its starter, and can be watched", async () => {
    const reviewed = bench.player({
      builder: [{ write: { "b.txt": "1" }, commit: true, verdict: "APPROVE" }],
      reviewer: [{ via: "review-file", text: "Verdict: APPROVE\n" }],
    });
    const started = await bench.passrail([
      "run",
      "routed",
      "Fix the typo",
      "--detach",
      "--agent",
      `builder=${reviewed}`,
      "--agent",
      `reviewer=${reviewed}`,
    ]);
    expect(started.code).toBe(0);
    const watched = await bench.passrail(["runs", "watch", "1", "--exit-status"]);
    expect(watched.code).toBe(0);
    expect(watched.out).toContain("\tcompleted\t");
  });

  test("an agent cannot decide: operator verbs are refused inside an attempt, with or without its marker", async () => {
    const log = join(bench.dir, "meddler.log");
    await startFeature({});
    await bench.passrail(["runs", "cancel", "1"]);
    await bench.passrail([
      "run",
      "feature",
      "x",
      "--agent",
      `*=${bench.scripted("meddler.mjs", CLI, bench.home, log)}`,
    ]);
    const ended = await bench.passrail(["gate", "approve"]);
    expect(ended.code).toBe(3);
    const tries = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { status: number; stderr: string });
    expect(tries.map(({ status }) => status)).toEqual([1, 1]);
    for (const { stderr } of tries) expect(stderr).toContain("operator_only");
    expect(await json(["runs", "show", "2"])).toMatchObject({ status: "waiting" });
  });
});

describe("the lines of a routed run", () => {
  test("R-001-12: the flow's own log lines are printed exactly", async () => {
    const agent = bench.player({
      builder: [{ write: { "b.txt": "1" }, commit: true, verdict: "APPROVE" }],
      reviewer: [
        { via: "review-file", text: "Verdict: REVISE\n" },
        { via: "review-file", text: "Verdict: APPROVE\n" },
      ],
    });
    const ended = await bench.passrail([
      "run",
      "routed",
      "Fix the typo",
      "--agent",
      `builder=${agent}`,
      "--agent",
      `reviewer=${agent}`,
    ]);
    expect(ended.code).toBe(0);
    expect(ended.err.split("\n").filter((line) => line.startsWith("[pipeline]"))).toEqual([
      "[pipeline] Stage 1/2: Running builder",
      "[pipeline] Stage 1/2: builder completed",
      "[pipeline] Stage 2/2: Running reviewer",
      "[pipeline] Stage 2/2: reviewer completed",
      "[pipeline] Stage 1/2: Running builder",
      "[pipeline] Stage 1/2: builder completed",
      "[pipeline] Stage 2/2: Running reviewer",
      "[pipeline] Stage 2/2: reviewer completed",
      "[pipeline] Pipeline complete",
    ]);
  });

  test("other flows print one line per phase with role, iteration, status, duration and what comes next", async () => {
    writeFileSync(
      join(bench.project, "passrail.yaml"),
      `agents:\n  "*": { command: [${bench.player(happyFeature).split(" ").join(", ")}] }\n`,
    );
    await bench.passrail(["run", "feature", "Add login"]);
    const ended = await bench.passrail(["gate", "approve"]);
    expect(
      ended.err
        .split("\n")
        .filter((line) => line.startsWith("[Phase"))
        .map((line) => line.replace(/, \d+s/u, ", Ns")),
    ).toEqual([
      "[Phase 1/4] IN1 iter 1: APPROVED, tokens not reported, Ns → design",
      "[Phase 2/4] IN5 iter 1: APPROVED, tokens not reported, Ns → build",
      "[Phase 3/4] IN2 iter 1: COMPLETE, tokens not reported, Ns → qa",
      "[Phase 4/4] IN6 iter 1: SHIP, tokens not reported, Ns → gate ship",
    ]);
  });
});
