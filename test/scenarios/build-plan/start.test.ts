// The start of a plan: which flow, which files, which repositories. Everything is refused before anything is stored.

import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findBriefing } from "../../../src/app/briefing.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { briefingLines } from "../../../src/core/view/briefing.ts";
import { flowOf } from "../../../src/store/flow-of.ts";
import { planTriggered } from "../../../src/trigger/start.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { HAPPY, INPUT, openPlanBench, type PlanBench, planSaying } from "./plan-bench.ts";

let bench: PlanBench;
beforeEach(async () => {
  bench = await openPlanBench();
});
afterEach(() => bench.close());

async function refusal(more: Parameters<PlanBench["begin"]>[1] = {}): Promise<string> {
  const begun = await bench.begin(HAPPY, more);
  expect(await bench.passrail.store.listRuns({ limit: 10 })).toEqual([]);
  return begun.ok ? "started" : `${begun.error.code}: ${begun.error.message}`;
}

const withInput = (changed: Record<string, string | boolean | number>) => ({
  input: Object.entries({ ...INPUT, ...changed }),
});

test("R-002-01: each missing file is named with the words to type, and nothing starts", async () => {
  for (const name of ["plan.spec", "plan.plan", "plan.task"] as const) {
    const { [name]: _left, ...rest } = INPUT;
    const begun = await bench.begin(HAPPY, { input: Object.entries(rest) });
    expect(begun).toMatchObject({ ok: false, error: { code: "input_missing" } });
    expect(begun.ok ? "" : begun.error.message).toContain(name);
    expect(begun.ok ? "" : begun.error.hint).toContain(`--input ${name}=FILE`);
    expect(await refusal(withInput({ [name]: "docs/none.md" }))).toBe(
      `input_refused: ${name}: docs/none.md does not exist.`,
    );
  }
  expect(await refusal({ flow: "build-plan-standard", input: [] })).toContain("plan.spec (what to build and why)");
});

test("R-002-01: a path out of the project is refused from the API's use case and from triggers", async () => {
  for (const path of ["../../../etc/hostname", "/etc/hostname", ".git/config", "docs/../../home/x"])
    expect(await refusal(withInput({ "plan.spec": path }))).toMatch(
      /^input_refused: plan\.spec: .* is (?:outside the project|inside git's own folder)\.$/u,
    );
  approveFiles(bench.home, bench.project);
  const planned = await planTriggered(
    {
      name: "nightly",
      flow: "build-plan",
      input: { ...INPUT, "plan.task": "../../../etc/hostname" },
      schedule: "0 0 * * *",
    },
    { id: "o-1", mark: "1", title: "Nightly", body: "", facts: {}, values: {} },
    { home: bench.home, project: bench.project, environment: process.env, flags: {} },
  );
  expect(planned).toMatchObject({ ok: false, error: { code: "input_refused" } });
});

test("R-002-01: links, pipes, second names, huge and binary files are refused before anything starts", async () => {
  const { project } = bench;
  writeFileSync(join(bench.dir, "outside.md"), "# outside\n");
  symlinkSync("../../outside.md", join(project, "docs/link.md"));
  linkSync(join(bench.dir, "outside.md"), join(project, "docs/hard.md"));
  execFileSync("mkfifo", [join(project, "docs/pipe.md")]);
  bench.write("docs/huge.md", "x".repeat(300_000));
  bench.write("docs/binary.md", Buffer.from([0, 1, 2, 255]));
  for (const [file, why] of [
    ["link", "it is a link"],
    ["hard", "the file has a second name"],
    ["pipe", "it is not a regular file"],
    ["huge", "is larger than 256 KB"],
    ["binary", "is not a text file in UTF-8"],
  ] as const)
    expect(await refusal(withInput({ "plan.plan": `docs/${file}.md` }))).toContain(why);
});

test.each([
  [["Complexity: simple"], "build-plan-simple"],
  [["## Complexity", "", "**Standard**"], "build-plan-standard"],
  [["**Complexity:** complex"], "build-plan-complex"],
  [["It is small."], "build-plan-standard"],
])("R-002-02: a plan with %j runs %s", async (lines, flow) => {
  bench.write("docs/plan.md", planSaying(...lines));
  bench.commit();
  const begun = await bench.begin();
  expect(begun).toMatchObject({ ok: true, value: { flow, status: "waiting" } });
});

test("R-002-02: an unknown complexity, two of them, or an input that contradicts the plan is refused", async () => {
  expect(await refusal(withInput({ "plan.complexity": "simple" }))).toContain(
    'plan.complexity is given as "simple", but docs/plan.md says "standard"',
  );
  expect(await refusal(withInput({ "plan.complexity": "epic" }))).toContain("must be simple, standard or complex");
  expect(await refusal({ flow: "build-plan-complex" })).toContain("flow_does_not_fit: The flow build-plan-complex");
  bench.write("docs/plan.md", planSaying("Complexity: epic"));
  expect(await refusal()).toContain('docs/plan.md says "Complexity: epic"; it must be simple, standard or complex');
  bench.write("docs/plan.md", planSaying("Complexity: simple", "Complexity: complex"));
  expect(await refusal()).toContain("says two things under Complexity: simple and complex");
});

test("R-002-08: DevOps runs before the developer if and only if the plan says new infrastructure", async () => {
  bench.write("docs/plan.md", planSaying("Complexity: standard", "New infrastructure: yes"));
  bench.commit();
  const withInfra = await bench.signedOff();
  expect(Object.keys(withInfra.stages).slice(0, 3)).toEqual(["bundles", "devops", "dev"]);
  bench.write("docs/plan.md", planSaying("Complexity: standard", "New infrastructure: none"));
  bench.commit();
  const without = await bench.signedOff();
  expect(without.stages["devops"]).toBeUndefined();
  expect(without.stages["dev"]).toBeDefined();
  expect(await bench.begin(HAPPY, withInput({ "plan.new_infra": true }))).toMatchObject({
    ok: false,
    error: { code: "input_contradicts" },
  });
});

test("R-002-03: the sign-off shows stages, agents, models, cost, files with hash and size, repository and contracts", async () => {
  const begun = await bench.begin();
  const run = begun.ok ? begun.value : ({} as Run);
  const [item] = openItems(run);
  expect(item?.stage).toBe("signoff");
  expect(run.stages).toEqual({});
  const { store } = bench.passrail;
  const resolved = await flowOf(store, run);
  const briefing = item === undefined ? null : await findBriefing({ store, home: bench.home }, resolved, run, item);
  const pinned = run.facts["pinned"] as { inputs: Record<string, { sha256: string; bytes: number }> };
  expect(briefing).toMatchObject({
    feature: "Show names",
    files: [
      { name: "plan.spec", path: "docs/spec.md", ...pinned.inputs["plan.spec"] },
      { name: "plan.plan", path: "docs/plan.md" },
      { name: "plan.task", path: "docs/task.md" },
      { name: null, path: "CLAUDE.md", bytes: 10 },
    ],
    repositories: [
      { name: "project", dir: ".", branch: "main", dirty: 0, commit: bench.git("rev-parse", "HEAD").trim() },
    ],
    contracts: "## Contracts\n\nGET /names gives a list.",
    usd: null,
  });
  expect(briefing?.stages.map(({ stage }) => stage)).toEqual([
    "signoff",
    "bundles",
    "dev",
    "dod",
    "review",
    "test",
    "update-specs",
    "merge",
    "land",
    "merged",
  ]);
  expect(briefing?.stages.find(({ stage }) => stage === "dev")).toMatchObject({
    who: "developer",
    runner: "command",
    reads: ["dev-bundle.md", "spec", "task", "previous-handoff"],
  });
  const lines = briefing === null ? [] : briefingLines(briefing);
  expect(lines.join("\n")).toContain("plan.task: docs/task.md");
  // Nothing of it runs before the yes, and the yes is about these bytes.
  await bench.answer(run, "gate", "approve");
  const answered = (await bench.events(run.id)).find(({ type }) => type === "gate.answered");
  expect(answered).toMatchObject({ inputs: { "plan.spec": pinned.inputs["plan.spec"]?.sha256 } });
});

test("R-002-03: the expected cost is that of earlier attempts of the same agent, runner and model", async () => {
  bench.write("docs/plan.md", planSaying("Complexity: simple"));
  // A program that is there, and that needs no login.
  bench.write("passrail.yaml", JSON.stringify({ runners: { claude: { command: ["/bin/true"] } } }));
  approveFiles(bench.home, bench.project);
  bench.commit();
  const { store, engine } = bench.passrail;
  const earlier = await bench.signedOff();
  const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 };
  for (const [usd, id] of [
    [1, "one"],
    [2, "two"],
  ] as const) {
    const reported = { runner: "claude", model: "opus", usage: { ...usage, usd } };
    const stage = usd === 1 ? "dev-test" : "update-specs";
    await engine.deliver(earlier.id, { type: "attempt.spent", stage, attempt: 1, reported }, "engine", id);
  }
  const begun = await bench.begin(HAPPY, { runners: ["*=claude"] });
  const run = begun.ok ? begun.value : ({} as Run);
  const [item] = openItems(run);
  const resolved = await flowOf(store, run);
  const briefing = item === undefined ? null : await findBriefing({ store, home: bench.home }, resolved, run, item);
  // The reviewer comes only if questions are open, so it is not part of the sum.
  expect(briefing).toMatchObject({ usd: 3, unknown: 0 });
  expect(briefing?.stages.find(({ stage }) => stage === "review")).toMatchObject({ model: "sonnet", usd: null });
});

test("R-002-07: a dirty project, another branch or a detached HEAD stops the start until a person allows it", async () => {
  const base = bench.git("rev-parse", "HEAD").trim();
  bench.write("notes.txt", "not committed\n");
  expect(await refusal()).toContain(
    "preflight_failed: Flow build-plan-standard starts from clean base branches. The project has uncommitted files: notes.txt",
  );
  rmSync(join(bench.project, "notes.txt"));
  bench.git("switch", "-q", "-c", "other");
  bench.git("commit", "-q", "--allow-empty", "-m", "elsewhere");
  expect(await refusal()).toContain("The project is on other, not on its base main");
  expect(await refusal({ allow: ["dirty"] })).toContain("The project is on other");
  bench.git("switch", "-q", "--detach");
  expect(await refusal()).toContain("The project is on no branch, not on its base main");
  bench.git("switch", "-q", "other");
  const begun = await bench.begin(HAPPY, { allow: ["branch"] });
  const run = begun.ok ? begun.value : ({} as Run);
  expect(run.facts["repositories"]).toMatchObject([{ branch: "other", base: "main" }]);
  // Whatever is checked out at the sign-off, the branch starts from the commit that the person saw.
  const seen = bench.git("rev-parse", "other").trim();
  bench.git("switch", "-q", "main");
  await bench.answer(run, "gate", "approve");
  const branch = bench.git("for-each-ref", "--format=%(refname)", "refs/heads/passrail").trim();
  expect(bench.git("merge-base", branch, "other").trim()).toBe(seen);
  expect(seen).not.toBe(base);
});

test("R-002-07: a repository inside the project is recognized: its branch and commit are at the sign-off; a folder is a fact", async () => {
  bench.write("docs/plan.md", planSaying("Complexity: complex"));
  const backend = join(bench.project, "backend");
  mkdirSync(backend);
  execFileSync("git", ["init", "-q", "-b", "main", backend]);
  const who = ["-c", "user.name=t", "-c", "user.email=t@l"];
  execFileSync("git", ["-C", backend, ...who, "commit", "-q", "--allow-empty", "-m", "one"]);
  mkdirSync(join(bench.project, "web"));
  bench.write("web/index.html", "<p>\n");
  bench.write(".gitignore", "/backend\n");
  bench.commit();
  const folders = { "plan.backend_dir": "backend", "plan.frontend_dir": "web" };
  expect(await refusal({ ...withInput(folders), workspace: "in-place" })).toContain("tracks_in_place");
  expect(await refusal(withInput({ ...folders, "plan.backend_dir": ".." }))).toContain("is outside the project");
  expect(await refusal(withInput({ ...folders, "plan.backend_dir": "nowhere" }))).toContain("does not exist");
  const joint = await bench.begin(HAPPY, withInput(folders));
  const members = [
    { name: "project", dir: "." },
    { name: "backend", dir: "backend", branch: "main", base: "main", dirty: 0 },
  ];
  expect(joint).toMatchObject({ ok: true, value: { facts: { repositories: members } } });
  const begun = await bench.begin(HAPPY, withInput({ "plan.frontend_dir": "./web/" }));
  expect(begun).toMatchObject({ ok: true, value: { facts: { plan: { frontend_dir: "web" } } } });
});
