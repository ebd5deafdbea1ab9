import { expect, test } from "vitest";
import { createClaudeReader } from "./stream.ts";
import { limitUses } from "./limit-uses.ts";

const AT = 1_790_000_000;
const ENDS = new Date(AT * 1000).toISOString();

test("every window is told with its share and its end, also while requests are allowed", () => {
  const info = {
    status: "allowed",
    unifiedWindows: { five_hour: { utilization: 0.92, resetsAt: AT }, seven_day: { utilization: 0.3, resetsAt: AT } },
  };
  const line = JSON.stringify({ type: "rate_limit_event", rate_limit_info: info });
  expect(createClaudeReader().read(line)).toEqual([
    {
      type: "limits",
      uses: [
        { window: "five hour", share: 0.92, resetsAt: ENDS },
        { window: "seven day", share: 0.3, resetsAt: ENDS },
      ],
    },
  ]);
});

test("an event with one number is about the window that it names; without a number nothing is told", () => {
  const info = { status: "allowed_warning", rateLimitType: "seven_day", utilization: 0.95, resetsAt: AT };
  expect(limitUses(info)).toEqual([{ window: "seven day", share: 0.95, resetsAt: ENDS }]);
  expect(limitUses({ status: "allowed" })).toEqual([]);
  expect(limitUses({ utilization: "0.9" })).toEqual([]);
});
