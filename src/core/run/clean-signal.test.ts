// Signals are stored without secrets, those about acts outside like all others.

import { expect, test } from "vitest";
import { createRedaction } from "../secrets/redaction.ts";
import { cleanSignal } from "./clean-signal.ts";
import type { SignalBody } from "./signal.ts";

const KEY = `ghp_${"x9".repeat(18)}`;
const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const act = { stage: "land", attempt: 1, key: "land:1:1", commit: COMMIT, before: null } as const;
const { text: redact } = createRedaction([]);

test.each<readonly [string, SignalBody]>([
  [
    "the branch of an intent",
    { type: "outward.intended", ...act, verb: "push", branch: `feat/${KEY}`, target: "main" },
  ],
  ["the target of an intent", { type: "outward.intended", ...act, verb: "merge", branch: "b", target: `to/${KEY}` }],
  [
    "the address of a pull request",
    {
      type: "outward.seen",
      key: "land:1:1",
      sight: { result: "done", commit: COMMIT, number: 7, url: `https://x:${KEY}@forge.test/pull/7` },
    },
  ],
  [
    "the remote's own words",
    { type: "outward.seen", key: "land:1:1", sight: { result: "not-done", why: `remote: no, ${KEY}` } },
  ],
  [
    "terminal codes inside of a key",
    {
      type: "outward.seen",
      key: "land:1:1",
      sight: { result: "not-done", why: `no ${KEY.slice(0, 9)}\u001b[1m${KEY.slice(9)}` },
    },
  ],
  ["the branch of a discard", { type: "discard.requested", branch: `feat/${KEY}`, commit: COMMIT }],
])("S09: %s is stored without a key", (_what, body) => {
  const stored = JSON.stringify(cleanSignal(body, redact));
  expect(stored).not.toContain(KEY.slice(12));
  expect(stored).toContain("REDACTED");
  expect(JSON.parse(stored)).toMatchObject({ type: body.type, ...("key" in body ? { key: body.key } : {}) });
  if (JSON.stringify(body).includes(COMMIT)) expect(stored).toContain(COMMIT);
});

test("R-004-55: terminal codes of an agent reach no event, wherever its report has them", () => {
  const red = (text: string) => `\u001b[31m${text}\u001b[0m`;
  const report = {
    summary: red("a"),
    reason: red("b"),
    issues: [red("c"), { severity: "major", description: red("d") }],
    questions: [red("e")],
    warnings: [red("f")],
    payload: { text: red("g"), more: [red("h")] },
  };
  const body = { type: "attempt.finished", stage: "s", attempt: 1, report } as unknown as SignalBody;
  expect(cleanSignal(body, redact)).toMatchObject({
    report: {
      summary: "a",
      reason: "b",
      issues: ["c", { description: "d" }],
      questions: ["e"],
      warnings: ["f"],
      payload: { text: "g", more: ["h"] },
    },
  });
});
