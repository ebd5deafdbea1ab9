// Loops as people count them, and why a person is asked before the last one.

import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import type { Finding } from "../finding/finding.ts";
import type { InboxItem, Run } from "../run/run.ts";
import { explainEscalation } from "./escalation.ts";
import { iterationText, loopRows } from "./loops.ts";

const flow = shippedFlow("build-plan-standard");

function runWith(loops: Readonly<Record<string, number>>, findings: readonly Partial<Finding>[] = []): Run {
  const worked = { attempts: 1, interruptions: 0 };
  return {
    id: "r1",
    facts: {},
    expanded: {},
    stages: Object.fromEntries(Object.keys(loops).map((stage) => [stage, worked])),
    counters: Object.fromEntries(Object.entries(loops).map(([key, count]) => [key, { loops: count, streak: 0 }])),
    findings: { list: findings.map((each) => ({ state: "open", stage: "dod", notFixed: 0, ...each })) },
  } as unknown as Run;
}

const escalated = { kind: "escalation", stage: "dod", number: 2, reason: "", issues: [] } as unknown as InboxItem;

test("a loop is a role in an iteration of how many; one that has not begun is not counted as its first", () => {
  const rows = loopRows(flow, runWith({ dod: 2, review: 0 }));
  const shown = rows.map((row) => [row.role, row.stage, iterationText(row), row.backTo]);
  expect(shown).toContainEqual(["dod-checker", "dod", "3 of 6", "dev"]);
  expect(shown).toContainEqual(["reviewer", "review", "1 of 3", "dev"]);
  expect(shown).toContainEqual(["tester", "test", "not yet", "dev"]);
});

test("an escalation before the last loop says that it is early, which finding is not fixed and how often", () => {
  const early = explainEscalation(flow, runWith({ dod: 2 }, [{ id: "F1", notFixed: 2 }]), escalated);
  expect(early).toBe(
    "Asked early, in iteration 3 of 6: dod said 2 times that F1 is not fixed. Another loop would probably end in the same way, so a person decides first.",
  );
  const both = [
    { id: "F1", notFixed: 1, reopened: true as const },
    { id: "F2", notFixed: 3 },
  ];
  expect(explainEscalation(flow, runWith({ dod: 5 }, both), escalated)).toBe(
    "No loop is left, and F1 came back after it was closed; dod said 3 times that F2 is not fixed.",
  );
  // Without such a finding the reason itself says it.
  expect(explainEscalation(flow, runWith({ dod: 5 }, [{ id: "F1", notFixed: 1 }]), escalated)).toBeNull();
});
