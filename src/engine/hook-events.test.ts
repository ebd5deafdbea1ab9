import { expect, test } from "vitest";
import type { ObservedEvent } from "../attempt/job.ts";
import type { Run } from "../core/run/run.ts";
import { hookEvent } from "./hook-events.ts";

const run = { id: "r1", facts: { config: { project: "/p" } } } as unknown as Run;
const attempt = { run, stage: "build", attempt: 2, agent: "builder" };
const read = (event: ObservedEvent) => hookEvent(attempt, event, "now");

test("R-001-36: tool use, session end, teammate idle and task completed are hooks with a line and facts", () => {
  const place = { run: "r1", project: "/p", stage: "build", attempt: 2, agent: "builder", at: "now" };
  expect(read({ type: "tool.called", id: "1", name: "Bash", input: '{"command":"npm test\\nrm x"}' })).toEqual({
    hook: "tool_use",
    line: "tool Bash: npm test rm x",
    payload: { event: "tool_use", ...place, tool: "Bash", argument: "npm test rm x" },
  });
  expect(read({ type: "session.ended", id: "s", reason: "exited" })).toMatchObject({
    hook: "session_end",
    payload: { session: "s", reason: "exited" },
  });
  expect(read({ type: "teammate.idle", id: "t", name: "mate" })?.line).toBe("teammate mate is idle");
  expect(read({ type: "task.completed", id: "t", name: "mate", status: "completed", text: "done" })).toMatchObject({
    hook: "task_completed",
    line: "task of mate completed: done",
  });
  expect(read({ type: "message", text: "hello" })).toBeUndefined();
});

test("a long or hostile argument is one short line", () => {
  const found = read({ type: "tool.called", id: "1", name: "Write", input: `${"x".repeat(5000)}\u001b[31m` });
  expect(found?.line.length).toBeLessThan(200);
  expect(read({ type: "tool.called", id: "1", name: "T", input: "\u001b[31m\n" })?.line).not.toContain("\u001b");
});
