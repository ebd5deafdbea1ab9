import { expect, test } from "vitest";
import { chosenText, fateOf, whyNotChoose } from "./variant-words.ts";

const VARIANT: Parameters<typeof fateOf>[0] = {
  id: "AGI-2",
  title: "By email",
  hint: null,
  word: "Implement In Progress",
  state: "working",
  branch: "feat/login-AGI-2",
  newest: { id: "r1", number: 7 },
  checks: [],
  verdicts: [],
  changes: { files: 1, added: 2, removed: 0 },
  cost: { usd: 0, unknownUsd: 0 },
  choice: { cancels: ["AGI-1"], why: null },
};

test("a variant that is worked on says that its agent ends and what stays", () => {
  expect(fateOf(VARIANT)).toBe(
    "Implement In Progress → Canceled. Run #7 ends now, with its agent. Its branch feat/login-AGI-2 stays, with all commits; nothing of it lands.",
  );
  expect(fateOf({ ...VARIANT, word: "Backlog", state: "eligible", newest: null, changes: null })).toBe(
    "Backlog → Canceled. It has no work.",
  );
});

test("a variant can be chosen while that changes something; otherwise it says why not", () => {
  expect(whyNotChoose({ choice: { cancels: ["AGI-1"], why: null } })).toBeNull();
  expect(whyNotChoose({ choice: { cancels: [], why: null } })).toContain("nothing to cancel");
  expect(whyNotChoose({ choice: { cancels: [], why: "AGI-2 is Canceled." } })).toBe("AGI-2 is Canceled.");
});

test("what happened names every canceled ticket and the pull requests that are still open", () => {
  expect(chosenText({ chosen: "AGI-2", canceled: [] })).toBe("AGI-2 is chosen; no other variant was open.");
  const gone = (id: string, pullRequest: string | null) => ({ id, branch: `feat/${id}`, from: "Backlog", pullRequest });
  expect(chosenText({ chosen: "AGI-2", canceled: [gone("AGI-1", null)] })).toBe(
    "AGI-2 is chosen. Canceled: AGI-1. Its branch stays.",
  );
  expect(chosenText({ chosen: "AGI-2", canceled: [gone("AGI-1", "https://x.test/1"), gone("AGI-3", null)] })).toBe(
    "AGI-2 is chosen. Canceled: AGI-1, AGI-3. Their branches stay. Still open at the forge: https://x.test/1",
  );
});
