import { expect, test } from "vitest";
import { movedBranch } from "./moved-branch.ts";

const [A, B] = ["a".repeat(40), "b".repeat(40)];
const on = (branch: string | null, from: string, to: string | null) => ({ facts: { branch, from, to } });

test("a branch has moved if it is not where the last attempt on it left it; without such an attempt nobody knows", () => {
  expect(movedBranch([on("work", A, A), on("work", A, B)], "work", A)).toEqual({ branch: "work", from: B, to: A });
  expect(movedBranch([on("work", A, B)], "work", B)).toBeNull();
  expect(movedBranch([on("work", A, null)], "work", A)).toBeNull();
  for (const attempts of [[], [on("other", A, B)], [on(null, A, B)], [on("work", A, B), { facts: {} }]])
    expect(movedBranch(attempts, "work", A)).toBeNull();
  expect(movedBranch([on("work", A, B)], "work", null)).toBeNull();
});
