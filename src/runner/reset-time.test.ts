import { describe, expect, test } from "vitest";
import { epochTime, nextMidnight, resetTime } from "./reset-time.ts";

const NOW = Date.parse("2026-11-17T13:05:20.000Z");
const ZONE = "America/New_York"; // 08:05:20 there

/** Words as a program prints them, and when the limit ends. */
const FORMS: readonly (readonly [string, string | null])[] = [
  // Claude Code
  ["Claude AI usage limit reached|1794933600", "2026-11-17T16:40:00.000Z"],
  ["You've hit your limit · resets 3pm (Europe/Berlin)", "2026-11-17T14:00:00.000Z"],
  ["You've hit your limit · resets 3:30pm (Europe/Berlin)", "2026-11-17T14:30:00.000Z"],
  ["5-hour limit reached ∙ resets 11am", "2026-11-17T16:00:00.000Z"],
  ["5-hour limit reached ∙ resets 7am", "2026-11-18T12:00:00.000Z"],
  ["You've hit your weekly limit · resets Nov 21, 9am (UTC)", "2026-11-21T09:00:00.000Z"],
  ["Weekly limit reached · resets Nov 20 at 9:15am (America/Los_Angeles)", "2026-11-20T17:15:00.000Z"],
  ["Your limit resets Jan 2 at 10am (UTC)", "2027-01-02T10:00:00.000Z"],
  ["weekly limit reached ∙ resets Monday 9:00 AM", "2026-11-23T14:00:00.000Z"],
  ["limit reached, resets Tuesday 7am", "2026-11-24T12:00:00.000Z"],
  ["limit reached, resets Tuesday 9am", "2026-11-17T14:00:00.000Z"],
  ["usage limit: available again tomorrow at 9am", "2026-11-18T14:00:00.000Z"],
  // Codex
  ["You’ve hit your usage limit. Upgrade to Pro or try again at 2:13 PM.", "2026-11-17T19:13:00.000Z"],
  ["You've hit your usage limit. Try again at 7:59 AM.", "2026-11-18T12:59:00.000Z"],
  ["You've hit your usage limit. Try again at 8:05 AM.", "2026-11-17T13:06:00.000Z"],
  ["You've hit your usage limit. Try again at 8:04 AM.", "2026-11-17T13:04:00.000Z"],
  ["visit the page to purchase more credits or try again at Nov 18th, 2026 2:04 AM.", "2026-11-18T07:04:00.000Z"],
  ["You've hit your usage limit. Try again in 3 hours 12 minutes.", "2026-11-17T16:17:20.000Z"],
  ["You've hit your usage limit. Try again in 2 days 3 hours 5 minutes.", "2026-11-19T16:10:20.000Z"],
  ["Try again in 5 days, 1 hour and 2 minutes", "2026-11-22T14:07:20.000Z"],
  [
    "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 28.5s.",
    "2026-11-17T13:05:48.500Z",
  ],
  ["Please try again in 1h2m3.5s. Visit the page", "2026-11-17T14:07:23.500Z"],
  ["Please try again in 120ms.", "2026-11-17T13:05:20.120Z"],
  ["Try again in less than a minute.", "2026-11-17T13:06:20.000Z"],
  ["Try again in an hour.", "2026-11-17T14:05:20.000Z"],
  ["stream disconnected - retrying sampling request (1/5 in 10799.99837964s)...", "2026-11-17T16:05:19.998Z"],
  ["stream disconnected - retrying sampling request (1/5 in 211.5ms)...", "2026-11-17T13:05:20.212Z"],
  ['{"error":{"type":"usage_limit_reached","resets_in_seconds":10800}}', "2026-11-17T16:05:20.000Z"],
  ['{"error":{"type":"usage_limit_reached","resets_at":1794933600}}', "2026-11-17T16:40:00.000Z"],
  // Gemini CLI
  ["Please retry in 3h0m0.5s.\nSuggested retry after 10800s.", "2026-11-17T16:05:20.500Z"],
  ["Suggested retry after 10800s.", "2026-11-17T16:05:20.000Z"],
  ["Please retry in 46.394129184s.", "2026-11-17T13:06:06.394Z"],
  ["You have exhausted your capacity on this model. Your quota will reset after 21h4m10s.", "2026-11-18T10:09:30.000Z"],
  ["Quota exceeded; your quota will reset at 2026-11-18T02:04:00Z.", "2026-11-18T02:04:00.000Z"],
  ['"retryDelay": "12s"', null],
  // opencode and HTTP
  ["Rate limited, retry-after: 10800", "2026-11-17T16:05:20.000Z"],
  ["retry-after-ms: 2500", "2026-11-17T13:05:22.500Z"],
  ["Retry-After: Wed, 18 Nov 2026 02:07:19 GMT", "2026-11-18T02:07:19.000Z"],
  ["Too many requests. Retry after 60 seconds", "2026-11-17T13:06:20.000Z"],
  ["Please wait 45 minutes before the next request", "2026-11-17T13:50:20.000Z"],
  ["Your plan renews on 2026-11-20", "2026-11-20T05:00:00.000Z"],
  ["limit until 2026-11-18 02:04 UTC", "2026-11-18T02:04:00.000Z"],
  ["resets at 2026-11-18T02:04:00+02:00", "2026-11-18T00:04:00.000Z"],
  ["resets at 15:00 UTC", "2026-11-17T15:00:00.000Z"],
  ["resets at 12:00 UTC", "2026-11-18T12:00:00.000Z"],
  ["resets at 15:00 PST", "2026-11-17T23:00:00.000Z"],
  ["resets at midnight PT", "2026-11-18T08:00:00.000Z"],
  ["resets at 1794933600000", "2026-11-17T16:40:00.000Z"],
  ["retry after PT3H", "2026-11-17T16:05:20.000Z"],
  // Nothing to wait for
  ["Request 10800 failed at 2:13 PM", null],
  ["Please try again later.", null],
  ["Try again at some point, or read /docs/429", null],
  ["resets", null],
  ["the limit resets 99pm, 25:00, Nov 45", null],
  ["try again at Smarch 13th, 2026", null],
  ["", null],
];

describe("when a limit ends, in the words of the programs", () => {
  test.each(FORMS)("%s", (said, ends) => {
    expect(resetTime(said, NOW, ZONE)).toBe(ends);
  });

  test("a clock time is the next one, over a change of the clocks too", () => {
    // Berlin leaves summer time on 2026-10-25 at 03:00.
    const before = Date.parse("2026-10-24T22:00:00.000Z");
    expect(resetTime("resets 4am (Europe/Berlin)", before, "UTC")).toBe("2026-10-25T03:00:00.000Z");
    expect(resetTime("resets 11:59pm", Date.parse("2026-12-31T23:59:30.000Z"), "UTC")).toBe("2027-01-01T00:00:00.000Z");
    expect(resetTime("resets 12:10am", Date.parse("2026-12-31T23:59:30.000Z"), "UTC")).toBe("2027-01-01T00:10:00.000Z");
  });

  test("a quota by days ends at midnight of its zone", () => {
    expect(nextMidnight(NOW, "America/Los_Angeles")).toBe("2026-11-18T08:00:00.000Z");
    expect(nextMidnight(Date.parse("2026-07-01T06:59:00.000Z"), "America/Los_Angeles")).toBe(
      "2026-07-01T07:00:00.000Z",
    );
  });

  test("only numbers that can be a time of these decades are one", () => {
    expect([1_794_933_600, 1_794_933_600_000, 12, Number.NaN, "1794933600", 9e15].map(epochTime)).toEqual([
      "2026-11-17T16:40:00.000Z",
      "2026-11-17T16:40:00.000Z",
      null,
      null,
      null,
      null,
    ]);
  });

  test("hostile text is read in linear time", () => {
    const began = performance.now();
    for (const piece of ["retry after ", "resets at ", "try again in 1 ", "until Nov 1", "wait 1h", "reset : : : "])
      resetTime(piece.repeat(200_000), NOW, ZONE);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
