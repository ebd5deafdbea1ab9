// The test lists of source 004 (its phases 1.5, 2.2, 3.7, 3.8, 4.3 and its end-to-end tests): each item has a test, found by its name.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

const STATUS = "src/core/ticket/status.test.ts";
const PLAN = "src/core/ticket/plan.test.ts";
const CATALOG = "src/catalog/catalog.test.ts";
const STREAM = "src/runner/claude/stream.test.ts";
const SPAWNER = "test/scenarios/engine/spawner.test.ts";
const WRITING = "test/scenarios/ticket-files/writing.test.ts";
const SPEC = "test/scenarios/ticket-intake/spec.test.ts";
const WORK = "test/scenarios/ticket-pick/work.test.ts";

/** Item of the source -> file, and the name of the test as it is written there (or its beginning). */
const LISTS: Readonly<Record<string, readonly (readonly [file: string, name: string])[]>> = {
  "TaskStatus: isActionable": [[STATUS, "R-004-02: six statuses are actionable"]],
  "TaskStatus: inProgressStatus maps, and throws": [
    [STATUS, "R-004-03: a status that starts has its in-progress word"],
  ],
  "TaskStatus: nextStatus": [[STATUS, "R-004-04: a stage that passed leads to the next status"]],
  "TaskStatus: stagePromptMap has all actionable statuses": [
    [STATUS, "R-004-05: every actionable status has a prompt"],
  ],
  "TaskStatus: isIntervention only for three": [[STATUS, "R-004-06: the terminal stage is validate, and a person"]],
  "PromptLoader: an existing prompt": [[CATALOG, "R-004-08, R-004-09: a prompt and a fragment are read"]],
  "PromptLoader: a missing prompt": [[CATALOG, "R-004-08, R-004-09: a prompt or fragment that is missing"]],
  "PromptLoader: {{VAR}} is replaced": [["src/core/flow/template.test.ts", "R-004-08: every {{KEY}} is replaced"]],
  "PromptLoader: an unmatched {{VAR}} stays": [
    ["src/core/flow/template.test.ts", "R-004-08: every {{KEY}} is replaced"],
  ],
  "PromptLoader: fragments": [[CATALOG, "R-004-08, R-004-09: a prompt and a fragment are read"]],
  "ClaudeSpawner: arguments": [["test/scenarios/cli/spawner.test.ts", "R-004-14: with permission full and a model"]],
  "ClaudeSpawner: finalOutput, cost, duration": [
    [STREAM, "R-004-16: pieces that cut lines"],
    [STREAM, "R-004-17: the result's text counts"],
    [SPAWNER, "R-004-18: cost and time are those of the result event"],
  ],
  "ClaudeSpawner: a non-zero exit code": [[SPAWNER, "R-004-18: the exit code is kept"]],
  "SpecAgent: TICKETS:, one and several": [
    [SPEC, 'R-004-65, R-004-20: spec "Build a REST API for user management"'],
    [WRITING, "R-004-26: all tickets of a request are in one folder"],
  ],
  "SpecAgent: QUESTIONS:": [["src/core/verdict/prefix.test.ts", "R-004-21: questions are read %s"]],
  "SpecAgent: nextFeatureRequestId": [[WRITING, "R-004-27: the first request is FR-1 with AGI-1"]],
  "SpecAgent: nextTicketId": [
    [WRITING, "R-004-27: the first request is FR-1 with AGI-1"],
    [WRITING, "R-004-27: numbers go on from the highest"],
  ],
  "SpecAgent: folders and front matter": [
    ["test/scenarios/engine/intake.test.ts", "R-004-20, R-004-26, R-004-29: a request becomes ticket files"],
    ["src/core/ticket/new-ticket.test.ts", "R-004-28: a ticket file holds its text once"],
  ],
  "SpecAgent: variants share group and have variantHint": [[SPEC, "R-004-30: a request with variants becomes tickets"]],
  "Orchestrator: filterEligible, satisfied only": [[PLAN, "R-004-37: eligible is actionable with every dependency"]],
  "Orchestrator: filterEligible skips unmet": [[PLAN, "R-004-37: an unknown dependency is unmet and named"]],
  "Orchestrator: Done and Canceled satisfy": [
    [PLAN, "R-004-37: eligible is actionable with every dependency Done or Can"],
  ],
  "Orchestrator: isTerminal, true and false": [[PLAN, "R-004-43: terminal is what nobody lists"]],
  "Orchestrator: branchName": [[PLAN, "R-004-43: terminal is what nobody lists; a group is the branch"]],
  "Orchestrator: loadAllTasks finds nested files": [
    ["test/scenarios/ticket-files/reading.test.ts", "R-004-33: every FR-*/AGI-*.md is read whatever its status"],
  ],
  "Orchestrator: loadAllTasks maps the status": [
    [STATUS, "R-004-01: there are exactly 18 statuses"],
    ["test/scenarios/ticket-files/reading.test.ts", "R-004-33: every FR-*/AGI-*.md is read whatever its status"],
  ],
  "Entry point: spec": [[SPEC, 'R-004-65, R-004-20: spec "Build a REST API for user management"']],
  "Entry point: the loop without a command": [
    [WORK, "R-004-56, R-004-57: passrail alone only looks, until the operator says"],
  ],
  "Entry point: spec without text": [[SPEC, "R-004-20: words are joined by spaces; without any there is the usage"]],
  "End to end: spec writes tickets": [[SPEC, 'R-004-65, R-004-20: spec "Build a REST API for user management"']],
  "End to end: a ticket in the backlog walks through its stages": [
    [WORK, "R-004-65, R-004-48: a ticket in the backlog"],
  ],
  "Coverage: status helpers agree with the flow": [
    [STATUS, "R-004-07: the flow and the table of statuses say the same"],
  ],
};

const REAL = /^(?:test|describe|\]\))/u;

test.each(Object.entries(LISTS))("R-004-66: the item %j of the source's lists has a test", (_item, places) => {
  for (const [file, name] of places) {
    const path = join(root, file);
    expect([file, existsSync(path)]).toEqual([file, true]);
    const at = startOf(readFileSync(path, "utf8"), name);
    expect([file, name, REAL.test(at)]).toEqual([file, name, true]);
  }
});

test("R-004-66: a test that is left out or gone does not count", () => {
  expect(startOf('  test("R-1: it holds", () => {', "R-1: it holds")).toMatch(/^test/u);
  expect(startOf('  test.skip("R-1: it holds", () => {', "R-1: it holds")).toBe("");
  expect(startOf('  test.todo("R-1: it holds");', "R-1: it holds")).toBe("");
  expect(startOf("// R-1: it holds", "R-1: it holds")).toBe("");
});

/** What is written before the name where it is the name of a test that runs; empty otherwise. */
function startOf(text: string, name: string): string {
  for (const line of text.split("\n")) {
    const at = line.indexOf(name);
    const before = line.slice(0, Math.max(at, 0)).trim();
    if (at > 0 && /^(?:(?:test|describe)(?:\.each\(.*\))?|\]\))\(["'`]$/u.test(before)) return before;
  }
  return "";
}
