// Source 004, a ticket through its stages: exit codes decide, status words show where it is.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  inProgressStatus,
  isActionable,
  isTicketStatus,
  nextStatus,
  TICKET_STATUSES,
  type TicketStatus,
} from "../../../src/core/ticket/status.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { openWorkbench, type Script, verdictsOf, type Workbench, wordsOf } from "../../harness/workbench.ts";
import { WALK } from "../../harness/tickets.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const OK = { via: "text", text: "done" };
const FAILS = { via: "text", text: "boom", exit: 3 };
const ALL: Script = { "*": [OK] };
/** Lands at once: a pull request would wait for a person. */
const start = (ticket: JsonObject, script: Script = ALL, config: JsonObject = {}) =>
  bench.run("ticket", script, {
    subject: "AGI-7",
    facts: { ticket: { repo: "org/app", ...ticket }, config: { merge_mode: "merge", ...config } },
  });
const words = async (run: Run) => wordsOf(await bench.events(run.id));
const prompt = (run: Run, attempt: string) =>
  readFileSync(join(bench.home, "runs", run.id, attempt, "prompt.md"), "utf8");

test("R-004-48: the walk from Needs Research to Done is visible in the status words, which are those of the table", async () => {
  const run = await start({ status: "Needs Research" });
  expect(run).toMatchObject({ status: "completed", word: "Done" });
  const shown = (await words(run)).slice(1);
  expect(shown).toEqual(WALK);
  for (const [index, word] of (shown as TicketStatus[]).entries()) {
    expect(isTicketStatus(word)).toBe(true);
    if (word.startsWith("Needs")) expect(shown[index + 1]).toBe(inProgressStatus(word));
    else if (word !== "Done") expect(shown[index + 1]).toBe(nextStatus(word));
  }
  expect(bench.errors).toEqual([]);
});

test("R-004-47: the in-progress word is shown before the workspace is made", async () => {
  const run = await start({ status: "Needs Plan" });
  const events = await bench.events(run.id);
  const shown = events.findIndex((event) => event.type === "status.changed" && event.to === "Plan In Progress");
  const finished = events.findIndex((event) => event.type === "stage.finished");
  expect(shown).toBeGreaterThan(0);
  expect(shown).toBeLessThan(finished);
});

test("R-004-03, R-004-48: a ticket in the backlog enters at research, or at oneshot by its field or by setting", async () => {
  expect(await words(await start({ status: "Backlog" }))).toEqual(["Backlog", ...WALK]);
  const oneshot = ["Backlog", "Oneshot In Progress", "Done"];
  const byField = await start({ status: "Backlog", workflow: "oneshot" });
  expect(await words(byField)).toEqual(oneshot);
  expect(verdictsOf(await bench.events(byField.id))).toEqual(["oneshot:0", "land:landed"]);
  expect(await words(await start({ status: "Backlog" }, ALL, { backlog_entry: "oneshot" }))).toEqual(oneshot);
});

test.each([
  ["Needs Spec", "spec", 4],
  ["Needs Plan", "plan", 3],
  ["Needs Implement", "implement", 2],
  ["Needs Validate", "validate", 1],
] as const)("R-004-44: %s enters at %s and goes on to the end", async (status, stage, stages) => {
  const run = await start({ status });
  expect(run).toMatchObject({ status: "completed", word: "Done" });
  const finished = verdictsOf(await bench.events(run.id));
  expect(finished[0]).toContain(`${stage}:`);
  expect(finished).toHaveLength(stages + 1);
  expect(finished.at(-1)).toBe("land:landed");
});

test("R-004-44: each stage gets its own prompt with the ticket's values and the merge fragment of the mode", async () => {
  const run = await start({ status: "Needs Research", group: "login-auth" }, ALL, { merge_mode: "auto" });
  const one = prompt(run, "implement-1");
  for (const text of ["AGI-7", "Do AGI-7", "All of it.", "org/app", "feat/login-auth"]) expect(one).toContain(text);
  expect(one).not.toMatch(/\{\{[A-Z_]+\}\}/u);
  const fragment = (name: string) =>
    readFileSync(join(import.meta.dirname, `../../../prompts/fragments/${name}.md`), "utf8")
      .trim()
      .split("\n")[0] ?? "";
  expect(one).toContain(fragment("merge-auto"));
  const pr = await start({ status: "Needs Validate" }, ALL, { merge_mode: "pr" });
  expect(prompt(pr, "validate-1")).toContain(fragment("merge-pr"));
  const merge = await start({ status: "Needs Validate" }, ALL, { merge_mode: "merge" });
  expect(prompt(merge, "validate-1")).toContain(fragment("merge-direct"));
  expect(
    new Set(["research", "spec", "plan", "implement", "validate"].map((stage) => prompt(run, `${stage}-1`))).size,
  ).toBe(5);
});

test("R-004-43: the branch is that of the group, else that of the ticket", async () => {
  const branch = async (run: Run) => (await bench.passrail.store.attempts(run.id))[0]?.facts["branch"];
  expect(await branch(await start({ status: "Needs Validate" }))).toBe("feat/AGI-7");
  expect(await branch(await start({ status: "Needs Validate", group: "login-auth" }))).toBe("feat/login-auth");
});

test("R-004-49: a stage that fails blocks the ticket, with the error, and nothing more is started", async () => {
  const run = await start({ status: "Needs Research" }, { ...ALL, plan: [FAILS] });
  expect(run).toMatchObject({ status: "stopped", word: "Blocked", reason: expect.stringContaining("3") });
  expect((await words(run)).at(-1)).toBe("Blocked");
  expect(run.stages["implement"]).toBeUndefined();
  const failed = (await bench.events(run.id)).findLast(({ type }) => type === "stage.finished");
  expect(failed).toMatchObject({
    stage: "plan",
    outcome: { health: "failed", cause: "agent_exit_nonzero", summary: "boom" },
  });
  expect(bench.notices.at(-1)).toMatchObject({ event: "stopped" });
  const record = (await bench.passrail.store.attempts(run.id)).find(({ stage }) => stage === "plan");
  expect(readFileSync(record?.facts["output"] as string, "utf8")).toContain("boom");
});

test("R-004-49: a program that cannot be started, or a repository that is none, blocks the ticket too", async () => {
  const run = await bench.run("ticket", ALL, {
    subject: "AGI-8",
    facts: { ticket: { status: "Needs Plan" }, config: { project: join(bench.dir, "nowhere") } },
  });
  expect(run).toMatchObject({ status: "stopped", word: "Blocked" });
});

test.each([
  ["that no other builds on waits for its merge", { terminal: true }, { status: "running", word: "Awaiting Merge" }],
  ["that others build on is done when its branch is there", { terminal: false }, { status: "completed", word: "Done" }],
])("R-004-50: a ticket %s", async (_, facts, standing) => {
  const works: Script = { "*": [{ ...OK, write: { "made.txt": "x" }, commit: true }] };
  const auto = { merge_mode: "auto" };
  expect(await start({ status: "Needs Validate", ...facts }, works, auto)).toMatchObject(standing);
  const oneshot = { status: "Backlog", workflow: "oneshot", group: "other", ...facts };
  expect(await start(oneshot, works, auto)).toMatchObject(standing);
});

test("R-004-52: the test writer works after implement, in the same workspace, before Needs Validate", async () => {
  const log = join(bench.dir, "log.jsonl");
  const script = {
    ...ALL,
    implement: [{ ...OK, write: { "made.txt": "x" }, log }],
    tests: [{ ...OK, log }],
    validate: [{ ...OK, log }],
  };
  const run = await start({ status: "Needs Implement", terminal: false }, script, { test_writer: true });
  expect(run).toMatchObject({ status: "completed", word: "Done" });
  const lines = readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { stage: string; cwd: string });
  expect(lines.map(({ stage }) => stage)).toEqual(["implement", "tests", "validate"]);
  expect(lines[1]?.cwd).toBe(lines[0]?.cwd);
  const events = await bench.events(run.id);
  const needsValidate = events.findIndex((event) => event.type === "status.changed" && event.to === "Needs Validate");
  const testsDone = events.findIndex((event) => event.type === "stage.finished" && event.stage === "tests");
  expect(testsDone).toBeGreaterThan(0);
  expect(testsDone).toBeLessThan(needsValidate);
});

test("R-004-52: while the test writer works the ticket stays in Implement In Progress", async () => {
  const run = await start({ status: "Needs Implement" }, ALL, { test_writer: true });
  expect((await words(run)).slice(1)).toEqual([
    "Needs Implement",
    "Implement In Progress",
    "Needs Validate",
    "Validate In Progress",
    "Done",
  ]);
});

test("R-004-52: a test writer that fails is a warning, not a block; switched off it does not run", async () => {
  const run = await start({ status: "Needs Implement" }, { ...ALL, tests: [FAILS] }, { test_writer: true });
  expect(run).toMatchObject({ status: "completed", word: "Done" });
  const warning = (await bench.events(run.id)).find(({ type }) => type === "warning.raised");
  expect(warning).toMatchObject({ stage: "tests", code: "went_on" });
  expect((await start({ status: "Needs Implement" })).stages["tests"]).toBeUndefined();
});

test("R-004-39: a status that is no status, or from which nothing starts, blocks the ticket and starts no agent", async () => {
  const others = TICKET_STATUSES.filter((status) => !isActionable(status));
  expect(others).toHaveLength(12);
  for (const status of ["Need Plan", "needs plan", "", ...others]) {
    const run = await start({ status });
    expect(run).toMatchObject({ status: "stopped", word: "Blocked", stages: {} });
    expect((run as Run & { reason: string }).reason).toContain(`"${status}"`);
  }
});

test("R-004-53: validate asks in a WORK_RESULT block for another implementation, which gets its error as the issue, without a warning", async () => {
  const log = join(bench.dir, "log.jsonl");
  const block = "WORK_RESULT:\n  success: false\n  next_status: Needs Implement\n  error: the list is not sorted";
  const script = {
    ...ALL,
    implement: [OK, { ...OK, log }],
    validate: [{ via: "text", text: block }, OK],
  };
  const run = await start({ status: "Needs Implement", terminal: false }, script);
  expect(run).toMatchObject({ status: "completed", word: "Done", counters: { validate: { loops: 1 } } });
  expect(verdictsOf(await bench.events(run.id))).toContain("validate:revise");
  expect(readFileSync(log, "utf8")).toContain("the list is not sorted");
  const events = await bench.events(run.id);
  expect(events.filter(({ type }) => type === "warning.raised")).toEqual([]);
  expect(events.find((event) => event.type === "stage.finished" && event.stage === "validate")).toMatchObject({
    outcome: { issues: [expect.stringContaining("the list is not sorted")] },
  });
});

test("R-004-53: a worker asks for a person's review", async () => {
  const block = "WORK_RESULT:\n  success: false\n  next_status: Needs Human Review\n  error: look at the migration";
  const run = await start({ status: "Needs Plan", terminal: false }, { ...ALL, plan: [{ via: "text", text: block }] });
  expect(run).toMatchObject({ status: "waiting", word: "Needs Human Review" });
  expect((await bench.events(run.id)).filter(({ type }) => type === "warning.raised")).toEqual([]);
});

test("R-004-53: a worker asks for a person's decision, and goes on with the answer", async () => {
  const block = "WORK_RESULT:\n  success: false\n  next_status: Needs Human Decision\n  error: Postgres or SQLite?";
  const script = { ...ALL, "plan#1": [{ via: "text", text: block }] };
  const run = await start({ status: "Needs Plan", terminal: false }, script);
  expect(run).toMatchObject({ status: "waiting", word: "Needs Human Decision" });
  await bench.answer(run, "question", "", "SQLite");
  expect(await bench.load(run.id)).toMatchObject({ status: "completed", word: "Done" });
  expect(prompt(run, "plan-2")).toContain("SQLite");
});
