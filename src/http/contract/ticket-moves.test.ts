import { expect, test } from "vitest";
import { runOfTicket, ticketMoves } from "./ticket-moves.ts";

const legal = (...given: Parameters<typeof ticketMoves>) =>
  ticketMoves(...given).flatMap(({ to, why }) => (why === null ? [to] : []));

test("without a run a ticket goes to every word that a stage starts from, and to those that keep it from starting", () => {
  expect(legal("AGI-1", "Needs Plan", "none")).toEqual([
    "Backlog",
    "Needs Research",
    "Needs Spec",
    "Needs Implement",
    "Needs Validate",
    "Blocked",
    "Needs Human Review",
    "Needs Human Decision",
    "Canceled",
  ]);
});

test("what a run says, no person says for it: nothing is In Progress, Awaiting Merge or Done by hand", () => {
  for (const run of ["none", "working", "resting"] as const) {
    const words = legal("AGI-1", "Backlog", run);
    expect(
      words.filter((word) => word.endsWith("In Progress") || word === "Awaiting Merge" || word === "Done"),
    ).toEqual([]);
  }
  expect(ticketMoves("AGI-1", "Backlog", "none").find(({ to }) => to === "Done")?.why).toContain("passrail done AGI-1");
});

test("while an agent works nothing moves; while its run rests it can be started over elsewhere or canceled", () => {
  expect(legal("AGI-1", "Plan In Progress", "working")).toEqual([]);
  expect(legal("AGI-1", "Blocked", "resting")).toContain("Needs Plan");
  expect(legal("AGI-1", "Blocked", "resting")).toContain("Canceled");
});

test("a run that has ended is none", () => {
  expect([null, "completed", "canceled"].map(runOfTicket)).toEqual(["none", "none", "none"]);
  expect(runOfTicket("running")).toBe("working");
  expect(["waiting", "stopped"].map(runOfTicket)).toEqual(["resting", "resting"]);
});
