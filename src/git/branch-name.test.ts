import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { safeGroup } from "../core/ticket/new-ticket.ts";
import { checkBranchName } from "./branch-name.ts";

const HOSTILE = [
  "",
  "feat/$(id)",
  "feat/;id",
  "feat/a\u3000b",
  "feat/a b",
  "-f",
  "--upload-pack=x",
  "feat/-f",
  "feat/.hidden",
  ".git",
  "../x",
  "feat/../x",
  "a..b",
  "a//b",
  "/a",
  "a/",
  "a.",
  "a.lock",
  "a.lock/b",
  "a.LOCK",
  "a@{1}",
  "@",
  "HEAD",
  "refs/heads/a",
  "a~1",
  "a^",
  "a:b",
  "a?b",
  "a*b",
  "a[b",
  "a\\b",
  "a\nb",
  "a\n",
  "a\0b",
  "a\u202eb",
  "ａ",
  "é",
  "`id`",
  "a|b",
  "a&b",
  "a>b",
  "a'b",
  'a"b',
  "%2e%2e",
  "0123456789abcdef0123456789abcdef01234567",
  "x".repeat(101),
  "x".repeat(300),
];

describe("checkBranchName", () => {
  test.each(HOSTILE)("refuses %j", (name) => {
    const short: unknown = expect.stringMatching(/^[^]{1,400}$/u);
    expect(checkBranchName(name)).toMatchObject({ ok: false, error: { code: "invalid_branch", message: short } });
  });

  test.each([
    "main",
    "feat/AGI-12",
    "feat/story-1.1.1",
    "feature/order/place_order",
    "passrail/r1",
    "x".repeat(100),
    "v1.0",
  ])("takes %j", (name) => {
    expect(checkBranchName(name)).toEqual({ ok: true, value: name });
  });
});

test("R-004-32: whatever the text, a group made of it is empty or part of a branch name that is taken", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({ unit: "grapheme", maxLength: 80 }),
    fc.string({ unit: fc.constantFrom("a", "Z", "0", ".", "_", "/", " ", "-"), maxLength: 90 }),
    fc.constantFrom(...HOSTILE),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const group = safeGroup(text);
      expect(group === "" || checkBranchName(`feat/${group}`).ok).toBe(true);
      expect(safeGroup(group)).toBe(group);
    }),
  );
});
