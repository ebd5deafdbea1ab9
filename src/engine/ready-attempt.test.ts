// Who decides how many attempts of an agent work at once.

import { expect, test } from "vitest";
import { flowOf } from "../../test/harness/scripted-engine.ts";
import { transition } from "../core/run/transition.ts";
import { readyAttempt } from "./ready-attempt.ts";

test("R-000-18: the operator's limit decides over the flow's concurrency, which counts without one", () => {
  const limitOf = (stage: object, limits: Readonly<Record<string, number>>) => {
    const resolved = flowOf([{ id: "build", agent: "builder", ...stage }]);
    const { run } = transition(resolved.flow, undefined, {
      type: "run.requested",
      runId: "r1",
      flowHash: resolved.hash,
      subject: { id: "F-1", title: "t", body: "" },
      facts: {},
      id: "s",
      at: "2026-01-01T00:00:00.000Z",
      actor: "human:t",
    });
    return readyAttempt(
      resolved,
      run,
      { track: "main", stage: "build", attempt: 1 },
      { agentLimits: limits, runnersOf: () => [] },
    )?.slot.agentLimit;
  };
  expect(limitOf({ concurrency: 1 }, {})).toBe(1);
  expect(limitOf({ concurrency: 1 }, { builder: 3 })).toBe(3);
  expect(limitOf({}, { builder: 2, other: 1 })).toBe(2);
  expect(limitOf({}, { other: 1 })).toBe(null);
});
