// One run over several repositories: real repositories with bare remotes, from the sign-off to both targets.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { workLines } from "../../../src/core/view/work-lines.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { APPROVED, handoffText, hands } from "../../harness/handoff-text.ts";
import { PROGRAM } from "../../harness/program.ts";
import type { Script } from "../../harness/workbench.ts";
import { HAPPY, INPUT, openPlanBench, type PlanBench } from "./plan-bench.ts";

let bench: PlanBench;
afterEach(() => bench.close());

const WHO = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
const MEMBERS = ["backend", "frontend"] as const;

function git(dir: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", dir, ...WHO, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** Repositories of their own in the project's folder, each with a bare remote; the project's rules ignore their folders. */
async function openMembers(complexity = "standard"): Promise<void> {
  bench = await openPlanBench(complexity);
  for (const name of MEMBERS) {
    const dir = join(bench.project, name);
    mkdirSync(join(dir, "src"), { recursive: true });
    execFileSync("git", ["init", "-q", "-b", "main", dir]);
    writeFileSync(join(dir, "src/app.txt"), `${name}\n`);
    git(dir, "add", "-A");
    git(dir, "commit", "-q", "-m", `first of ${name}`);
    execFileSync("git", ["clone", "-q", "--bare", dir, remoteOf(name)], { stdio: "ignore" });
    git(dir, "remote", "add", "origin", remoteOf(name));
    git(dir, "fetch", "-q", "origin");
  }
  bench.write(".gitignore", "/backend/\n/frontend/\n*.log");
  bench.commit();
}

const remoteOf = (name: string): string => join(bench.dir, `${name}.git`);
const memberOf = (name: string): string => join(bench.project, name);

const writing = (write: Record<string, string>, more = {}) =>
  hands({ gates: ["Tests: OK (1 test)"] }, { write, ...more });

const BOTH: Script = {
  ...HAPPY,
  dev: [writing({ "backend/src/new.txt": "b", "frontend/src/new.txt": "f", "frontend/trace.log": "kept" })],
  "update-specs": [hands({}, { write: { "docs/spec.md": "as built" } })],
};

async function toMergeGate(script: Script = BOTH): Promise<Run> {
  const run = await bench.signedOff(script, { repositories: [...MEMBERS] });
  expect(openItems(run)).toMatchObject([{ kind: "gate", stage: "merge" }]);
  return run;
}

/** The repositories in whose target something was put, in order; every intent was seen to be done. */
async function landings(run: Run): Promise<readonly string[]> {
  const events = await bench.events(run.id);
  const done = new Set(
    events.flatMap((event) => (event.type === "outward.seen" && event.sight.result === "done" ? [event.key] : [])),
  );
  return events.flatMap((event) => {
    if (event.type !== "outward.intended") return [];
    return done.has(event.key) ? [`${event.verb} ${event.repository ?? "?"}`] : [`open ${event.key}`];
  });
}

test("R-002-07: one run works on backend and frontend; the merge gate binds all of them, and its approval lands each in its target", async () => {
  await openMembers();
  const run = await toMergeGate();
  const { app, store } = bench.passrail;
  for (const name of MEMBERS) {
    expect(git(memberOf(name), "log", "--format=%s", `main..passrail/${run.id}`)).toBe("P-1: dev");
    expect(git(remoteOf(name), "log", "--format=%s", "main")).toBe(`first of ${name}`);
    // The user's folder is as it was.
    expect(git(memberOf(name), "status", "--porcelain", "--branch")).toBe("## main");
    expect(existsSync(join(memberOf(name), "src/new.txt"))).toBe(false);
  }
  expect(workLines(await store.attempts(run.id)).filter((line) => line.startsWith("repository"))).toEqual(
    ["the project", ...MEMBERS].map((name, at) => {
      const dir = at === 0 ? bench.project : memberOf(name);
      return `repository ${name}: passrail/${run.id} at ${git(dir, "rev-parse", "--short=12", `passrail/${run.id}`)}`;
    }),
  );
  const [item] = openItems(run);
  const reference = `${run.id}.${item?.number ?? 0}`;
  const looked = await app.describeItem(reference);
  const version = looked.ok ? looked.value.itemVersion : "";
  expect(version).toContain(git(join(bench.home, "worktrees", run.id), "rev-parse", "HEAD"));
  const approve = () =>
    app.answerItem(
      {
        item: reference,
        answer: "approve",
        text: "",
        issues: [],
        seen: { type: "version", version },
        rules: { needsReason: false, maxChars: null },
      },
      { actor: "human:tester" },
    );
  // A commit that nobody saw, in one of them.
  const approved = git(memberOf("frontend"), "rev-parse", `passrail/${run.id}`);
  git(memberOf("frontend"), "update-ref", `refs/heads/passrail/${run.id}`, "main");
  expect(await approve()).toMatchObject({
    ok: false,
    error: { code: "version_mismatch", changed: [{ type: "commit.moved" }] },
  });
  git(memberOf("frontend"), "update-ref", `refs/heads/passrail/${run.id}`, approved);
  expect(await approve()).toMatchObject({ ok: true });
  await bench.passrail.engine.idle();
  const landed = await bench.load(run.id);
  expect(landed.status).toBe("completed");
  expect(await landings(landed)).toEqual(["merge .", "merge backend", "merge frontend"]);
  expect(git(remoteOf("backend"), "show", "main:src/new.txt")).toBe("b");
  expect(git(remoteOf("frontend"), "show", "main:src/new.txt")).toBe("f");
  // The project ignores it, the repository does not.
  expect(git(remoteOf("frontend"), "show", "main:trace.log")).toBe("kept");
  expect(bench.git("show", "main:docs/spec.md")).toContain("as built");
  expect(bench.git("show", "main:.gitignore")).toBe("/backend/\n/frontend/\n*.log");
  expect(bench.git("ls-tree", "--name-only", "main").split("\n")).not.toContain("backend");
  const described = await app.describeRun(run.id);
  expect(described.ok ? described.value.end?.text : "").toMatch(
    /landed: the project in main as [0-9a-f]{12}, backend in main as [0-9a-f]{12}, frontend in main as [0-9a-f]{12}\.$/u,
  );
});

test("R-002-28: tracks work in a repository each, in a plain folder; where the second cannot land, people learn its files and what has landed", async () => {
  await openMembers("complex");
  rmSync(join(bench.project, ".git"), { recursive: true });
  rmSync(join(bench.project, ".gitignore"));
  cpSync(join(bench.project, "docs"), join(memberOf("backend"), "docs"), { recursive: true });
  git(memberOf("backend"), "add", "-A");
  git(memberOf("backend"), "commit", "-q", "-m", "docs");
  git(memberOf("backend"), "push", "-q", "origin", "main");
  const proven = (more: JsonObject): JsonObject => {
    const cites = "backend/src/app.txt:1";
    const text = handoffText({ gates: ["Tests: OK (1 test)"] }).replace("README.md:1", cites);
    return { via: "handoff-file", text, cites, ...more };
  };
  const input = Object.entries(INPUT).map(([name, path]) => [name, `backend/${path}`] as const);
  const run = await bench.signedOff(
    {
      ...HAPPY,
      "be-dev": [proven({ write: { "src/new.txt": "b" } })],
      "fe-dev": [proven({ write: { "src/app.txt": "mine" } })],
    },
    { input, repositories: [...MEMBERS] },
  );
  expect(openItems(run)).toMatchObject([{ kind: "gate", stage: "merge" }]);
  expect(git(memberOf("backend"), "show", `passrail/${run.id}:src/new.txt`)).toBe("b");
  expect(git(memberOf("frontend"), "show", `passrail/${run.id}:src/app.txt`)).toBe("frontend\nmine");
  expect(git(memberOf("frontend"), "log", "--format=%s", `main..passrail/${run.id}`)).toBe("P-1: fe-dev");
  // Somebody else changes the same line meanwhile.
  const other = join(bench.dir, "other");
  execFileSync("git", ["clone", "-q", remoteOf("frontend"), other]);
  writeFileSync(join(other, "src/app.txt"), "frontend\ntheirs\n");
  git(other, "commit", "-q", "-a", "-m", "theirs");
  git(other, "push", "-q", "origin", "main");
  await bench.answer(run, "gate", "approve");
  const stopped = await bench.load(run.id);
  const [choice] = openItems(stopped);
  expect(choice).toMatchObject({ kind: "choice", stage: "land" });
  const told = JSON.stringify((await bench.events(run.id)).findLast(({ type }) => type === "stage.finished"));
  expect(told).toContain("conflicts with main in src/app.txt");
  expect(told).toContain('"file":"frontend/src/app.txt"');
  expect(told).toMatch(/Landed already: backend in main as [0-9a-f]{12}\. Not landed: frontend\./u);
  expect(git(remoteOf("backend"), "show", "main:src/new.txt")).toBe("b");
  await bench.answer(stopped, "choice", "again");
  const again = await bench.load(run.id);
  expect(await landings(again)).toEqual(["merge backend"]);
  expect(git(remoteOf("backend"), "log", "--format=%s", "main").split("\n")).toEqual([
    "P-1: update-specs",
    "P-1: be-dev",
    "docs",
    "first of backend",
  ]);
  await bench.answer(again, "choice", "leave");
  const end = await bench.passrail.app.describeRun(run.id);
  expect(end.ok ? end.value.end?.text : "").toMatch(
    /backend at [0-9a-f]{12} \(landed in main as [0-9a-f]{12}\), frontend at [0-9a-f]{12}.*The others did not land/u,
  );
  expect(end.ok ? end.value.end?.commands.map(({ command }) => command) : []).toContain(
    `git -C ${memberOf("frontend")} merge passrail/${run.id}`,
  );
});

test("R-002-07: a process that is killed between two landings leaves one landed; the next engine lands the other, each once", async () => {
  await openMembers();
  const run = await toMergeGate({ ...BOTH, "update-specs": [hands()] });
  await bench.passrail.close();
  const [item] = openItems(run);
  const killed = spawnSync(
    process.execPath,
    [PROGRAM, "--home", bench.home, "--trust", "gate", "approve", `${run.id}.${item?.number ?? 0}`],
    { cwd: bench.project, env: { ...process.env, PASSRAIL_FAILPOINT: "outward-seen:2" }, encoding: "utf8" },
  );
  expect([killed.signal, killed.stderr]).toEqual(["SIGKILL", expect.any(String)]);
  expect(git(remoteOf("backend"), "log", "--format=%s", "main").split("\n")).toEqual(["P-1: dev", "first of backend"]);
  expect(git(remoteOf("frontend"), "log", "--format=%s", "main")).toBe("first of frontend");
  await bench.restart();
  await bench.passrail.engine.idle();
  const landed = await bench.load(run.id);
  expect(landed.status).toBe("completed");
  for (const name of MEMBERS)
    expect(git(remoteOf(name), "log", "--format=%s", "main").split("\n")).toEqual(["P-1: dev", `first of ${name}`]);
  // The notes in the spec and the plan that goes are the project's own part.
  expect(await landings(landed)).toEqual(["merge .", "merge backend", "merge frontend"]);
});

test("R-002-07: a judge may change nothing in any of them, and work that none of them would keep is no pass", async () => {
  await openMembers();
  const run = await bench.signedOff(
    { ...BOTH, dod: [{ ...APPROVED, write: { "frontend/src/app.txt": "judged" } }] },
    { repositories: [...MEMBERS] },
  );
  const judged = (await bench.events(run.id)).find((event) => event.type === "stage.finished" && event.stage === "dod");
  expect(judged).toMatchObject({ outcome: { cause: "worktree_changed_by_judge" } });
  expect(git(memberOf("frontend"), "show", `passrail/${run.id}:src/app.txt`)).toBe("frontend");
  rmSync(join(bench.project, ".git"), { recursive: true });
  cpSync(join(bench.project, "docs"), join(memberOf("backend"), "docs"), { recursive: true });
  git(memberOf("backend"), "add", "-A");
  git(memberOf("backend"), "commit", "-q", "-m", "docs");
  const stray = await bench.signedOff(
    { ...HAPPY, dev: [hands({}, { write: { "backend/src/new.txt": "b", "stray.txt": "lost" } })] },
    { input: Object.entries(INPUT).map(([name, path]) => [name, `backend/${path}`]), repositories: [...MEMBERS] },
  );
  const failed = (await bench.events(stray.id)).find(
    (event) => event.type === "stage.finished" && event.stage === "dev",
  );
  expect(failed).toMatchObject({
    outcome: { reason: expect.stringContaining("in none of its repositories: stray.txt") },
  });
});

test("R-002-07: what a run cannot work on is refused before anything is stored, and each repository is checked", async () => {
  await openMembers();
  const refusal = async (more: Parameters<PlanBench["begin"]>[1]): Promise<string> => {
    const begun = await bench.begin(HAPPY, { repositories: [...MEMBERS], ...more });
    expect(await bench.passrail.store.listRuns({ limit: 1 })).toEqual([]);
    return begun.ok ? "started" : `${begun.error.code}: ${begun.error.message}`;
  };
  expect(await refusal({ workspace: "in-place" })).toMatch(/^nested_repository: backend is a git repository/u);
  expect(await refusal({ repositories: ["docs"] })).toBe("input_refused: docs is not a git repository of its own.");
  expect(await refusal({ repositories: ["../x"] })).toContain("is outside the project");
  expect(await refusal({ flow: "feature", input: [] })).toContain("works in one repository");
  expect(await refusal({ input: [...Object.entries(INPUT), ["config.joint", "/tmp"]] })).toContain("input_reserved");
  // The setting takes the place of the words.
  bench.write("passrail.yaml", "repositories: [backend, docs]\n");
  bench.commit();
  approveFiles(bench.home, bench.project);
  expect(await bench.begin(HAPPY)).toMatchObject({
    ok: false,
    error: { message: "docs is not a git repository of its own." },
  });
  rmSync(join(bench.project, "passrail.yaml"));
  bench.commit();
  writeFileSync(join(memberOf("frontend"), "loose.txt"), "x");
  git(memberOf("backend"), "switch", "-q", "-c", "wip");
  expect(await refusal({})).toBe(
    "preflight_failed: Flow build-plan-standard starts from clean base branches. backend is on wip, not on its base main; frontend has uncommitted files: loose.txt.",
  );
  git(memberOf("backend"), "switch", "-q", "main");
  rmSync(join(memberOf("frontend"), "loose.txt"));
  bench.git("-c", "advice.addEmbeddedRepo=false", "add", "-f", "frontend");
  bench.git("commit", "-q", "-m", "a submodule");
  expect(await refusal({})).toMatch(/^repositories_refused: The project's own repository has frontend/u);
  rmSync(join(bench.project, ".git"), { recursive: true });
  expect(await refusal({})).toMatch(
    /^outside_repositories: plan\.spec: docs\/spec\.md is in none of the run's repositories/u,
  );
});
