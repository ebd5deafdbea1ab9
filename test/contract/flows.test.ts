// Whole flows played by real agent CLIs, stages mixed between vendors, through the scripted models: the prompts are ours, the verdicts come
// back through the desk, one judge sends the work back once.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findMarked } from "../../src/runner/process/process-table.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { openItems, type Run } from "../../src/core/run/run.ts";
import { storeMark } from "../../src/attempt/attempt-files.ts";
import type { Action } from "../fixtures/models/actions.ts";
import type { Rule, Script } from "../fixtures/models/scenario.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { openWorkbench, verdictsOf, type Workbench, wordsOf } from "../harness/workbench.ts";
import { cliPath, contractTests } from "./installed.ts";
import { claude, codex, type Vendor } from "./vendors.ts";

const API_KEY = "sk-ant-api03-flows0000000000000000000000000000000000";

let models: FakeModels;
let bench: Workbench;

describe.skipIf(contractTests() === "left out")("flows with real agent programs", () => {
  beforeEach(async () => {
    models = await startFakeModels({ scenario: { rules: [] } });
    bench = await openWorkbench({
      settings: (dir) => ({ runners: { ...program(dir, claude), ...program(dir, codex) } }),
    });
  });
  afterEach(async () => {
    await bench.close();
    await models.close();
  });

  test("R-X-08, R-000-14: a feature goes through claude and codex to shipped, with one REVISE whose issues reach the builder", {
    timeout: 180_000,
  }, async () => {
    models.play({
      rules: [
        rule("# IN1: spec", [
          submits(
            { verdict: "APPROVED", summary: "One page." },
            { write: { path: "specs/handoffs/F-1-in1.md", content: "# Spec\n" } },
          ),
        ]),
        rule("# IN5: design", [submits({ verdict: "APPROVED", summary: "Two functions." })]),
        rule("# IN2: build", [
          submits({ verdict: "COMPLETE", summary: "Built." }, { bash: "mkdir -p src && echo 'a - b' > src/add.js" }),
          submits({ verdict: "COMPLETE", summary: "Fixed." }, { bash: "echo 'a + b' > src/add.js" }),
        ]),
        rule("# IN6: QA", [
          submits({
            verdict: "REVISE",
            summary: "It subtracts.",
            issues: [{ severity: "major", description: "add() subtracts", file: "src/add.js", line: 1 }],
          }),
          submits({
            verdict: "SHIP",
            summary: "It adds.",
            findings: [{ id: "F1", state: "fixed", reason: "1 + 2 is 3" }],
          }),
        ]),
      ],
    });
    let run = await bench.run(
      "feature",
      {},
      { facts: { runners: mixed({ spec: "claude", design: "codex", build: "claude", qa: "codex" }) } },
    );
    await approve(run);
    run = await bench.load(run.id);
    expect(bench.errors).toEqual([]);
    const events = await bench.events(run.id);
    expect(verdictsOf(events)).toEqual([
      "spec:APPROVED",
      "design:APPROVED",
      "build:COMPLETE",
      "qa:REVISE",
      "build:COMPLETE",
      "qa:SHIP",
    ]);
    expect(run).toMatchObject({ status: "waiting", word: "review" });
    const second = readFileSync(join(bench.home, "runs", run.id, "build-2", "prompt.md"), "utf8");
    expect(second).toContain("[major] add() subtracts (src/add.js:1)");
    await approve(run);
    run = await bench.load(run.id);
    expect(run).toMatchObject({ status: "completed", word: "shipped" });
    expect(wordsOf(events)).toContain("qa");
    const attempts = await bench.passrail.store.attempts(run.id);
    expect(attempts.map(({ stage, facts }) => [stage, facts["runner"]])).toEqual([
      ["spec", "claude"],
      ["design", "codex"],
      ["build", "claude"],
      ["qa", "codex"],
      ["build", "claude"],
      ["qa", "codex"],
    ]);
    await expectAccounted(run);
    expect(findMarked(`${storeMark(bench.home)}/`)).toEqual([]);
    expectNoSecrets(run);
  });

  test("R-001-06, R-001-08: a pipeline is routed by claude, built by claude and reviewed by codex, sent back once by REVIEW.md", {
    timeout: 180_000,
  }, async () => {
    const stages = [
      { agent: "builder", teams: false },
      { agent: "reviewer", teams: false },
    ];
    const build = (text: string): Action => ({
      bash: `echo '${text}' > add.js && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm '${text}'`,
    });
    const review = (verdict: string, said: string, findings: readonly JsonObject[] = []): Script =>
      submits(
        { verdict, summary: said, ...(findings.length > 0 ? { findings } : {}) },
        {
          bash: `mkdir -p .brain && printf -- 'Verdict: ${verdict}\\n\\n## Findings\\n\\n- ${said}\\n' > .brain/REVIEW.md`,
        },
      );
    models.play({
      rules: [
        rule("# Router", [submits({ stages, summary: "small" })]),
        rule("# Builder", [
          submits({ verdict: "APPROVE", summary: "Built." }, build("a - b")),
          submits({ verdict: "APPROVE", summary: "Fixed." }, build("a + b")),
        ]),
        rule("# Reviewer", [
          review("REVISE", "add subtracts"),
          review("APPROVE", "F1: fixed — it adds", [{ id: "F1", state: "fixed", reason: "it adds" }]),
        ]),
      ],
    });
    const runners = mixed({ route: "claude", builder: "claude", reviewer: "codex" });
    const run = await bench.run("routed", {}, { facts: { runners }, title: "Fix add" });
    expect(bench.errors).toEqual([]);
    const events = await bench.events(run.id);
    const started = events.flatMap((event) => (event.type === "stage.started" ? [event.stage] : []));
    expect(started).toEqual(["route", "builder", "reviewer", "builder", "reviewer"]);
    expect(run).toMatchObject({ status: "completed", word: "completed" });
    expect(readFileSync(join(bench.home, "runs", run.id, "builder-2", "prompt.md"), "utf8")).toContain("add subtracts");
    const attempts = await bench.passrail.store.attempts(run.id);
    expect(attempts.map(({ stage, facts }) => [stage, facts["runner"]])).toEqual([
      ["route", "claude"],
      ["builder", "claude"],
      ["reviewer", "codex"],
      ["builder", "claude"],
      ["reviewer", "codex"],
    ]);
    // The router is one small request; nobody else has its limit.
    const limits = models.requests.flatMap(({ rule: id, body }) =>
      id === "# Router" ? [(body as { max_tokens?: number }).max_tokens] : [],
    );
    expect(new Set(limits)).toEqual(new Set([500]));
    await expectAccounted(run);
    expect(findMarked(`${storeMark(bench.home)}/`)).toEqual([]);
    expectNoSecrets(run);
  });

  test("R-X-08: a story goes through five agents of two vendors to complete, sent back once by its reviewer", {
    timeout: 180_000,
  }, async () => {
    const discoveries = { learnings: [], gotchas: [], decisions: [] };
    const work = (text: string): Action => ({
      bash: `echo '${text}' >> story.txt && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm '${text}'`,
    });
    const approval = {
      verdict: "approved",
      summary: "Good.",
      payload: { approved: true, files_changed: [], discoveries, review_notes: "ok" },
    };
    models.play({
      rules: [
        rule("# Analyst", [
          submits({
            verdict: "approved",
            summary: "Planned.",
            payload: {
              plan: ["one"],
              files_to_modify: ["story.txt"],
              approach: "small",
              risks: [],
              questions_resolved: [],
            },
          }),
        ]),
        rule("# Implementer", [
          submits(
            {
              verdict: "approved",
              summary: "Done.",
              payload: { files_changed: ["story.txt"], summary: "s", tests_added: [], build_passes: true, discoveries },
            },
            work("first"),
          ),
          submits(
            {
              verdict: "approved",
              summary: "Done again.",
              payload: {
                files_changed: ["story.txt"],
                summary: "s",
                tests_added: ["t"],
                build_passes: true,
                discoveries,
              },
            },
            work("second"),
          ),
        ]),
        rule("# Reviewer", [
          submits({
            verdict: "rejected",
            summary: "No test.",
            reason: "There is no test.",
            issues: [{ severity: "major", description: "no test" }],
          }),
          // The desk refuses the first call because it says nothing about F1; the program reads that and answers for it.
          [
            { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args: approval } }] },
            ...submits({ ...approval, findings: [{ id: "F1", state: "fixed", reason: "there is one" }] }),
          ],
        ]),
        rule("# Refactorer", [submits({ verdict: "approved", summary: "Nothing to do." })]),
        rule("# Documenter", [submits({ verdict: "approved", summary: "Documented." }, work("third"))]),
      ],
    });
    const runners = mixed({
      analyst: "codex",
      implementer: "claude",
      reviewer: "claude",
      refactorer: "codex",
      documenter: "codex",
    });
    const run = await bench.run("story", {}, { subject: "v0.1:1.1.1", facts: { runners, story: { number: "1-1-1" } } });
    expect(bench.errors).toEqual([]);
    expect(verdictsOf(await bench.events(run.id))).toEqual([
      "analyst:approved",
      "implementer:approved",
      "reviewer:rejected",
      "implementer:approved",
      "reviewer:approved",
      "refactorer:approved",
      "documenter:approved",
    ]);
    expect(run).toMatchObject({ status: "completed", word: "complete" });
    expect(run.findings?.list).toMatchObject([{ id: "F1", stage: "reviewer", state: "fixed" }]);
    const log = execFileSync("git", ["log", "--format=%s", "--all"], { cwd: bench.project, encoding: "utf8" });
    expect(log).toContain("third");
    await expectAccounted(run);
    expect(findMarked(`${storeMark(bench.home)}/`)).toEqual([]);
  });

  test("an agent that asks a person waits in the inbox, and goes on in its session with the answer", {
    timeout: 120_000,
  }, async () => {
    models.play({
      rules: [
        // The newest message that matches decides: the answer comes in a prompt of its own.
        rule("Answer of the person", [submits({ verdict: "APPROVED", summary: "Postgres it is." })]),
        rule("# IN1: spec", [
          [
            {
              do: [
                {
                  mcp: {
                    server: "passrail",
                    tool: "ask_human",
                    args: { question: "Which database?", options: ["SQLite", "Postgres"] },
                  },
                },
              ],
            },
            { text: "Waiting." },
          ],
        ]),
        rule("# IN5: design", [
          submits({
            verdict: "REJECT",
            summary: "Enough.",
            reason: "The test ends here.",
            issues: [{ description: "end" }],
          }),
        ]),
      ],
    });
    let run = await bench.run("feature", {}, { facts: { runners: mixed({ "*": "claude" }) } });
    await approve(run);
    run = await bench.load(run.id);
    const [item] = openItems(run);
    expect(item).toMatchObject({
      kind: "question",
      stage: "spec",
      questions: ["Which database?\nOptions: SQLite | Postgres"],
    });
    await bench.answer(run, "question", "", "Postgres");
    run = await bench.load(run.id);
    expect(verdictsOf(await bench.events(run.id)).slice(0, 2)).toEqual(["spec:blocked", "spec:APPROVED"]);
    const answered = models.requests.find(({ rule: id }) => id === "Answer of the person");
    // The same conversation: the first prompt is in it.
    expect(JSON.stringify(answered?.body)).toContain("# IN1: spec");
    expect(readFileSync(join(bench.home, "runs", run.id, "spec-2", "prompt.md"), "utf8")).not.toContain("# IN1: spec");
  });
});

/** Where the CLI is, and how it finds the scripted models. */
function program(dir: string, vendor: Vendor): JsonObject {
  const home = join(dir, `home-of-${vendor.cli}`);
  mkdirSync(home);
  const env = {
    HOME: home,
    PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    ...vendor.setUp(home, models.url, API_KEY),
  };
  return { [vendor.cli]: { command: [cliPath(vendor.cli)], env } };
}

function mixed(players: Readonly<Record<string, "claude" | "codex">>): JsonObject {
  const model = { claude: claude.model, codex: codex.model };
  const entries = Object.entries(players).map(([name, runner]) => [name, { runner, model: model[runner] }]);
  return { "*": [], ...Object.fromEntries(entries) };
}

function rule(prompt: string, visits: readonly [Script, ...Script[]]): Rule {
  return { id: prompt, match: { prompt }, visits };
}

function submits(args: JsonObject, ...work: readonly Action[]): Script {
  const submit = { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args } }] };
  const [first, ...rest] = work.map((action) => ({ do: [action] }));
  const done = { text: "Done." };
  return first === undefined ? [submit, done] : [first, ...rest, submit, done];
}

async function approve(run: Run): Promise<void> {
  await bench.answer(run, "gate", "approve");
}

/** Every attempt says what it used: tokens from both, dollars from the one that tells them. */
async function expectAccounted(run: Run): Promise<void> {
  const used = (await bench.events(run.id)).flatMap((event) => (event.type === "usage.recorded" ? [event] : []));
  const attempts = await bench.passrail.store.attempts(run.id);
  expect(used.length).toBe(attempts.length);
  for (const { runner, usage } of used) {
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(usage.outputTokens).toBeGreaterThan(0);
    if (runner === "claude") expect(usage.usd).toBeGreaterThan(0);
    else expect(usage.usd).toBeNull();
  }
}

/** Neither the vendor's key nor a token of the desk is kept anywhere, and what the programs needed for a while is gone. */
function expectNoSecrets(run: Run): void {
  const places = [
    join(bench.home, "runs", run.id),
    join(bench.home, "passrail.db"),
    join(bench.home, "passrail.db-wal"),
  ];
  const { stdout } = spawnSync("grep", ["-rla", "-e", API_KEY, "-e", "pr_at_", ...places], { encoding: "utf8" });
  expect(stdout).toBe("");
  expect(readdirSync(join(bench.home, "scratch"))).toEqual([]);
}
