import { expect, test } from "vitest";
import { flowFileSchema } from "../flow/flow-file.ts";
import { resolveFlow } from "../flow/flow.ts";
import type { JsonObject } from "../json.ts";
import { chosenOutcome, nextStep } from "./guided.ts";
import { type ScriptedOutcome, simulate } from "./simulate.ts";

const FLOW = resolveFlow(
  flowFileSchema.parse({
    flow: "small",
    version: 1,
    subject: "task",
    words: { verdict: { DONE: "pass", SHIP: "pass", CHANGES: "revise" } },
    counters: { review: { max_loops: 1, on_exhausted: "escalate" } },
    defaults: { route: { blocked: { ask: "owner", goto: "self" } } },
    stages: [
      { id: "build", agent: "builder", verdicts: ["DONE"] },
      { id: "test", agent: "checks", command: ["true"], result: { from: "exit-code" } },
      {
        id: "review",
        agent: "reviewer",
        verdicts: ["SHIP", "CHANGES"],
        route: { pass: "next", revise: { goto: "build", counter: "review" } },
      },
      { id: "merge", kind: "gate", who: "owner", route: { approve: "end", decline: "stop" } },
    ],
  }),
);

function after(...script: readonly ScriptedOutcome[]) {
  const step = nextStep(FLOW, simulate(FLOW, script, { facts: {} }));
  return step === null ? null : { ...step, labels: step.offers.map(({ label }) => label) };
}

test("every step offers the flow's own words, the exit codes of a check, or the answers of an item", () => {
  const build: ScriptedOutcome = { stage: "build", verdict: "DONE" };
  const green: ScriptedOutcome = { stage: "test", exit: 0 };
  expect(after()).toMatchObject({ about: "build", labels: ["DONE (pass)", "blocked", "failed", "incomplete"] });
  expect(after(build)?.labels.slice(0, 2)).toEqual(["exit 0", "exit 1"]);
  expect(after(build, green)?.labels.slice(0, 2)).toEqual(["SHIP (pass)", "CHANGES (revise)"]);
  expect(after(build, green, { stage: "review", verdict: "CHANGES" })?.about).toBe("build, attempt 2");
  const ship: ScriptedOutcome = { stage: "review", verdict: "SHIP" };
  expect(after(build, green, ship)).toMatchObject({ about: "gate merge", labels: ["approve", "decline"] });
  const approve: ScriptedOutcome = { at: "merge", kind: "gate", answer: "approve", text: "" };
  expect(after(build, green, ship, approve)).toBeNull();
});

test("a choice is its number or its word; a question takes any text", () => {
  const step = after();
  const chosen = (said: string): JsonObject | undefined => (step === null ? undefined : chosenOutcome(step, said));
  expect(chosen("1")).toEqual({ stage: "build", verdict: "DONE" });
  expect(chosen("done")).toEqual({ stage: "build", verdict: "DONE" });
  expect(chosen("Blocked")).toEqual({ stage: "build", health: "blocked" });
  expect([chosen("9"), chosen("0"), chosen("ship")]).toEqual([undefined, undefined, undefined]);
  const asked = after({ stage: "build", health: "blocked", questions: ["Which?"] });
  expect(asked?.about).toBe("question build");
  expect(asked === null ? null : chosenOutcome(asked, "Use SQLite")).toEqual({
    question: "build",
    answer: "Use SQLite",
  });
});
