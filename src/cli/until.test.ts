import { expect, test } from "vitest";
import { untilOf } from "./until.ts";

test("a time of the day is the next one here; spans and times in UTC work, the past does not", () => {
  const now = new Date(2026, 2, 10, 22, 30);
  expect(untilOf("07:00", now)).toBe(new Date(2026, 2, 11, 7, 0).toISOString());
  expect(untilOf("23:15", now)).toBe(new Date(2026, 2, 10, 23, 15).toISOString());
  expect(untilOf("22:30", now)).toBe(new Date(2026, 2, 11, 22, 30).toISOString());
  expect(untilOf("8h", now)).toBe(new Date(now.getTime() + 8 * 3_600_000).toISOString());
  expect(untilOf("none", now)).toBeNull();
  for (const wrong of ["7", "24:00", "07:60", "2020-01-01T00:00:00Z", "tomorrow", "", "0h", "8d"])
    expect(() => untilOf(wrong, now)).toThrow(`--until ${wrong}`);
});
