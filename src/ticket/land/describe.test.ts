import { expect, test } from "vitest";
import type { Finding } from "../../core/finding/finding.ts";
import type { Run } from "../../core/run/run.ts";
import { describeWork } from "./describe.ts";

const finding = (id: string, more: Partial<Finding>): Finding => ({
  id,
  text: `text of ${id}`,
  stage: "review",
  track: "main",
  attempt: 1,
  state: "open",
  notFixed: 0,
  said: [],
  ...more,
});

test("a pull request names findings that are open, accepted or withdrawn, and not those that are fixed", () => {
  const list = [
    finding("F1", { state: "fixed" }),
    finding("F2", {
      state: "withdrawn",
      said: [{ by: "review", attempt: 2, state: "withdrawn", text: "it was wrong" }],
    }),
    finding("F3", { acceptedBy: "human:ada", severity: "major", file: "a.ts", line: 3 }),
    finding("F4", { text: "see @everyone, fixes #1 <b>" }),
  ];
  const run = { id: "r1", subject: { id: "S-1", title: "t", body: "" }, findings: { last: 4, list } } as unknown as Run;
  const { body } = describeWork(run, [], { checks: [], url: "", redact: (text) => text });
  const lines = body.split("\n").filter((line) => line.startsWith("- **F"));
  expect(lines).toEqual([
    "- **F2** (withdrawn) text of F2 — it was wrong",
    "- **F3** (accepted by ada, still open) major, a.ts:3: text of F3",
    "- **F4** (open) see @\u200beveryone, fixes #\u200b1 \\<b\\>",
  ]);
  expect(body).not.toContain("F1");
});
