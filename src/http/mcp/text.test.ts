import { expect, test } from "vitest";
import { toText } from "./text.ts";

test("what nobody sees is written out, and the JSON stays the same", () => {
  const value = { summary: "a\u202eb\u200b\u{e0041}\u{e0042}\ufe01\u2028\u0007c", plain: "naïve 日本 ✓" };
  const text = toText(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).toContain("\\u202e");
  expect(text).toContain("\\udb40\\udc41");
  expect(text).not.toMatch(/[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/u);
  expect(text).toContain("naïve 日本 ✓");
});

test("an answer that is too long is shortened until it fits, and says so", () => {
  const attempts = Array.from({ length: 500 }, (_, attempt) => ({ attempt, summary: "x".repeat(5000) }));
  const text = toText({ id: "r1", attempts });
  expect(text.length).toBeLessThanOrEqual(60_001);
  const read = JSON.parse(text) as { id: string; attempts: unknown[] };
  expect(read.id).toBe("r1");
  expect(read.attempts[0]).toBe("(450 left out)");
  // The last ones count most.
  expect(read.attempts.at(-1)).toMatchObject({ attempt: 499, summary: expect.stringContaining("more characters") });
});

test("even what cannot be shortened has an end", () => {
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key${index}`, index]));
  expect(toText(wide).length).toBeLessThanOrEqual(60_001);
});
