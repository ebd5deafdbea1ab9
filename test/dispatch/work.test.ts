// `passrail work` as its users have it: ticket files, the real program, scripted agents, local worktrees.

import { afterEach, beforeEach, expect, test } from "vitest";
import { OK, openProject, type Project } from "./project.ts";

let project: Project;
beforeEach(() => {
  project = openProject();
});
afterEach(() => project.remove());

const WALK = [
  "Needs Research",
  "Research In Progress",
  "Needs Spec",
  "Spec In Progress",
  "Needs Plan",
  "Plan In Progress",
  "Needs Implement",
  "Implement In Progress",
  "Needs Validate",
  "Validate In Progress",
  "Done",
];

test("R-004-65: a ticket in the backlog walks to Done with one command, a scripted agent and a local sandbox", async () => {
  project.settings({ "*": [OK] }, { merge: { mode: "merge" } });
  project.ticket(1);
  const { code, out, err } = await project.passrail(["work", "--once"]);
  expect(err).toContain("AGI-1: Validate In Progress → Done");
  expect(out).toBe("");
  expect(code).toBe(0);
  expect(project.status(1)).toBe("Done");
  const shown = err.split("\n").flatMap((line) => /AGI-1: .* → (.*)$/u.exec(line)?.[1] ?? []);
  expect(shown).toEqual(WALK);
});
