import { describe, expect, test } from "vitest";
import { retentionRules, retentionSchema } from "./retention.ts";
import { readSettings } from "./settings.ts";

const DAY = 86_400_000;

test("without settings files stay 90 days and at most 20 GB, runs for ever", () => {
  expect(retentionRules(undefined)).toEqual({
    files: { ageMs: 90 * DAY, count: null, bytes: 20 * 1024 ** 3 },
    logs: { ageMs: 90 * DAY },
    runs: { ageMs: null },
  });
});

test("none is no limit; each key has its own default", () => {
  const written = retentionSchema.parse({ files: { age: "none", count: 50 }, runs: { age: "365d" } });
  expect(retentionRules(written)).toEqual({
    files: { ageMs: null, count: 50, bytes: 20 * 1024 ** 3 },
    logs: { ageMs: 90 * DAY },
    runs: { ageMs: 365 * DAY },
  });
});

test.each([
  { files: { age: "0d" } },
  { files: { age: "90" } },
  { files: { size: "1tb" } },
  { files: { count: 0 } },
  { fils: {} },
])("%j is refused", (written) => {
  expect(retentionSchema.safeParse(written).success).toBe(false);
});

describe("who may set it", () => {
  const settings = { retention: { files: { age: "1h" } } };
  test("the user may", () => {
    const read = readSettings({ environment: {}, project: undefined, user: settings, flags: {} });
    expect(read.ok && read.value.retention.files.ageMs).toBe(3_600_000);
  });

  test("a repository may not: it would remove the files of other projects' runs", () => {
    const read = readSettings({ environment: {}, project: settings, user: undefined, flags: {} });
    expect(!read.ok && read.error.message).toContain("retention is not taken from a project");
  });
});
