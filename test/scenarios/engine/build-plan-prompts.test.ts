// Source 002's cache discipline and trust contract, read from the prompts that real attempts got.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { APPROVED, each, hands } from "../../harness/handoff-text.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
  mkdirSync(join(bench.project, "specs"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(bench.project, "specs", `${name}.md`), text);
});
afterEach(() => bench.close());

const FILES = {
  spec: "# Users\n\nEvery user has a name.\n",
  plan: "# Plan\n\nComplexity: standard\n",
  task: "# Task\n\n## Definition of Done\n\n- [ ] the route exists\n",
};
const PLAN: JsonObject = { plan: { spec: "specs/spec.md", plan: "specs/plan.md", task: "specs/task.md" } };
const CLEAN = ["Lint: 0 errors", "Audit: 0 vulnerabilities", "Tests: OK (42 tests, 87 assertions)"];
const CHANGES = hands({ verdict: "REQUEST_CHANGES", findings: ["a finding"] });
const happy: Script = {
  dev: [hands({ gates: CLEAN })],
  dod: [APPROVED],
  review: [APPROVED],
  test: [APPROVED],
  "update-specs": [hands()],
};

async function build(script: Script): Promise<Run> {
  const run = await bench.run("build-plan-standard", script, { facts: PLAN });
  await bench.answer(run, "gate", "approve");
  return bench.load(run.id);
}
const prompt = (run: Run, attempt: string) =>
  readFileSync(join(bench.home, "runs", run.id, attempt, "prompt.md"), "utf8");
/** The part of a prompt that a vendor's cache can reuse: everything before the previous handoff. */
const prefix = (text: string) => text.slice(0, text.indexOf("## Handoff from "));
const trustOf = async (run: Run, attempt: number) =>
  (await bench.passrail.store.attempts(run.id)).find((each) => each.stage === "test" && each.attempt === attempt)
    ?.facts["trust"];

test("R-002-05, R-002-48: agent, bundle, spec, task, previous handoff, instruction, in this order", async () => {
  const run = await build({ ...happy, ...each("review", CHANGES, APPROVED) });
  const parts = (text: string) =>
    [
      "# Developer\n",
      "## Bundle",
      "## Specification",
      "## Task",
      "## Handoff from ",
      "Do the work of the stage",
      "## How to end",
    ].map((part) => text.indexOf(part));
  const found = parts(prompt(run, "dev-2"));
  expect(found).not.toContain(-1);
  expect(found).toEqual([...found].sort((a, b) => a - b));
  expect(prompt(run, "dev-2")).toContain("Every user has a name.");
  expect(prompt(run, "dev-2")).toContain("- [ ] the route exists");
  expect(prompt(run, "test-1")).toContain("# Bundle for those who test");
  for (const attempt of ["dod-1", "review-1"]) expect(prompt(run, attempt)).not.toContain("# Bundle for");
});

test("the bundles point at the spec and digest it, and do not copy it", async () => {
  const run = await build(happy);
  for (const name of ["dev", "tester"]) {
    const text = readFileSync(join(bench.home, "runs", run.id, "bundles", `${name}-bundle.md`), "utf8");
    expect(text).toContain("specs/spec.md");
    expect(text).not.toContain("Every user has a name.");
  }
});

test("a missing spec, plan or task is named, and no agent starts", async () => {
  const run = await bench.run("build-plan-standard", happy, {
    facts: { plan: { spec: "specs/spec.md", task: "specs/none.md" } },
  });
  await bench.answer(run, "gate", "approve");
  expect(await bench.load(run.id)).toMatchObject({
    status: "stopped",
    reason: expect.stringContaining("specs/none.md"),
  });
  expect((await bench.load(run.id)).stages["dev"]).toBeUndefined();
});

test("R-002-49: two iterations of one role have the same bytes up to the previous handoff", async () => {
  const run = await build({ ...happy, ...each("review", CHANGES, APPROVED), ...each("test", CHANGES, APPROVED) });
  for (const [role, attempts] of [
    ["dod", 3],
    ["review", 3],
    ["test", 2],
  ] as const) {
    const first = prefix(prompt(run, `${role}-1`));
    expect(first.length).toBeGreaterThan(500);
    for (let attempt = 2; attempt <= attempts; attempt++) expect(prefix(prompt(run, `${role}-${attempt}`))).toBe(first);
  }
  expect(prefix(prompt(run, "dev-3"))).toBe(prefix(prompt(run, "dev-2")));
  // The first developer has no handoff before it; what it shares with the second is all that the second has before its handoff.
  expect(prompt(run, "dev-1").startsWith(prefix(prompt(run, "dev-2")))).toBe(true);
});

test("R-002-50: no time, run, attempt or nonce stands before the previous handoff, so two features of one plan share it too", async () => {
  const [one, two] = [await build({ ...happy, ...each("review", CHANGES, APPROVED) }), await build(happy)];
  const text = prefix(prompt(one, "review-2"));
  expect(text).toBe(prefix(prompt(two, "review-1")));
  expect(text).not.toContain(one.id);
  expect(text).not.toMatch(/20[0-9]{2}-[01][0-9]-[0-3][0-9]|[0-9a-f]{32}/u);
});

test("R-002-37: an agent is told where the handoffs lie that it needs", async () => {
  const run = await build({ ...happy, ...each("review", CHANGES, APPROVED) });
  const toldOf = (attempt: string) => {
    const paths = [...prompt(run, attempt).matchAll(/\(handoff: ([^)\n]+)\)/gu)].map(([, path]) => path ?? "");
    // In a folder of the attempt's own, whose name nobody could know before.
    for (const path of paths) expect(path).toMatch(/\/channels\/[^/]+\/[0-9a-f]{32}\/handoffs\/[a-z0-9-]+\.md$/u);
    return paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
  };
  expect(toldOf("dod-1")).toEqual(["dev-1.md"]);
  expect(toldOf("review-1")).toEqual(["dev-1.md", "dod-1.md"]);
  expect(toldOf("dev-2")).toEqual(["review-1.md"]);
  expect(toldOf("review-2")).toEqual(["dev-2.md", "dod-2.md"]);
  expect(toldOf("test-1")).toEqual(["dev-2.md", "review-2.md"]);
});

test("R-002-18, R-002-34: a role that works again is told its iteration of how many, its own findings, and the changes since", async () => {
  const run = await build({ ...happy, ...each("review", CHANGES, APPROVED) });
  const attempts = await bench.passrail.store.attempts(run.id);
  const factsOf = (stage: string) =>
    attemptFacts(attempts.find((each) => each.stage === stage && each.attempt === 1) ?? { facts: {} });
  const first = prompt(run, "review-1");
  expect(first).toContain("This is iteration 1 of your stage in this run. This is review iteration 1 of max 3.");
  expect(first).not.toContain("What you concluded before");
  expect(first).not.toContain("Changes since your iteration");
  const again = prompt(run, "review-2");
  expect(again).toContain("This is iteration 2 of your stage in this run. This is review iteration 2 of max 3.");
  expect(again).toContain("Iteration 1: REQUEST_CHANGES\nit was done\n- a finding");
  expect(again).toContain(`All changes of this run: \`git diff ${factsOf("dev").from}..HEAD\``);
  expect(again).toContain(`Changes since your iteration 1: \`git diff ${factsOf("review").to}..HEAD\``);
  expect(again).toContain("```text\nwork-dev.txt | +1 -0\n```");
  expect(again).toContain("`iter 2`");
  expect(prompt(run, "dod-2")).toContain("This is iteration 2 of your stage in this run. This is dod iteration ");
  expect(prompt(run, "dev-2")).toContain("This is iteration 2 of your stage in this run.");
  expect(prompt(run, "dev-2")).toContain("This is revision loop 1 of 2.");
});

test("R-002-34: every role has the constraints, and the one that updates the spec has the paths", async () => {
  const run = await build(happy);
  for (const attempt of ["dev-1", "dod-1", "review-1", "test-1", "update-specs-1"]) {
    expect([attempt, prompt(run, attempt)]).toEqual([attempt, expect.stringContaining("No push, no merge")]);
    expect([attempt, prompt(run, attempt)]).toEqual([attempt, expect.stringContaining("You cannot ask the person")]);
  }
  const told = prompt(run, "update-specs-1");
  expect(told).toContain("Bring the spec specs/spec.md in line with what was built");
  expect(told).toContain("Read, in this order: specs/spec.md, specs/plan.md, specs/task.md.");
});

test("R-002-53: a developer's handoff with another iteration's number is kept, and its gates are not trusted", async () => {
  const run = await build({ ...happy, dev: [hands({ gates: CLEAN, iteration: 7 })] });
  expect(prompt(run, "test-1")).toContain("it names iteration 7, and it is iteration 1");
  const warned = (await bench.events(run.id)).flatMap((event) =>
    event.type === "stage.finished" && event.stage === "dev" ? event.outcome.warnings : [],
  );
  expect(warned).toContainEqual(expect.stringContaining("iteration_mismatch"));
});

test("R-002-53: a judge that names another iteration is asked once more; if it insists, its verdict does not count", async () => {
  const wrong = hands({ verdict: "APPROVED", iteration: 7 });
  const mended = { ...wrong, repair: { via: "handoff-file", text: APPROVED["text"] ?? "" } };
  const run = await build({ ...happy, review: [mended] });
  const finished = async (id: string) =>
    (await bench.events(id)).flatMap((event) =>
      event.type === "stage.finished" && event.stage === "review" ? [event.outcome] : [],
    );
  expect(await finished(run.id)).toMatchObject([
    { verdict: "pass", warnings: [expect.stringContaining("says 7, and this is iteration 1")] },
  ]);
  const liar = await build({ ...happy, review: [wrong] });
  expect(await finished(liar.id)).toMatchObject([{ health: "failed" }]);
  expect(liar).toMatchObject({ status: "stopped" });
});

test("R-002-55, R-002-56: clean gates of the latest iteration are trusted; this is stored and told to the tester only", async () => {
  const run = await build(happy);
  expect(prompt(run, "test-1")).toContain(
    "Quality gates of dev, iteration 1: trusted. Run your own new tests, the full suite once at the end.",
  );
  expect(prompt(run, "review-1")).not.toContain("Quality gates of dev");
  expect(await trustOf(run, 1)).toMatchObject([{ stage: "dev", iteration: 1, trusted: true, reasons: [] }]);
});

test.each([
  ["a line that is not clean", ["Lint: 0 errors", "Types: 2 errors"]],
  ["a line that cannot be read", ["Lint: as usual"]],
  ["no gate at all", []],
])("R-002-54, R-002-55: %s is not trusted, and the tester learns why", async (_, gates) => {
  const run = await build({ ...happy, dev: [hands({ gates })] });
  expect(prompt(run, "test-1")).toContain(
    "Quality gates of dev, iteration 1: not trusted, because not every line of its Quality-Gate Results is clean. Run every quality gate from scratch.",
  );
  expect(await trustOf(run, 1)).toMatchObject([{ trusted: false }]);
});

test("R-002-55: changes that were asked for and not made take the trust away", async () => {
  const honest = [1, 2, 3].map((iteration) => hands({ gates: CLEAN, iteration }));
  const run = await build({ ...happy, ...each("dev", ...honest), review: [CHANGES] });
  await bench.answer(run, "escalation", "accept-with-known-issues");
  expect(prompt(run, "test-1")).toContain(
    "not trusted, because changes were asked for after it, and no developer iteration followed.",
  );
});

test("an iteration that did not complete is the latest all the same", async () => {
  const partial = hands({ status: "incomplete", reason: "out of turns", gates: CLEAN });
  const run = await build({
    ...happy,
    ...each("dev", hands({ gates: CLEAN }), partial),
    ...each("dod", hands({ verdict: "BLOCKED", gaps: ["g"] }), APPROVED),
  });
  await bench.answer(run, "choice", "accept");
  expect(prompt(run, "test-1")).toContain(
    "not trusted, because the handoff is not from the developer's latest iteration",
  );
});
