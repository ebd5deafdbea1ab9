import { expect, test } from "vitest";
import { type EndedRow, nightReportCostText, nightReportOf, type NightReportFacts } from "./night-report.ts";

const NOTHING: NightReportFacts = {
  since: "2026-03-10T22:00:00.000Z",
  until: "2026-03-11T07:00:00.000Z",
  isCut: false,
  ended: [],
  items: [],
  ends: [],
  cannotStart: [],
  running: [],
  plan: null,
  spent: { attempts: 0, usd: 0, unknownUsd: 0 },
};

function landed(usd: number | null, meteredAttempts: number): EndedRow {
  return {
    subject: "AGI-1",
    title: "One",
    run: { id: "r1", number: 1 },
    text: "1 commit landed.",
    commands: [],
    at: "2026-03-11T01:00:00.000Z",
    state: "landed",
    commit: "0".repeat(40),
    target: "main",
    usd,
    meteredAttempts,
  };
}

test("work that a run of its own merged is told once, by the run that made it", () => {
  const made = landed(0.4, 1);
  const merged = { ...landed(null, 0), run: { id: "r2", number: 2 }, text: "The commits landed." };
  const other = { ...landed(0.2, 1), run: { id: "r3", number: 3 }, subject: "AGI-2" };
  expect(nightReportOf({ ...NOTHING, ended: [merged, made, other] }).landed).toEqual([made, other]);
});

test("an unknown cost is neither zero nor part of an average", () => {
  const spent = { attempts: 3, usd: 1, unknownUsd: 1 };
  const { cost } = nightReportOf({ ...NOTHING, spent, ended: [landed(0.4, 1), landed(null, 1), landed(null, 0)] });
  expect(cost).toEqual({ attempts: 3, usd: 1, unknownUsd: 1, usdPerLanded: 0.4, landedUnknown: 2 });
  expect(nightReportCostText(cost)).toBe(
    "$1.00, and 1 attempt did not report; per landed run $0.40 (2 of unknown cost left out)",
  );
  const silent = nightReportOf({ ...NOTHING, spent: { attempts: 2, usd: 0, unknownUsd: 2 } }).cost;
  expect(silent).toMatchObject({ usd: null, usdPerLanded: null });
  expect(nightReportCostText(silent)).toBe("unknown, and 2 attempts did not report; per landed run unknown");
  expect(nightReportCostText(nightReportOf(NOTHING).cost)).toContain("no metered attempts");
});

test("a ticket that could not start is told once, although its file is in the inbox, too", () => {
  const path = "feature_requests/FR-1/AGI-2.md";
  const end = { id: `file:${path}`, kind: "file", title: path, text: "Broken.", since: null, run: null } as const;
  const report = nightReportOf({
    ...NOTHING,
    ends: [
      {
        ...end,
        ticket: "AGI-2",
        isTold: false,
        verbs: [{ verb: "edit", effect: "Opens it.", command: path, act: { do: "type" } }],
      },
    ],
    cannotStart: [
      { ticket: "AGI-2", path, line: 3, why: "broken" },
      { ticket: "AGI-3", path: "p", line: null, why: "no repository" },
    ],
  });
  expect(report.cannotStart.map(({ subject, text, commands }) => [subject, text, commands])).toEqual([
    ["AGI-2", "Broken.", [path]],
    ["AGI-3", "p: no repository", ["passrail explain AGI-3"]],
  ]);
});
