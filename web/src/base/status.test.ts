import { expect, test } from "vitest";
import { RUN_STATES, STATE_WORDS } from "../../../src/core/view/state-words.ts";
import { SHOWN, shownOf, shownOfStatus } from "./status.ts";

test("every state of a run has a badge with the word of the one table", () => {
  for (const is of RUN_STATES) expect(SHOWN[shownOf({ state: { is } })].word).toBe(STATE_WORDS[is]);
});

test("a run that works after a loop is revising; one that only waits is not", () => {
  expect(shownOf({ state: { is: "working" }, loops: 1 })).toBe("revising");
  expect(shownOf({ state: { is: "queued" }, loops: 1 })).toBe("queued");
});

test("an earlier run of which only the status is known is never called working", () => {
  expect(shownOfStatus("running")).toBe("queued");
  expect(shownOfStatus("completed")).toBe("completed");
});
