import { describe, expect, test } from "vitest";
import { isOlder, removedText, sizeOfBytes, whyDue } from "./retention.ts";

const DAY = 86_400_000;
const NOW = Date.parse("2026-05-31T12:00:00.000Z");
const files = (days: number) => ({
  runId: "r1",
  number: 1,
  endedAt: new Date(NOW - days * DAY).toISOString(),
  bytes: 1000,
});
const NO_RULE = { ageMs: null, count: null, bytes: null };

describe("which files are due", () => {
  const rule = { ageMs: 90 * DAY, count: 3, bytes: 5000 };
  test.each([
    ["age, as soon as they are older", 91, { newer: 0, totalBytes: 0 }, "age"],
    ["nothing at the age itself", 90, { newer: 0, totalBytes: 0 }, undefined],
    ["count, when as many newer runs have theirs", 1, { newer: 3, totalBytes: 0 }, "count"],
    ["nothing for one of the newest", 1, { newer: 2, totalBytes: 0 }, undefined],
    ["size, while all take more", 1, { newer: 0, totalBytes: 5001 }, "size"],
    ["nothing at the size itself", 1, { newer: 0, totalBytes: 5000 }, undefined],
  ] as const)("%s", (_name, days, at, expected) => {
    expect(whyDue(files(days), at, rule, NOW)).toBe(expected);
  });

  test("without rules everything stays", () => {
    expect(whyDue(files(10_000), { newer: 1e6, totalBytes: 1e15 }, NO_RULE, NOW)).toBeUndefined();
  });

  test("a time that nobody can read, or in the future, is not old", () => {
    expect(isOlder("yesterday", { ageMs: 1 }, NOW)).toBe(false);
    expect(isOlder("2027-01-01T00:00:00.000Z", { ageMs: 1 }, NOW)).toBe(false);
  });
});

test("a person who asks for removed files is told when and why they went, and what is kept", () => {
  expect(removedText({ at: "2026-05-31T12:00:00.000Z", because: "age", bytes: 1 })).toBe(
    "Passrail removed the files of this run's attempts on 2026-05-31: they were older than retention.files.age. Events, verdicts and costs are kept.",
  );
});

test.each([
  [0, "0.0 kB"],
  [1500, "1.5 kB"],
  [12_345_678, "12.3 MB"],
  [345_678_901, "346 MB"],
  [20_000_000_000, "20.0 GB"],
])("%i bytes are %s", (bytes, expected) => {
  expect(sizeOfBytes(bytes)).toBe(expected);
});
