import { expect, test } from "vitest";
import type { InboxItem } from "../run/run.ts";
import { chosenKey, keysOf, keysText } from "./item-keys.ts";

const base = { number: 1, stage: "ship", who: "owner", openedAt: "2026-01-01T00:00:00Z" };
const gate: InboxItem = { ...base, kind: "gate", answers: ["approve", "revise", "decline"] };
const escalation: InboxItem = {
  ...base,
  kind: "escalation",
  reason: "used up",
  issues: [],
  choices: { again: "build", accept: "accept", cancel: "cancel" },
  again: "build",
};

test("a gate has a key for each answer, and two that answer nothing", () => {
  expect(keysText(keysOf(gate))).toBe("y approve · r revise · n reject · d diff · l later");
  expect(keysText(keysOf(escalation))).toBe("1 again · 2 accept · 3 cancel · d diff · l later");
});

test.each([
  ["y", "approve"],
  ["YES", "approve"],
  ["approve", "approve"],
  [" n ", "decline"],
  ["no", "decline"],
  ["r", "revise"],
])("%j at a gate means %s", (typed, answer) => {
  expect(chosenKey(keysOf(gate), typed)?.does).toMatchObject({ type: "answer", answer });
});

test.each(["", "  ", "yy", "x", "perhaps", "1"])("%j at a gate means nothing", (typed) => {
  expect(chosenKey(keysOf(gate), typed)).toBeUndefined();
});

test("who sends work back says what to change; an escalation takes a note", () => {
  expect(keysOf(gate).map(({ does }) => ("note" in does ? does.note : ""))).toEqual([
    "none",
    "required",
    "none",
    "",
    "",
  ]);
  expect(chosenKey(keysOf(escalation), "again")?.does).toMatchObject({ note: "optional" });
});
