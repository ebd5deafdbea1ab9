import { expect, test } from "vitest";
import { readSettings } from "./settings.ts";

const read = (project: unknown) => readSettings({ environment: {}, flags: {}, user: undefined, project });

test.each([
  [{ merge: { poll: "999999d" } }, "24d"],
  [{ merge: { check_timeout: "25d" } }, "24d"],
  [{ tickets: { idle_sleep: "999999h" } }, "24d"],
  [{ slots: 101 }, "100"],
  [{ agents: { a: { limit: 101 } } }, "100"],
  [{ budgets: { run: { tokens: 1e15 } } }, "1000000000000"],
  [{ triggers: [{ name: "a", flow: "f", github_issue: { label: "x", every: "999999h" } }] }, "24d"],
])("P5: %j is refused, and the message names the maximum", (project, maximum) => {
  const settings = read(project);
  expect(settings.ok ? "taken" : settings.error.message).toContain(maximum);
});

test("P5: what is at the maximum is taken", () => {
  expect(read({ slots: 100, merge: { poll: "24d" }, tickets: { idle_sleep: "100h" } })).toMatchObject({ ok: true });
});
