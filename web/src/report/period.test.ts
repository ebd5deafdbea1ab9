import { expect, test } from "vitest";
import { periodOf, sinceOf } from "./period.ts";

test("the report begins at a whole hour, a day ago unless another period is chosen", () => {
  const now = Date.parse("2026-03-10T07:41:12.000Z");
  expect(sinceOf(periodOf(undefined), now)).toBe("2026-03-09T07:00:00.000Z");
  expect(sinceOf(periodOf("12"), now)).toBe("2026-03-09T19:00:00.000Z");
  expect(periodOf("9999")).toBe("24");
});
