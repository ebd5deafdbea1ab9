import { expect, test } from "vitest";
import type { RunEvent } from "../run/event.ts";
import { lastReview } from "./last-review.ts";

const event = (type: string, actor: string, at: string, more: object = {}) =>
  ({ type, actor, at, track: "main", stage: "ship", number: 1, ...more }) as unknown as RunEvent;
const attempts = [
  { endedAt: "2026-01-01T10:00:00.000Z", to: "aaa" },
  { endedAt: "2026-01-01T11:00:00.000Z", to: null },
  { endedAt: "2026-01-01T12:00:00.000Z", to: "bbb" },
  { endedAt: null, to: "ccc" },
];

test("a person's last decision about work counts, with the commit that it records", () => {
  const events = [
    event("gate.answered", "human:ann", "2026-01-01T10:30:00.000Z", { commit: "aaa" }),
    event("question.answered", "human:ann", "2026-01-01T12:30:00.000Z"),
    event("gate.answered", "human:bob", "2026-01-01T13:00:00.000Z", { commit: "bbb" }),
  ];
  expect(lastReview(events, attempts, "human:ann")).toEqual({ commit: "aaa", at: "2026-01-01T10:30:00.000Z" });
  expect(lastReview(events, attempts, "human:bob")?.commit).toBe("bbb");
  expect(lastReview(events, attempts, "human:eve")).toBeNull();
});

test("at an escalation it is what was committed by then, and nothing where nothing was", () => {
  const at = (time: string) => [event("escalation.resolved", "human:ann", time)];
  expect(lastReview(at("2026-01-01T11:30:00.000Z"), attempts, "human:ann")?.commit).toBe("aaa");
  expect(lastReview(at("2026-01-01T12:30:00.000Z"), attempts, "human:ann")?.commit).toBe("bbb");
  expect(lastReview(at("2026-01-01T09:00:00.000Z"), attempts, "human:ann")).toBeNull();
});
