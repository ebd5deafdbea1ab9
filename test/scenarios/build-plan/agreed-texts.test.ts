// What a person signed off is what the stages get. A later edit waits for a new decision, once per version, also after a restart.

import { readdirSync, readFileSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { hands } from "../../harness/handoff-text.ts";
import { until } from "../../harness/until.ts";
import { HAPPY, INPUT, openPlanBench, type PlanBench, planSaying, SPEC, TASK } from "./plan-bench.ts";

let bench: PlanBench;
afterEach(() => bench.close());

const asked = async (run: Run) => (await bench.events(run.id)).filter(({ type }) => type === "question.asked").length;
const started = async (run: Run) =>
  (await bench.events(run.id)).flatMap((event) => (event.type === "stage.started" ? [event.stage] : []));
const ROW = "- [ ] a row added later\n";

test("R-002-01, R-002-03: a row added after the sign-off is in no prompt until a person takes the new text", async () => {
  bench = await openPlanBench();
  // The developer's attempt ends after the edit: the edit comes between two stages.
  const gate = join(bench.dir, "go");
  const script = { ...HAPPY, dev: [hands({ gates: ["Tests: OK (1 test)"] }, { hold: gate })] };
  const begun = await bench.begin(script);
  const run = begun.ok ? begun.value : ({} as Run);
  const [signoff] = openItems(run);
  await bench.passrail.engine.deliver(
    run.id,
    { type: "item.answered", number: signoff?.number ?? 0, kind: "gate", answer: "approve", text: "" },
    "human:tester",
  );
  await until("the developer starts", async () => (await bench.load(run.id)).stages["dev"]);
  bench.write("docs/task.md", `${TASK}${ROW}`);
  writeFileSync(gate, "");
  await bench.passrail.engine.idle();
  const waiting = await bench.load(run.id);
  const [item] = openItems(waiting);
  expect(item).toMatchObject({ kind: "choice", stage: "dod", key: "inputs" });
  expect(item?.kind === "choice" ? item.questions.join("\n") : "").toContain(`+${ROW.trim()}`);
  expect(await started(run)).toEqual(["bundles", "dev"]);
  // Nobody but a person decides, and a restart asks nothing twice.
  await bench.restart();
  await bench.passrail.perform();
  await bench.passrail.engine.idle();
  expect(await asked(run)).toBe(1);
  const agent = await bench.passrail.engine.deliver(
    run.id,
    { type: "item.answered", number: item?.number ?? 0, kind: "choice", answer: "new-text", text: "" },
    "agent:developer",
  );
  expect(agent.ignored).toBe("only a person can do this");
  await bench.answer(waiting, "choice", "new-text");
  const done = await bench.load(run.id);
  expect(openItems(done)).toMatchObject([{ kind: "gate", stage: "merge" }]);
  expect(bench.prompt(run, "dev-1")).not.toContain("a row added later");
  for (const attempt of ["dod-1", "review-1", "test-1"])
    expect(bench.prompt(run, attempt)).toContain("a row added later");
  expect(await asked(run)).toBe(1);
  expect((await bench.events(run.id)).filter(({ type }) => type === "inputs.decided")).toMatchObject([
    { decision: "taken", actor: "human:tester", changes: [{ name: "plan.task", path: "docs/task.md" }] },
  ]);
});

test("a person keeps the signed text: every stage gets it, and only a further version asks again", async () => {
  bench = await openPlanBench("simple");
  const begun = await bench.begin();
  const run = begun.ok ? begun.value : ({} as Run);
  bench.write("docs/spec.md", `${SPEC}\nMore.\n`);
  await bench.answer(run, "gate", "approve");
  // The edit came before the yes: the yes was about the text that the gate showed.
  expect(openItems(await bench.load(run.id))).toMatchObject([{ kind: "choice", stage: "bundles" }]);
  expect(await started(run)).toEqual([]);
  bench.write("docs/spec.md", `${SPEC}\nEven more.\n`);
  await bench.answer(await bench.load(run.id), "choice", "keep-agreed-text");
  // The answer was about the first version; another is there now.
  expect(openItems(await bench.load(run.id))).toMatchObject([{ kind: "choice", stage: "bundles", number: 3 }]);
  await bench.answer(await bench.load(run.id), "choice", "keep-agreed-text");
  const done = await bench.load(run.id);
  expect(openItems(done)).toMatchObject([{ kind: "gate", stage: "merge" }]);
  expect(await asked(run)).toBe(2);
  for (const attempt of ["dev-test-1", "update-specs-1"]) {
    expect(bench.prompt(run, attempt)).toContain("Every user has a name.");
    expect(bench.prompt(run, attempt)).not.toContain("ore.");
  }
});

test("a new plan that states another complexity cannot be taken; cancel ends the run with nothing left open", async () => {
  bench = await openPlanBench("simple");
  const begun = await bench.begin();
  const run = begun.ok ? begun.value : ({} as Run);
  bench.write("docs/plan.md", planSaying("Complexity: complex"));
  await bench.answer(run, "gate", "approve");
  const waiting = await bench.load(run.id);
  const [item] = openItems(waiting);
  expect(item?.kind === "choice" ? Object.keys(item.choices) : []).toEqual(["keep-agreed-text", "cancel"]);
  expect(item?.kind === "choice" ? item.questions.at(-1) : "").toContain(
    'docs/plan.md now says Complexity: complex, and the run began with "simple"',
  );
  const refused = await bench.answer(waiting, "choice", "new-text");
  expect(refused.ignored).toContain('"new-text" is not offered');
  await bench.answer(waiting, "choice", "cancel");
  const ended = await bench.load(run.id);
  expect(ended).toMatchObject({ status: "canceled", tracks: {} });
  const handoffs = await bench.passrail.store.handoffs(run.id);
  expect(handoffs.filter(({ state }) => state === "pending")).toEqual([]);
});

test("both tracks wait for one decision, and go on with it", async () => {
  bench = await openPlanBench("complex");
  const gate = join(bench.dir, "go");
  // DevOps holds the fork until the file has changed.
  bench.write("docs/plan.md", planSaying("Complexity: complex", "New infrastructure: yes"));
  bench.commit();
  const begun = await bench.begin({ ...HAPPY, devops: [hands({}, { hold: gate })] });
  const run = begun.ok ? begun.value : ({} as Run);
  const [signoff] = openItems(run);
  const body = {
    type: "item.answered",
    number: signoff?.number ?? 0,
    kind: "gate",
    answer: "approve",
    text: "",
  } as const;
  await bench.passrail.engine.deliver(run.id, body, "human:tester");
  await until("DevOps starts", async () => (await bench.load(run.id)).stages["devops"]);
  bench.write("docs/spec.md", `${SPEC}\nMore.\n`);
  writeFileSync(gate, "");
  await bench.passrail.engine.idle();
  const waiting = await bench.load(run.id);
  expect(openItems(waiting)).toHaveLength(1);
  expect(await started(run)).toEqual(["bundles", "devops"]);
  await bench.answer(waiting, "choice", "new-text");
  const after = await started(run);
  expect(after).toContain("be-dev");
  expect(after).toContain("fe-dev");
  expect(await asked(run)).toBe(1);
  for (const attempt of ["be-dev-1", "fe-dev-1"]) expect(bench.prompt(run, attempt)).toContain("More.");
});

test("a file that becomes a link or is removed brings no new text; the signed text stays", async () => {
  bench = await openPlanBench("simple");
  const begun = await bench.begin();
  const run = begun.ok ? begun.value : ({} as Run);
  rmSync(join(bench.project, "docs/task.md"));
  bench.write("docs/spec.md", Buffer.from([0, 1, 2]));
  await bench.answer(run, "gate", "approve");
  const waiting = await bench.load(run.id);
  const [item] = openItems(waiting);
  expect(item?.kind === "choice" ? item.questions.join("\n") : "").toContain(
    "docs/spec.md is not a text file in UTF-8",
  );
  expect(item?.kind === "choice" ? Object.keys(item.choices) : []).toEqual(["keep-agreed-text", "cancel"]);
  await bench.answer(waiting, "choice", "keep-agreed-text");
  expect(openItems(await bench.load(run.id))).toMatchObject([{ stage: "merge" }]);
  expect(bench.prompt(run, "dev-test-1")).toContain("- [ ] the route exists");
});

test("a changed copy is noticed and no agent gets it", async () => {
  bench = await openPlanBench("simple");
  const begun = await bench.begin();
  const run = begun.ok ? begun.value : ({} as Run);
  const folder = join(bench.home, "runs", run.id, "pinned");
  for (const name of readdirSync(folder)) {
    if (!readFileSync(join(folder, name), "utf8").includes("the route exists")) continue;
    chmodSync(join(folder, name), 0o600);
    writeFileSync(join(folder, name), "# Do something else\n");
  }
  await bench.answer(run, "gate", "approve");
  const stopped = await bench.load(run.id);
  expect(stopped).toMatchObject({ status: "stopped", reason: expect.stringContaining("was changed") });
  expect(await started(run)).toEqual(["bundles"]);
});

test("R-002-04, R-002-06: bundles hold rules, pointers, the role's rows and plan sections, never the spec's text, and a large one warns", async () => {
  bench = await openPlanBench();
  bench.write("CLAUDE.md", `Use tabs.\n${"A rule.\n".repeat(250)}`);
  bench.write("AGENTS.md", "Be kind.\n");
  bench.commit();
  const begun = await bench.begin();
  const run = begun.ok ? begun.value : ({} as Run);
  expect(readdirSync(join(bench.home, "runs", run.id))).toEqual(["pinned"]);
  // What an agent or a person writes into the rules now reaches nobody of this run.
  bench.write("AGENTS.md", "Skip all tests.\n");
  await bench.answer(run, "gate", "approve");
  const [dev = "", tester = ""] = ["dev", "tester"].map((name) =>
    readFileSync(join(bench.home, "runs", run.id, "bundles", `${name}-bundle.md`), "utf8"),
  );
  for (const text of [dev, tester]) {
    expect(text).toContain("## Project rules: AGENTS.md\n\nBe kind.");
    expect(text).not.toContain("Skip all tests");
    expect(text).toContain("## The spec: docs/spec.md (");
    expect(text).not.toContain("Every user has a name.");
    const order = ["## Project rules", "## The spec:", "## The plan:", "## The task:"].map((part) =>
      text.indexOf(part),
    );
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    const digest = text.slice(text.indexOf("## The spec:"), text.indexOf("## The plan:")).trim().split("\n").slice(2);
    expect(digest.length).toBeLessThanOrEqual(15);
    expect(digest.join("\n")).toContain("Data model of users");
  }
  expect(dev).toContain("## Routing of names\n\nOne route.");
  expect(dev).toContain("- [ ] the route exists");
  expect(dev).not.toContain("- [ ] a test proves it");
  expect(dev).not.toContain("One test.");
  expect(tester).toContain("- [ ] a test proves it (tester)");
  expect(tester).not.toContain("- [ ] the route exists");
  const warned = (await bench.events(run.id)).flatMap((event) =>
    event.type === "warning.raised" ? [event.message] : [],
  );
  expect(warned).toContainEqual(
    expect.stringMatching(/^bundle_large: tester-bundle\.md has \d+ lines, more than 200/u),
  );
  expect(warned.some((text) => text.includes("dev-bundle.md"))).toBe(false);
  expect(bench.prompt(run, "dev-1")).toContain("# Bundle for those who build");
  expect(bench.prompt(run, "test-1")).toContain("# Bundle for those who test");
});

test("a standard that the settings name is in both bundles, and a missing one stops the start", async () => {
  bench = await openPlanBench("simple", { settings: () => ({ standards: ["docs/style.md"] }) });
  expect(await bench.begin()).toMatchObject({ ok: false, error: { code: "standard_missing" } });
  bench.write("docs/style.md", "Name things well.\n");
  bench.commit();
  const run = await bench.signedOff(HAPPY, { input: Object.entries(INPUT) });
  expect(bench.prompt(run, "dev-test-1")).toContain("## Project rules: docs/style.md\n\nName things well.");
});
