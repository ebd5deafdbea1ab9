import { expect, test } from "vitest";
import { nextStep } from "./next-step.ts";

const none: Parameters<typeof nextStep>[0] = { id: "AGI-1", waits: [], newest: null, status: null };
const file = { dependents: [], repo: ".", lastError: null };

test("for every way in which a ticket can stand there is something to read, and a command where one helps", () => {
  for (const state of ["eligible", "waits", "refused", "working", "intervention", "awaiting-merge", "ended"] as const) {
    const step = nextStep(none, { ...file, state });
    expect(step.text).not.toBe("");
    expect(step.command === null || step.command.startsWith("passrail ")).toBe(true);
  }
});

test("what waits for an answer says that first", () => {
  const waits: typeof none.waits = [{ id: "r1.1", kind: "gate", stage: "x", who: "me", answers: [] }];
  expect(nextStep({ ...none, waits }, { ...file, state: "working" }).text).toContain("your answer");
});

test("a ticket whose repository nobody named asks for it", () => {
  expect(nextStep(none, { ...file, state: "refused", repo: "TBD" }).command).toContain("repo=");
});
