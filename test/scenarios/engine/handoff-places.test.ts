// Where handoffs are written and read: in the attempt's own folders, or in the workspace where the flow wants them. Real processes, real git.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ResolvedFlow } from "../../../src/core/flow/agent.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { each, hands } from "../../harness/handoff-text.ts";
import { openWorkbench, resolveShipped, type Script, verdictsOf, type Workbench } from "../../harness/workbench.ts";
import { bubblewrapTests, whyLeftOut } from "../sandbox/can-confine.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const FLOW = "build-plan-standard";
const happy: Script = {
  dev: [hands({ gates: ["Lint: 0 errors"] })],
  dod: [hands({ verdict: "APPROVED" }, { shows: true })],
  review: [hands({ verdict: "APPROVED" }, { shows: true })],
  test: [hands({ verdict: "APPROVED" }, { shows: true })],
  "update-specs": [hands({}, { shows: true })],
};

async function build(flow: string | ResolvedFlow, script: Script, facts: JsonObject = {}): Promise<Run> {
  const run = await bench.run(flow, script, { facts });
  await bench.answer(run, "gate", "approve");
  return bench.load(run.id);
}

/** The shipped flow with its handoffs in the workspace. */
function placed(path: string, commit?: boolean): ResolvedFlow {
  const resolved = resolveShipped(FLOW);
  const handoffs = { ...resolved.flow.handoffs, path, ...(commit === undefined ? {} : { commit }) };
  return { ...resolved, hash: `${resolved.hash}-${path}-${commit}`, flow: { ...resolved.flow, handoffs } };
}

const recordOf = (run: Run, attempt: string): string => join(bench.home, "runs", run.id, attempt);
/** What the agent of an attempt read at the paths that its prompt names. */
const shownTo = (run: Run, attempt: string): readonly { path: string; text: string }[] =>
  readFileSync(join(recordOf(run, attempt), "output.log"), "utf8")
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as { path: string; text: string }] : []));
const filesOn = (run: Run): string[] => {
  const [branch] = execFileSync("git", ["branch", "--list", "--format=%(refname)", `*${run.id}*`], {
    cwd: bench.project,
    encoding: "utf8",
  }).split("\n");
  const args = ["ls-tree", "-r", "--name-only", branch ?? ""];
  return execFileSync("git", args, { cwd: bench.project, encoding: "utf8" }).trim().split("\n");
};

function expectRead(run: Run): void {
  for (const [attempt, senders] of [
    ["dod-1", 1],
    ["review-1", 2],
    ["test-1", 2],
    ["update-specs-1", 2],
  ] as const) {
    const read = shownTo(run, attempt);
    expect([attempt, read.length >= senders]).toEqual([attempt, true]);
    for (const { text } of read) expect([attempt, text]).toEqual([attempt, expect.stringContaining("## Status")]);
    // The nonce of another attempt is of no use to anybody.
    for (const { text } of read) expect(text).not.toMatch(/Nonce: [A-Za-z0-9_-]{8,}/u);
  }
}

test("R-002-34, R-002-35: each agent reads the handoffs before it in its own folder, which ends with it; the records stay", async () => {
  const run = await build(FLOW, happy);
  expect(bench.errors).toEqual([]);
  expectRead(run);
  for (const { path } of shownTo(run, "review-1")) {
    expect(path).toContain(join(bench.home, "channels"));
    expect(existsSync(path)).toBe(false);
  }
  expect(readFileSync(join(recordOf(run, "dev-1"), "result/handoff.md"), "utf8")).toContain("## Status");
});

describe.skipIf(bubblewrapTests === "left out")(`in bubblewrap${whyLeftOut}`, { timeout: 180_000 }, () => {
  test("R-002-34: in a sandbox every agent reads the handoffs that its prompt names", async () => {
    const run = await build(FLOW, happy, { config: { workspace: "bubblewrap" } });
    expect(bench.errors).toEqual([]);
    expectRead(run);
  });

  test("R-002-34: also where the flow keeps them in the workspace", async () => {
    const run = await build(placed("handoffs/{feature}/{stage}-{iteration}.md"), happy, {
      config: { workspace: "bubblewrap" },
    });
    expect(bench.errors).toEqual([]);
    expectRead(run);
    expect(shownTo(run, "dod-1")[0]?.path).toMatch(/\/handoffs\/F-1\/dev-1\.md$/u);
  });
});

test("R-002-35: an agent writes its handoff where the flow wants it; the record has it, the workspace and the branch do not", async () => {
  const run = await build(placed("handoffs/{feature}/{role}-{iteration}.md"), {
    ...happy,
    ...each("review", hands({ verdict: "REQUEST_CHANGES", findings: ["a finding"] }), hands({ verdict: "APPROVED" })),
  });
  expect(bench.errors).toEqual([]);
  expect(verdictsOf(await bench.events(run.id)).filter((said) => said.startsWith("review"))).toEqual([
    "review:REQUEST_CHANGES",
    "review:APPROVED",
  ]);
  expect(shownTo(run, "dod-1")[0]?.path).toMatch(/\/handoffs\/F-1\/developer-1\.md$/u);
  expect(shownTo(run, "dod-2").map(({ path }) => path)).toContainEqual(expect.stringMatching(/developer-2\.md$/u));
  for (const attempt of ["dev-1", "dev-2", "review-1", "review-2"])
    expect(readFileSync(join(recordOf(run, attempt), "result/handoff.md"), "utf8")).toContain("## Status");
  expect(filesOn(run)).toContain("work-dev.txt");
  expect(filesOn(run).filter((file) => file.startsWith("handoffs"))).toEqual([]);
});

test("R-002-35: a flow that commits them has them on its branch, and nothing of ours beside them", async () => {
  const run = await build(placed("handoffs/{feature}/{role}-{iteration}.md", true), happy);
  expect(bench.errors).toEqual([]);
  expect(filesOn(run).filter((file) => file.startsWith("handoffs"))).toEqual(
    ["developer-1.md", "dod-checker-1.md", "reviewer-1.md", "tester-1.md", "update-specs-1.md"].map(
      (name) => `handoffs/F-1/${name}`,
    ),
  );
});

test("R-002-35: a developer whose only change is its handoff has done nothing", async () => {
  for (const commit of [false, true]) {
    const run = await build(placed("handoffs/{feature}/{role}-{iteration}.md", commit), {
      ...happy,
      dev: [hands({}, { idle: true })],
    });
    expect(run).toMatchObject({ status: "stopped", reason: expect.stringContaining("did not write any change") });
  }
});

test("R-002-35: a file that is there before the attempt is neither believed nor overwritten", async () => {
  mkdirSync(join(bench.project, "handoffs/F-1"), { recursive: true });
  writeFileSync(join(bench.project, "handoffs/F-1/developer-1.md"), "the user's own\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { cwd: bench.project });
  git("add", "-A");
  git("commit", "-q", "-m", "a handoff of somebody");
  const run = await build(placed("handoffs/{feature}/{role}-{iteration}.md"), happy);
  expect(run).toMatchObject({ status: "stopped", reason: expect.stringContaining("exists already") });
  expect(filesOn(run)).toContain("handoffs/F-1/developer-1.md");
});
