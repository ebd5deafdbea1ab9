import { expect, test } from "vitest";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { withWork } from "./live-work.ts";

const row = { runId: "r1", stage: "build", attempt: 2, lastLine: { text: "before", at: null }, usage: null };
const now = { working: [row, { ...row, runId: "r2" }] } as unknown as AnswerTo<"showNow">;
const grown = (runId: string, attempt: number, line: { text: string; at: null } | null) => ({
  name: "attempt.output",
  runId,
  subjectId: "",
  growth: { stage: "build", attempt, events: 1, output: 1, line },
});

test("the line and the use of an attempt reach its own row; another attempt's, and a growth without a line, change nothing", () => {
  const usage = { usd: 1, inputTokens: 2, outputTokens: 3, cachedTokens: null };
  const used = { name: "attempt.usage", runId: "r1", subjectId: "", used: { stage: "build", attempt: 2, usage } };
  const after = withWork(now, [grown("r1", 2, { text: "after", at: null }), used]);
  expect(after.working).toMatchObject([
    { lastLine: { text: "after" }, usage },
    { lastLine: { text: "before" }, usage: null },
  ]);
  expect(withWork(now, [grown("r1", 1, { text: "old", at: null }), grown("r2", 2, null)])).toBe(now);
});
