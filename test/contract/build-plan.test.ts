// The three build plans played by real agent CLIs, from the sign-off to the commit in a bare remote: their handoffs, their notes and their
// verdicts come from the programs' own tools. One of them runs inside bubblewrap.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { storeMark } from "../../src/attempt/attempt-files.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { openItems, type Run } from "../../src/core/run/run.ts";
import { findMarked } from "../../src/runner/process/process-table.ts";
import type { Action } from "../fixtures/models/actions.ts";
import type { Rule, Script } from "../fixtures/models/scenario.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { type HandoffDeps, handoffText } from "../harness/handoff-text.ts";
import { verdictsOf } from "../harness/workbench.ts";
import { openPlanBench, type PlanBench } from "../scenarios/build-plan/plan-bench.ts";
import { bubblewrapTests, whyLeftOut } from "../scenarios/sandbox/can-confine.ts";
import { cliPath, contractTests } from "./installed.ts";
import { claude, codex, type Vendor } from "./vendors.ts";

const API_KEY = "sk-ant-api03-plans0000000000000000000000000000000000";
const PARTS = ["Complexity", "Scope boundaries", "Deviations", "Tests added", "Open follow-ups"];
const NOTES = `\\n## As-built notes\\n\\n${PARTS.map((part) => `### ${part}\\n\\nNone.\\n`).join("\\n")}`;
/** The rows of the task, as one who did both says them. */
const ROUTE = "the route exists";
const TEST = "a test proves it (tester)";
const bothMet = [`✓ ${ROUTE} — src/route.js:1`, `✓ ${TEST} — src/route.test.js:1`];

let models: FakeModels;
let bench: PlanBench | undefined;
let remote: string;

describe.skipIf(contractTests() === "left out")("build plans with real agent programs", { timeout: 400_000 }, () => {
  beforeEach(async () => {
    models = await startFakeModels({ scenario: { rules: [] } });
  });
  afterEach(async () => {
    await bench?.close();
    bench = undefined;
    await models.close();
  });

  test("R-002-09, R-002-11, R-002-16, R-002-22: a standard plan goes from the sign-off to the remote", async () => {
    models.play({
      rules: [
        rule("# Developer\n", works({ dod: [`✓ ${ROUTE} — src/route.js:1`, `⚠️ Tester scope ${TEST}`] }, WORK)),
        // Its first call leaves the row out: the desk says so, and the program reads that.
        rule("# DoD checker\n", [
          { do: [submit({ verdict: "APPROVED", summary: "Looks good." })] },
          {
            do: [
              submit({
                verdict: "APPROVED",
                summary: "Seen.",
                dod: [{ criterion: ROUTE, met: true, evidence: "line 1" }],
              }),
            ],
          },
          { text: "Done." },
        ]),
        rule("# Reviewer\n", judges()),
        rule("# Tester\n", works({ verdict: "APPROVED", gates: ["Tests: 1 passed"] }, TESTS)),
        rule("# Update specs\n", works({}, NOTING)),
      ],
    });
    const run = await play("standard", { dod: "codex", review: "codex", test: "codex" });
    expect(await verdicts(run)).toEqual([
      "dev:n/a",
      "dod:APPROVED",
      "review:APPROVED",
      "test:APPROVED",
      "update-specs:n/a",
    ]);
    const told = prompt(run, "dod-1");
    expect(told).toContain(
      "Passrail's own look at the places that the rows of dev, iteration 1, cite (1 met, 0 of them",
    );
    expect(told).toContain(`- found: ${ROUTE} — what it cites is in the commit`);
    const refused = models.requests
      .filter((each) => each.rule === "# DoD checker\n")
      .map(({ body }) => JSON.stringify(body));
    expect(refused.some((body) => body.includes("does not account for a row that is marked as met"))).toBe(true);
    expect(prompt(run, "review-1")).toContain("This is review iteration 1 of max 3.");
    await landed(run, ["docs/spec.md", "src/route.js", "src/route.test.js"]);
  });

  test("R-002-24, R-002-22: a complex plan is built in two tracks by two vendors, joined, and lands with its archive", async () => {
    const track = (name: string): Action => ({ bash: `mkdir -p ${name} && echo built > ${name}/a.js` });
    const rows = (name: string): HandoffDeps => ({ dod: [`✓ ${ROUTE} — ${name}/a.js:1`, `⚠️ Tester scope ${TEST}`] });
    models.play({
      rules: [
        rule("# Backend developer\n", works(rows("be"), track("be"))),
        rule("# Frontend developer\n", works(rows("fe"), track("fe"))),
        rule("# DoD checker\n", judges({ dod: [{ criterion: ROUTE, met: true, evidence: "line 1" }] })),
        rule("# Backend reviewer\n", judges()),
        rule("# Frontend reviewer\n", judges()),
        rule("# Tester\n", works({ verdict: "APPROVED", gates: ["Tests: 1 passed"] }, TESTS)),
        rule("# Update specs\n", works({}, NOTING)),
      ],
    });
    const run = await play("complex", { "fe-dev": "codex", "fe-dod": "codex", "fe-review": "codex" });
    expect((await verdicts(run)).slice(-3)).toEqual(["join:pass", "test:APPROVED", "update-specs:n/a"]);
    await landed(run, [
      "be/a.js",
      "docs/archive/plan.md",
      "docs/archive/task.md",
      "docs/spec.md",
      "fe/a.js",
      "src/route.test.js",
    ]);
  });

  test.skipIf(bubblewrapTests === "left out")(
    `R-002-30, R-002-34: a simple plan runs inside bubblewrap, sees neither the project nor the state folder, and lands${whyLeftOut}`,
    async () => {
      models.play({
        rules: [
          rule("# Developer and tester\n", works({ dod: bothMet, gates: ["Tests: 1 passed"] }, WORK, TESTS, LOOKING)),
          rule("# Update specs\n", works({}, NOTING)),
        ],
      });
      const run = await play("simple", { "update-specs": "codex" }, "bubblewrap");
      expect(await verdicts(run)).toEqual(["dev-test:n/a", "update-specs:n/a"]);
      await landed(run, ["docs/spec.md", "seen.txt", "src/route.js", "src/route.test.js"]);
      const seen = atRemote("show", "main:seen.txt");
      expect(seen.match(/No such file or directory/gu)).toHaveLength(2);
      expect(seen).toMatch(/looked$/u);
    },
  );
});

const WORK: Action = { bash: "mkdir -p src && echo 'export const route = 1;' > src/route.js" };
const TESTS: Action = { bash: "mkdir -p src && echo 'test();' > src/route.test.js" };
const NOTING: Action = { bash: `printf '${NOTES}' >> docs/spec.md` };

/** At what a sandbox must not show; the environment says where that is. */
const LOOKING: Action = {
  bash: 'cat "$LOOK_AT/project/README.md" "$LOOK_AT/home/passrail.db" > seen.txt 2>&1; echo looked >> seen.txt',
};

function place(): PlanBench {
  if (bench === undefined) throw new Error("nothing is open");
  return bench;
}

function prompt(run: Run, attempt: string): string {
  return readFileSync(join(place().home, "runs", run.id, attempt, "prompt.md"), "utf8");
}

async function verdicts(run: Run): Promise<readonly string[]> {
  return verdictsOf(await place().events(run.id)).filter((said) => said !== "bundles:pass");
}

function atRemote(...args: readonly string[]): string {
  return execFileSync("git", ["-C", remote, ...args], { encoding: "utf8" }).trim();
}

/** Signed off, and worked until the merge question. */
async function play(complexity: string, others: Readonly<Record<string, "codex">>, workspace?: string): Promise<Run> {
  // Not every machine lets Codex make a sandbox of its own inside the outer one, which holds anyway.
  const byCodex = { runner: "codex", model: codex.model, ...(workspace === undefined ? {} : { permission: "full" }) };
  const agents = {
    "*": { runner: "claude", model: claude.model },
    ...Object.fromEntries(Object.keys(others).map((stage) => [stage, byCodex])),
  };
  bench = await openPlanBench(complexity, {
    settings: (dir) => ({
      runners: { ...program(dir, claude), ...program(dir, codex) },
      agents,
      ...(workspace === undefined ? {} : { workspace }),
    }),
  });
  remote = join(bench.dir, "remote.git");
  execFileSync("git", ["clone", "-q", "--bare", bench.project, remote], { stdio: "ignore" });
  bench.git("remote", "add", "origin", remote);
  bench.git("fetch", "-q", "origin");
  const run = await bench.signedOff({}, { runners: [] });
  expect(bench.errors).toEqual([]);
  const failed = (await bench.passrail.store.attempts(run.id)).filter(
    ({ outcome }) => outcome?.["health"] !== "complete",
  );
  expect(failed.map(({ stage, outcome }) => [stage, outcome?.["reason"]])).toEqual([]);
  expect([await verdicts(run), openItems(run)]).toMatchObject([expect.anything(), [{ kind: "gate", stage: "merge" }]]);
  return run;
}

/** Approved: the work is in the remote's main, and no program is left. */
async function landed(run: Run, files: readonly string[]): Promise<void> {
  const at = place();
  expect(atRemote("ls-tree", "-r", "--name-only", "main")).not.toContain("route.js");
  await at.answer(run, "gate", "approve");
  expect(await at.load(run.id)).toMatchObject({ status: "completed", word: "done" });
  const before = new Set(["CLAUDE.md", "README.md", "passrail.yaml"]);
  expect(
    atRemote("ls-tree", "-r", "--name-only", "main")
      .split("\n")
      .filter((path) => !before.has(path)),
  ).toEqual(files);
  expect(atRemote("show", "main:docs/spec.md")).toContain("## As-built notes");
  expect(findMarked(`${storeMark(at.home)}/`)).toEqual([]);
}

function program(dir: string, vendor: Vendor): JsonObject {
  const home = join(dir, `home-of-${vendor.cli}`);
  mkdirSync(home);
  const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  return {
    [vendor.cli]: {
      command: [cliPath(vendor.cli)],
      env: { HOME: home, PATH: path, LOOK_AT: dir, ...vendor.setUp(home, models.url, API_KEY) },
    },
  };
}

function rule(text: string, turns: Script): Rule {
  return { id: text, match: { prompt: text }, turns };
}

function submit(args: JsonObject): Action {
  return { mcp: { server: "passrail", tool: "submit_verdict", args } };
}

/** Works, writes its handoff, submits. */
function works(parts: HandoffDeps, ...actions: readonly Action[]): Script {
  const text = `${handoffText({ ...parts, iteration: "{{iteration}}" })}\n\nNonce: {{nonce}}\n`;
  const said = { summary: "Done.", ...(parts.verdict === undefined ? {} : { verdict: parts.verdict }) };
  const turns = [...actions, { handoff: text }, submit(said)].map((action) => ({ do: [action] }));
  return [...turns, { text: "Done." }] as unknown as Script;
}

/** A judge only looks: Passrail writes its handoff. */
function judges(more: JsonObject = {}): Script {
  return [{ do: [submit({ verdict: "APPROVED", summary: "Good.", ...more })] }, { text: "Done." }];
}
