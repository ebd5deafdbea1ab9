import { expect, test } from "vitest";
import type { HandoffRowShown } from "../../../src/http/contract/schemas/handoff-row.ts";
import { attemptNumbers, INDICATORS, storyPicture } from "./picture.ts";

const STORY = {
  agents: ["analyst", "implementer", "reviewer", "refactorer", "documenter"],
  entry: "orchestrator",
  exit: "orchestrator",
};
type Said = readonly [from: string, to: string, status: HandoffRowShown["status"], reason?: string];

function rows(...said: readonly Said[]): readonly HandoffRowShown[] {
  return said.map(([from_agent, to_agent, status, reason = null], index) => ({
    id: index + 1,
    story_id: "v0.1:1.1",
    from_agent,
    to_agent,
    status,
    payload: {},
    rejection_reason: reason,
    created_at: `2026-03-01T10:00:0${index}.000Z`,
    processed_at: status === "pending" ? null : `2026-03-01T10:00:0${index}.500Z`,
  }));
}
const picture = (list: readonly HandoffRowShown[], current: string | null) =>
  storyPicture(STORY, list, current).map(({ agent, is, attempts }) => `${agent} ${is} ${attempts}`);

const TO_REVIEW: readonly Said[] = [
  ["orchestrator", "analyst", "accepted"],
  ["analyst", "implementer", "accepted"],
  ["implementer", "reviewer", "accepted"],
];
const REJECTED: readonly Said[] = [
  ...TO_REVIEW.slice(0, 2),
  ["implementer", "reviewer", "rejected", "no tests"],
  ["reviewer", "implementer", "pending"],
];

test("R-003-44: a story that has not begun shows its five agents, all of them not yet", () => {
  expect(picture([], null)).toEqual(STORY.agents.map((agent) => `${agent} pending 0`));
});

test("R-003-48: those before the one who works are done, those after it are not yet", () => {
  expect(picture(rows(...TO_REVIEW), "reviewer")).toEqual([
    "analyst done 1",
    "implementer done 1",
    "reviewer active 1",
    "refactorer pending 0",
    "documenter pending 0",
  ]);
});

test("R-003-49: after a reject the implementer is active again, and the reviewer has lost its check", () => {
  const marks = storyPicture(STORY, rows(...REJECTED), "implementer");
  expect(marks.map(({ is }) => is)).toEqual(["done", "active", "rejected", "pending", "pending"]);
  expect(marks[1]).toMatchObject({ attempts: 2, isUntaken: true });
});

test("R-003-47: whoever sent it back shows why, until it is its turn again", () => {
  expect(storyPicture(STORY, rows(...REJECTED), "implementer")[2]?.reason).toBe("no tests");
  const again = rows(
    ...REJECTED.slice(0, 3),
    ["reviewer", "implementer", "accepted"],
    ["implementer", "reviewer", "pending"],
  );
  expect(storyPicture(STORY, again, "reviewer")[2]).toMatchObject({ is: "active", attempts: 2, reason: null });
});

test("R-003-49: loops are counted as attempts of each agent", () => {
  const list = rows(
    ...REJECTED.slice(0, 3),
    ["reviewer", "implementer", "accepted"],
    ["implementer", "reviewer", "rejected", "still none"],
    ["reviewer", "implementer", "accepted"],
  );
  expect(picture(list, "implementer").slice(1, 3)).toEqual(["implementer active 3", "reviewer rejected 2"]);
  expect([...attemptNumbers(list, STORY.entry).values()]).toEqual([1, 1, 1, 2, 2, 3]);
});

test("what a later agent had done is to be done again when the story goes back before it", () => {
  const list = rows(
    ...TO_REVIEW,
    ["reviewer", "refactorer", "accepted"],
    ["refactorer", "documenter", "rejected", "unclear"],
    ["documenter", "refactorer", "accepted"],
    ["refactorer", "reviewer", "accepted"],
  );
  expect(picture(list, "reviewer")).toEqual([
    "analyst done 1",
    "implementer done 1",
    "reviewer active 2",
    "refactorer pending 2",
    "documenter rejected 1",
  ]);
});

test("R-003-48: a story that is complete has a check at every agent", () => {
  const list = rows(
    ...TO_REVIEW,
    ["reviewer", "refactorer", "accepted"],
    ["refactorer", "documenter", "accepted"],
    ["documenter", "orchestrator", "accepted"],
  );
  expect(storyPicture(STORY, list, null).every(({ is }) => is === "done")).toBe(true);
});

test("a story that is started again begins anew", () => {
  const list = rows(...REJECTED.slice(0, 3), ["orchestrator", "analyst", "pending"]);
  expect(picture(list, "analyst")).toEqual([
    "analyst active 1",
    "implementer pending 0",
    "reviewer pending 0",
    "refactorer pending 0",
    "documenter pending 0",
  ]);
});

test("a story that its first agent refused waits for a person: nobody works, and it says why", () => {
  const list = rows(["orchestrator", "analyst", "rejected", "no goal"]);
  expect(storyPicture(STORY, list, null)[0]).toMatchObject({ is: "rejected", reason: "no goal" });
});

test("R-003-50: every indicator has its own icon and word, not only a colour", () => {
  const all = Object.values(INDICATORS);
  expect(new Set(all.map(({ icon }) => icon)).size).toBe(4);
  expect(new Set(all.map(({ word }) => word)).size).toBe(4);
});
