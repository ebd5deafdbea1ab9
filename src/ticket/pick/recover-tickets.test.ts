import { expect, test } from "vitest";
import { isActionable, TICKET_STATUSES } from "../../core/ticket/status.ts";
import { statusBefore } from "./recover-tickets.ts";

test("R-004-61: each In Progress goes back to the status that its stage is picked up from, and nothing else moves", () => {
  const back = Object.fromEntries(TICKET_STATUSES.map((status) => [status, statusBefore(status)]));
  expect(Object.entries(back).filter(([, to]) => to !== undefined)).toEqual([
    ["Research In Progress", "Needs Research"],
    ["Spec In Progress", "Needs Spec"],
    ["Plan In Progress", "Needs Plan"],
    ["Implement In Progress", "Needs Implement"],
    ["Validate In Progress", "Needs Validate"],
    ["Oneshot In Progress", "Backlog"],
  ]);
  expect(Object.values(back).every((to) => to === undefined || isActionable(to))).toBe(true);
});
