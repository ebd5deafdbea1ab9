import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import {
  handoffPayload,
  isStale,
  isValidTransition,
  outwardStatus,
  storyAgents,
  type StoryHandoff,
  storyState,
  storyTransitions,
} from "./story.ts";

const flow = shippedFlow("story");
const AGENTS = ["orchestrator", "analyst", "implementer", "reviewer", "refactorer", "documenter"];

let id = 0;
function row(
  fromAgent: string,
  toAgent: string,
  state: StoryHandoff["state"],
  more: Partial<StoryHandoff> = {},
): StoryHandoff {
  id += 1;
  const fromStage = fromAgent === "orchestrator" ? null : fromAgent;
  const base = { id, number: id, fromStage, fromAgent, fromAttempt: 1, toAgent, state, rejectionReason: null };
  return { ...base, createdAt: "2026-01-31T10:00:00.000Z", added: null, ...more };
}

test("R-003-01: six agents in the source's order", () => {
  expect(storyAgents(flow)).toEqual(AGENTS);
});

test("R-003-16: exactly seven pairs are valid, the other 29 are refused", () => {
  expect(storyTransitions(flow).map(({ from, to }) => `${from}→${to}`)).toEqual([
    "orchestrator→analyst",
    "analyst→implementer",
    "implementer→reviewer",
    "reviewer→refactorer",
    "reviewer→implementer",
    "refactorer→documenter",
    "documenter→orchestrator",
  ]);
  const pairs = AGENTS.flatMap((from) => AGENTS.map((to) => isValidTransition(flow, from, to)));
  expect(pairs).toHaveLength(36);
  expect(pairs.filter(Boolean)).toHaveLength(7);
  expect(isValidTransition(flow, "implementer", "analyst")).toBe(false);
  expect(isValidTransition(flow, "nobody", "analyst")).toBe(false);
});

test("R-003-07: three status words outward", () => {
  const states = ["pending", "accepted", "done", "rejected", "withdrawn", "expired"] as const;
  expect(states.map(outwardStatus)).toEqual(["pending", "accepted", "accepted", "rejected", "rejected", "rejected"]);
});

test("R-003-12: the receiver is current while its handoff is pending and while it works", () => {
  expect(storyState(flow, [])).toEqual({ currentAgent: null, phase: null });
  const first = row("orchestrator", "analyst", "pending");
  expect(storyState(flow, [first])).toEqual({ currentAgent: "analyst", phase: "analyzing" });
  expect(storyState(flow, [{ ...first, state: "accepted" }])).toEqual({ currentAgent: "analyst", phase: "analyzing" });
  const rows = [{ ...first, state: "done" as const }];
  for (const [from, to, phase] of [
    ["analyst", "implementer", "implementing"],
    ["implementer", "reviewer", "reviewing"],
    ["reviewer", "refactorer", "refactoring"],
    ["refactorer", "documenter", "documenting"],
  ] as const) {
    const next = row(from, to, "pending");
    expect(storyState(flow, [...rows, next])).toEqual({ currentAgent: to, phase });
    expect(storyState(flow, [{ ...next, state: "accepted" }, ...rows])).toEqual({ currentAgent: to, phase });
    rows.push({ ...next, state: "done" });
  }
});

test("R-003-13: an agent whose work ended without a handoff of its own is current only while a question of it waits", () => {
  const crashed = [row("orchestrator", "analyst", "done")];
  expect(storyState(flow, crashed)).toEqual({ currentAgent: null, phase: null });
  expect(storyState(flow, crashed, ["analyst"])).toEqual({ currentAgent: "analyst", phase: "analyzing" });
  const later = [row("orchestrator", "analyst", "done"), row("analyst", "implementer", "done")];
  expect(storyState(flow, [...later, row("analyst", "implementer", "expired")])).toEqual(storyState(flow, crashed));
});

test("after a reject the story is with the implementer again", () => {
  const sent = row("implementer", "reviewer", "rejected", { rejectionReason: "Tests failing" });
  const rows = [row("analyst", "implementer", "done"), sent, row("reviewer", "implementer", "accepted")];
  expect(
    storyState(
      flow,
      rows.sort((a, b) => a.id - b.id),
    ),
  ).toEqual({ currentAgent: "implementer", phase: "implementing" });
  expect(storyState(flow, [row("orchestrator", "analyst", "expired")])).toEqual({ currentAgent: null, phase: null });
});

test("R-003-14: the handoff to the orchestrator completes the story", () => {
  const rows = [row("refactorer", "documenter", "done"), row("documenter", "orchestrator", "accepted")];
  expect(storyState(flow, rows)).toEqual({ currentAgent: null, phase: "complete" });
});

test("R-003-33: stale is pending and older than 30 minutes; at exactly 30:00 it is not stale yet", () => {
  const pending = row("orchestrator", "analyst", "pending");
  const at = (time: string) => Date.parse(`2026-01-31T${time}Z`);
  expect(flow.handoffs.staleAfterMs).toBe(30 * 60_000);
  expect(isStale(pending, at("10:30:00.000"), flow.handoffs.staleAfterMs)).toBe(false);
  expect(isStale(pending, at("10:30:00.001"), flow.handoffs.staleAfterMs)).toBe(true);
  expect(isStale({ ...pending, state: "accepted" }, at("12:00:00.000"), flow.handoffs.staleAfterMs)).toBe(false);
});

test("R-003-02: the first handoff carries the story, a returned one what was sent and why it was refused", () => {
  const subject = { id: "v0.1:1.1.1", title: "Login", body: "As a user …" };
  const payloads: Record<string, { summary: string }> = {
    "implementer 1": { summary: "one" },
    "implementer 2": { summary: "two" },
  };
  const payloadOf = (stage: string, attempt: number) => payloads[`${stage} ${attempt}`];
  const first = row("orchestrator", "analyst", "done");
  const plan = row("analyst", "implementer", "done");
  const sent = row("implementer", "reviewer", "rejected", { rejectionReason: "Tests failing" });
  const returned = row("reviewer", "implementer", "done");
  const again = row("implementer", "reviewer", "done", { fromAttempt: 2 });
  const rows = [first, plan, sent, returned, again];
  const payload = (handoff: StoryHandoff) => handoffPayload(rows, handoff, subject, payloadOf);
  expect(payload(first)).toEqual({ story: subject });
  expect(payload(plan)).toBeNull();
  expect(payload(sent)).toEqual({ summary: "one" });
  expect(payload(returned)).toEqual({ summary: "one", rejection_reason: "Tests failing", rejected_by: "reviewer" });
  expect(payload(again)).toEqual({ summary: "two" });
});

test("without a reason the returned handoff still says that it was refused, and by whom", () => {
  const rows = [row("analyst", "implementer", "rejected"), row("implementer", "analyst", "pending")];
  const [, returned] = rows as [StoryHandoff, StoryHandoff];
  const payload = handoffPayload(rows, returned, { id: "s", title: "t", body: "" }, () => undefined);
  expect(payload).toEqual({ rejection_reason: "", rejected_by: "implementer" });
});
