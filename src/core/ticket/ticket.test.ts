import { expect, test } from "vitest";
import { isSafeGroup, ticketNumber } from "./ticket.ts";

test.each([
  ["AGI-1", 1],
  ["AGI-999999999", 999_999_999],
  ["AGI-0", undefined],
  ["AGI-01", undefined],
  ["AGI-1234567890", undefined],
  ["AGI-1-2", undefined],
  ["AGI", undefined],
  ["agi-1", undefined],
  ["XAGI-1", undefined],
  ["AGI-1/../x", undefined],
  ["AGI-1\0", undefined],
  ["AGI-1\n", undefined],
  ["AGI-٣", undefined],
  ["", undefined],
])("the id %j has the number %j", (id, number) => {
  expect(ticketNumber(id, "AGI")).toBe(number);
});

test.each(["login", "a/b", "A_b-c.d", "x".repeat(60)])("%s can be part of a branch", (group) => {
  expect(isSafeGroup(group)).toBe(true);
});

test.each([
  "",
  "/a",
  "a/",
  "-a",
  ".a",
  "a/.b",
  "a..b",
  "a.lock",
  "a.lock/b",
  "a b",
  "a~",
  "a^",
  "a:",
  "a\\b",
  "@{",
  "x".repeat(61),
])("%j cannot", (group) => {
  expect(isSafeGroup(group)).toBe(false);
});
