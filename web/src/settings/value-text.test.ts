import { expect, test } from "vitest";
import { valueText } from "./value-text.ts";

test.each([
  [null, "not set"],
  [undefined, "not set"],
  [4, "4"],
  [false, "false"],
  ["worktree", "worktree"],
  [[], "none"],
  [["a", "b"], "a, b"],
  [{}, "none"],
  [{ day: { usd: 20 }, run: null }, "day: { usd: 20 }, run: not set"],
])("%j is shown as %s", (value, text) => {
  expect(valueText(value)).toBe(text);
});
