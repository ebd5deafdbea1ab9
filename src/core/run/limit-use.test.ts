import { expect, test } from "vitest";
import { fullest, type LimitUse, limitUseText, nearMs } from "./limit-use.ts";

const NOW = Date.parse("2026-01-01T12:00:00.000Z");
const use = (share: number, resetsAt: string | null = "2026-01-01T14:00:00.000Z", window = "five hour"): LimitUse => ({
  window,
  share,
  resetsAt,
});

test("starts are slow from the threshold on, until the window ends", () => {
  expect(nearMs(use(0.92), 90, NOW)).toBe(2 * 3_600_000);
  expect(nearMs(use(0.89), 90, NOW)).toBeUndefined();
  expect(nearMs(use(0.92, null), 90, NOW)).toBe(3_600_000);
  expect(nearMs(use(0.92, "2026-01-01T11:00:00.000Z"), 90, NOW)).toBeUndefined();
  expect(limitUseText(use(0.929))).toBe("92 % of its five hour window");
});

test("the fullest window that has not ended counts; numbers that cannot be do not", () => {
  const past = use(1, "2026-01-01T11:00:00.000Z", "past");
  expect(fullest([use(0.5), use(0.8, null, "weekly"), past], NOW)?.window).toBe("weekly");
  expect(fullest([use(Number.NaN), use(-1), use(92)], NOW)).toBeUndefined();
  // A window of a century is not believed for longer than a week and a day.
  expect(nearMs(use(0.95, "2126-01-01T00:00:00.000Z"), 90, NOW)).toBe(8 * 24 * 3_600_000);
});
