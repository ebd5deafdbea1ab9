import { expect, test } from "vitest";
import { readTriggers } from "./triggers.ts";

const place = { home: "/state", project: "/project", environment: {} };
const weekly = { name: "weekly", flow: "intake", schedule: "0 9 * * 1" };

test.each([
  [{ schedule: "not cron" }],
  [{ schedule: "61 * * * *" }],
  [{ schedule: "0 0 30 2 *" }],
  [{ schedule: "* * * *" }],
  [{ schedule: "0 9 * * 1", timezone: "Mars/Phobos" }],
])("%j is refused by the trigger's name", (when) => {
  const read = readTriggers([{ name: "wrong", flow: "intake", ...when }], place);
  expect(read).toMatchObject({
    ok: false,
    error: { code: "trigger_invalid", message: expect.stringContaining("The trigger wrong") },
  });
});

test.each([["../outside/*.md"], ["/etc/*"], ["a/../../b"]])(
  "S12: the glob %s is refused by the trigger's name",
  (glob) => {
    expect(readTriggers([{ name: "wrong", flow: "intake", files: [glob] }], place)).toMatchObject({
      ok: false,
      error: { code: "trigger_invalid", message: expect.stringContaining(glob) },
    });
  },
);

test("two triggers of one name are refused", () => {
  expect(readTriggers([weekly], place).ok).toBe(true);
  expect(readTriggers([weekly, weekly], place)).toMatchObject({ ok: false, error: { code: "trigger_invalid" } });
});
