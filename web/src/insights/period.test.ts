import { expect, test } from "vitest";
import { periodOf, sinceOf } from "./period.ts";

const now = Date.parse("2026-03-01T13:00:00Z");

test("a period begins with a whole day, and today is one of its days", () => {
  expect(sinceOf("1", now)).toBe("2026-03-01");
  expect(sinceOf("7", now)).toBe("2026-02-23");
  expect(sinceOf("all", now)).toBeNull();
});

test("an address that names no period means a week", () => {
  expect(periodOf("30")).toBe("30");
  expect(periodOf("x")).toBe("7");
  expect(periodOf(undefined)).toBe("7");
});
