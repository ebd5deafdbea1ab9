// One workspace per stage: opened before each attempt, gone after it, with the work handed on by the branch.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import type { WorkspaceMode } from "../../../src/core/flow/workspace-mode.ts";
import { customFlow } from "../../harness/custom-flow.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
afterEach(() => bench.close());

const OK = "true";
const commit = (text: string): string =>
  `git add -A && git -c user.name=a -c user.email=a@localhost commit -qm ${text}`;
/** The ticket flow up to validate: what comes after it is about landing. */
const walk = customFlow("ticket", (file) => ({
  ...file,
  stages: file.stages.filter(({ id }) => ["plan", "implement", "validate"].includes(id)),
  enter: { "Needs Plan": "plan", "Needs Implement": "implement", "Needs Validate": "validate" },
}));
const git = (...args: string[]) =>
  execFileSync("git", ["-C", bench.project, "-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
    encoding: "utf8",
  }).trim();
/** Stage -> what its agent does, as a line for the shell. */
type Lines = Readonly<Record<string, string>>;
const play = (lines: Lines): JsonObject =>
  Object.fromEntries(Object.entries(lines).map(([stage, line]) => [stage, ["/bin/sh", "-c", line]]));
const start = (lines: Lines, ticket: JsonObject = {}, config: JsonObject = {}, wait = true) => {
  const facts = { ticket: { repo: "org/app", status: "Needs Plan", ...ticket }, config, runners: play(lines) };
  return bench.run(walk, {}, { subject: typeof ticket["id"] === "string" ? ticket["id"] : "AGI-7", facts, wait });
};
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const factsOf = async (run: Run, stage: string) =>
  (await bench.passrail.store.attempts(run.id)).findLast((record) => record.stage === stage)?.facts ?? {};
const leftovers = () =>
  ["worktrees", "clones", "workspaces"].flatMap((name) => {
    const folder = join(bench.home, name);
    return existsSync(folder) ? readdirSync(folder) : [];
  });

for (const mode of ["worktree", "clone"] as const satisfies readonly WorkspaceMode[]) {
  test(`R-004-47: with ${mode} each stage has a workspace of its own, deleted after it; the work is handed on`, async () => {
    bench = await openWorkbench();
    const script = {
      plan: `echo plan > plan.md && ${commit("plan")}`,
      // What is not committed by the agent is committed for it: the next stage must have it.
      implement: "test -f plan.md && echo code > code.txt",
      validate: 'test -f plan.md && test -f code.txt && test -z "$(git status --porcelain)"',
    };
    const run = await start(script, {}, { workspace: mode });
    expect(run).toMatchObject({ status: "completed" });
    const [plan, implement, validate] = await Promise.all(
      ["plan", "implement", "validate"].map((s) => factsOf(run, s)),
    );
    expect(new Set([plan?.["workspace"], implement?.["workspace"], validate?.["workspace"]]).size).toBe(3);
    expect(leftovers()).toEqual([]);
    expect(git("worktree", "list").split("\n")).toHaveLength(1);
    expect(plan?.["commits"]).toEqual([git("rev-parse", "feat/AGI-7~1")]);
    expect(implement?.["commits"]).toEqual([git("rev-parse", "feat/AGI-7")]);
    expect(implement).toMatchObject({ committed: git("rev-parse", "feat/AGI-7"), to: git("rev-parse", "feat/AGI-7") });
    expect(git("log", "-1", "--format=%s", "feat/AGI-7")).toBe("AGI-7: implement");
    expect(bench.errors).toEqual([]);
  });

  test(`R-004-47: with ${mode} a stage that fails leaves no workspace, and what it left uncommitted is pinned`, async () => {
    bench = await openWorkbench();
    const run = await start({ plan: "echo half > half.txt; exit 3" }, {}, { workspace: mode });
    expect(run).toMatchObject({ status: "stopped", word: "Blocked" });
    expect(leftovers()).toEqual([]);
    const { leftover, pinned } = await factsOf(run, "plan");
    expect(pinned).toBe(`refs/passrail/keep/${run.id}`);
    expect(git("show", `${text(leftover)}:half.txt`)).toBe("half");
    expect(git("ls-tree", "--name-only", "feat/AGI-7")).not.toContain("half.txt");
  });

  test(`R-004-52: with ${mode} the test writer gets the very workspace of implement, and it goes after it`, async () => {
    bench = await openWorkbench();
    const script = {
      "*": OK,
      // An ignored file is in no commit: only the same workspace has it.
      implement: "echo '*.tmp' > .gitignore; echo here > seen.tmp",
      tests: "test -f seen.tmp && echo test > a.test",
      validate: "test ! -f seen.tmp && test -f a.test",
    };
    const run = await start(script, { status: "Needs Implement" }, { workspace: mode, test_writer: true });
    expect(run).toMatchObject({ status: "completed" });
    const implement = await factsOf(run, "implement");
    expect((await factsOf(run, "tests"))["workspace"]).toBe(implement["workspace"]);
    expect(leftovers()).toEqual([]);
    expect(bench.errors).toEqual([]);
  });

  test(`R-004-54: with ${mode} the branch contains the work of the tickets that this one depends on`, async () => {
    bench = await openWorkbench();
    const base = git("rev-parse", "main");
    const side = (name: string): string => {
      git("switch", "-q", "-c", name, base);
      writeFileSync(join(bench.project, `${name}.txt`), `${name}\n`);
      git("add", "-A");
      git("commit", "-qm", name);
      const commit = git("rev-parse", "HEAD");
      git("switch", "-q", "main");
      return commit;
    };
    const contains = [side("one"), side("two")];
    const script = { "*": "test -f one.txt && test -f two.txt" };
    const run = await start(script, { status: "Needs Validate", contains }, { workspace: mode });
    expect(run).toMatchObject({ status: "completed" });
    for (const commit of contains) git("merge-base", "--is-ancestor", commit, "feat/AGI-7");
  });
}

test("R-004-54: predecessors that cannot be merged fail the stage, with the files named and nothing half-merged", async () => {
  bench = await openWorkbench();
  const change = (name: string): string => {
    git("switch", "-q", "-c", name, "main");
    writeFileSync(join(bench.project, "README.md"), `${name}\n`);
    git("commit", "-qam", name);
    const commit = git("rev-parse", "HEAD");
    git("switch", "-q", "main");
    return commit;
  };
  const contains = [change("one"), change("two")];
  const run = await start({ "*": OK }, { status: "Needs Validate", contains });
  expect(run).toMatchObject({ status: "stopped", word: "Blocked", reason: expect.stringContaining("README.md") });
  expect(leftovers()).toEqual([]);
  const unknown = await start({ "*": OK }, { id: "AGI-8", status: "Needs Validate", contains: ["0".repeat(40)] });
  expect(unknown).toMatchObject({ status: "stopped", reason: expect.stringContaining("no such commit") });
});

test("two tickets of one group never work on its branch at once, and both get through", async () => {
  bench = await openWorkbench();
  const lines = { "*": `echo line >> log.txt && ${commit("line")}` };
  const runs = await Promise.all(["AGI-1", "AGI-2"].map((id) => start(lines, { id, group: "login" }, {}, false)));
  await bench.passrail.engine.idle();
  for (const { id } of runs) expect(await bench.load(id)).toMatchObject({ status: "completed" });
  expect(git("show", "feat/login:log.txt").split("\n")).toHaveLength(6);
});

test("kept on request: the workspaces stay, their branch is free for the next stage", async () => {
  bench = await openWorkbench({ settings: () => ({ workspaces: { keep: true } }) });
  const run = await start({ "*": "echo $PASSRAIL_STAGE >> seen.txt" });
  expect(run).toMatchObject({ status: "completed" });
  const { kept } = await factsOf(run, "plan");
  expect(readFileSync(join(text(kept), "seen.txt"), "utf8")).toBe("plan\n");
  expect(git("show", "feat/AGI-7:seen.txt").split("\n")).toEqual(["plan", "implement", "validate"]);
});

test("a canceled stage leaves no workspace, and its work is pinned", async () => {
  bench = await openWorkbench();
  const seen = join(bench.dir, "seen");
  const line = `echo half > half.txt; touch ${seen}; sleep 60`;
  const run = await start({ "*": line }, {}, {}, false);
  await expect.poll(() => existsSync(seen), { timeout: 20_000 }).toBe(true);
  await bench.passrail.engine.deliver(run.id, { type: "cancel.requested", reason: "no more" }, "human:tester");
  await bench.passrail.engine.idle();
  expect(leftovers()).toEqual([]);
  expect(git("show", `refs/passrail/keep/${run.id}:half.txt`)).toBe("half");
});

test("S11: a hook and a setting that an agent plants in the person's repository are taken away, and the stage has tampered", async () => {
  bench = await openWorkbench();
  const canary = join(bench.dir, "canary");
  const line = [
    'g="$(git rev-parse --git-common-dir)"',
    `mkdir -p "$g/hooks" && printf '#!/bin/sh\\ntouch ${canary}\\n' > "$g/hooks/post-checkout" && chmod +x "$g/hooks/post-checkout"`,
    `git config core.fsmonitor 'touch ${canary}; false'`,
  ].join(" && ");
  const run = await start({ "*": line }, { status: "Needs Validate" });
  expect(run.status).not.toBe("completed");
  expect(existsSync(join(bench.project, ".git", "hooks", "post-checkout"))).toBe(false);
  expect(git("config", "--default", "none", "--get", "core.fsmonitor")).toBe("none");
  git("status");
  git("switch", "-q", "-c", "elsewhere");
  expect(existsSync(canary)).toBe(false);
  const finished = (await bench.events(run.id)).filter((event) => event.type === "stage.finished");
  expect(JSON.stringify(finished)).toContain("worktree_tampered");
  expect(readdirSync(join(bench.home, "quarantine"))).toHaveLength(1);
});
