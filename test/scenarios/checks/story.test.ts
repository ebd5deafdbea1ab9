// Checks in the flow of source 003: the implementer works until they are green; a refactoring that breaks them is taken back.

import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";
import { check, checksOf } from "./checks.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const gives = (more: JsonObject = {}): JsonObject => ({
  verdict: "approved",
  payload: {
    plan: "p",
    files_to_modify: [],
    approach: "a",
    risks: [],
    questions_resolved: [],
    files_changed: ["a.ts"],
    summary: "s",
    tests_added: ["t"],
    build_passes: true,
    discoveries: {},
    approved: true,
    review_notes: "fine",
  },
  ...more,
});
const GREEN = "!fs.existsSync('broken.txt') || fs.existsSync('mended.txt')";
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", bench.project, ...args], { encoding: "utf8" }).trim();

async function story(script: Script): Promise<Run> {
  const facts = { config: { checks: { test: check(bench.dir, GREEN) } } };
  return bench.run("story", { "*": [gives()], ...script }, { subject: "v0.1:1.1.1", facts });
}

test("R-003-51: where checks are red after the refactorer, its commits are taken back with an event and a warning, and the story goes on", async () => {
  const run = await story({
    implementer: [gives({ write: { "a.ts": "work" } })],
    refactorer: [gives({ write: { "a.ts": "refactored", "broken.txt": "1" }, commit: true })],
    documenter: [gives({ write: { "docs.md": "new" } })],
  });
  expect(run).toMatchObject({ status: "completed", word: "complete" });
  const events = await bench.events(run.id);
  expect(checksOf(events)).toEqual(["implementer#1 test:passed", "refactorer#1 test:failed"]);
  const undone = events.find((event) => event.type === "work.undone");
  const built = events.find((event) => event.type === "stage.finished" && event.stage === "implementer");
  const checked = built?.type === "stage.finished" ? built.outcome.checks?.[0]?.commit : undefined;
  expect(undone).toMatchObject({
    stage: "refactorer",
    attempt: 1,
    to: checked,
    pinned: `refs/passrail/keep/${run.id}`,
  });
  const from = undone?.type === "work.undone" ? undone.from : "";
  // The work of the others is there, the refactoring is only in the pin.
  const branch = git("for-each-ref", "--format=%(refname:short)", "--contains", checked ?? "", "refs/heads");
  expect(git("show", `${branch}:a.ts`)).toBe("work");
  expect(git("show", `${branch}:docs.md`)).toBe("new");
  expect(() => git("cat-file", "-e", `${branch}:broken.txt`)).toThrow("broken.txt");
  expect(git("show", `${from}:broken.txt`)).toBe("1");
  expect(git("for-each-ref", "--contains", from, "--format=%(refname)")).toContain("refs/passrail/keep/");
  expect(
    events.some((event) => event.type === "warning.raised" && event.stage === "refactorer" && event.code === "went_on"),
  ).toBe(true);
  // The documenter has no issue to resolve, and nobody's handoff was rejected.
  const ready = events.findLast((event) => event.type === "stage.ready");
  expect(ready?.type === "stage.ready" ? [ready.stage, ready.carry.issues] : null).toEqual(["documenter", []]);
  expect(events.some((event) => event.type === "handoff.rejected")).toBe(false);
});

test("R-003-51: a refactoring that keeps the checks green stays, and the implementer works until they are", async () => {
  const run = await story({
    "implementer#1": [gives({ write: { "broken.txt": "1" } })],
    "implementer#2": [gives({ write: { "mended.txt": "1" } })],
    refactorer: [gives({ write: { "a.ts": "better" }, commit: true })],
  });
  expect(run.status).toBe("completed");
  const events = await bench.events(run.id);
  expect(checksOf(events)).toEqual([
    "implementer#1 test:failed",
    "implementer#2 test:passed",
    "refactorer#1 test:passed",
  ]);
  expect(events.some((event) => event.type === "work.undone")).toBe(false);
});
