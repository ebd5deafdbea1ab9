import { describe, expect, test } from "vitest";
import type { Report } from "../flow/outcome.ts";
import { coveredRows, metRows, unverifiedRows, withCoverage } from "./coverage.ts";
import { readHandoffFile } from "./handoff-file.ts";

const TASK = `# Task

- [ ] a box outside of the list

## Definition of Done

### Backend

- [ ] the route exists — with a name
- [x] **errors** are \`404\`

### Frontend

- [ ] the page shows it

### Tester scope

- [ ] a test proves it
- not a row to tick
`;

function covered(...rows: readonly string[]): Report {
  const reading = readHandoffFile(
    `## Status\n\ncomplete\n\n## DoD coverage\n\n${rows.map((row) => `- ${row}\n`).join("")}`,
  );
  if (!reading.ok) throw new Error(reading.error.message);
  return reading.value;
}
const rows = coveredRows({ covers: "all" }, TASK);
const counts = (...given: readonly string[]) => withCoverage(rows, covered(...given)).payload?.["dod_counts"];

describe("R-002-15: the rows of a coverage", () => {
  test("are those of the task's list that have a box, without those that are left to others", () => {
    expect(rows).toEqual([
      "the route exists — with a name",
      "**errors** are `404`",
      "the page shows it",
      "a test proves it",
    ]);
    expect(coveredRows({ covers: { except: ["frontend", "Tester"] } }, TASK)).toEqual(rows.slice(0, 2));
    expect(coveredRows({ covers: "all" }, "## DoD\n\n- one\n- two\n")).toEqual(["one", "two"]);
    expect(coveredRows({ covers: "all" }, "No list.")).toEqual([]);
    expect(coveredRows({}, TASK)).toEqual([]);
  });

  const whole = [
    "✓ The route exists — with a name — src/route.ts:3",
    "✓ errors are 404. — src/route.ts:9",
    "✓ the page  shows it — web/page.ts:1",
    "⚠️ Tester scope a test proves it",
  ];
  test("match by text, whatever marks, case and dashes; the task's own dash does not begin the evidence", () => {
    const report = withCoverage(rows, covered(...whole));
    expect(report.payload?.["dod_counts"]).toEqual({ met: 3, missing: 0, tester: 1, other: 0 });
    const one = withCoverage(rows, covered("✓ the route exists — with a name — src/route.ts:3")).payload?.["dod"];
    expect((one as readonly object[] | undefined)?.[0]).toMatchObject({
      row: "the route exists — with a name",
      evidence: "src/route.ts:3",
    });
  });

  test.each<[string, readonly string[], object]>([
    ["left out", whole.slice(1), { met: 2, missing: 1, tester: 1, other: 0 }],
    ["softened", [...whole.slice(1), "✓ a route exists — src/route.ts:3"], { met: 3, missing: 1, tester: 1, other: 0 }],
    ["all but one left out", ["✗ the page shows it"], { met: 0, missing: 4, tester: 0, other: 0 }],
    [
      "only the beginning of one",
      [...whole.slice(0, 2), "✓ the page — web/page.ts:1", whole[3] ?? ""],
      { met: 3, missing: 1, tester: 1, other: 0 },
    ],
  ])("that are %s count as ✗", (_how, given, expected) => {
    expect(counts(...given)).toEqual(expected);
  });

  test("of a report without any coverage are not made up", () => {
    expect(withCoverage(rows, { health: "complete" })).toEqual({ health: "complete" });
    expect(withCoverage([], covered("✓ x — a/b.ts"))).toEqual(covered("✓ x — a/b.ts"));
  });
});

describe("R-002-11: every ✓ row is verified", () => {
  const met = metRows(
    withCoverage(rows, covered("✓ the page shows it — a/b.ts:1", "✓ a test proves it — a/c.ts:1", "✗ errors are 404"))
      .payload,
  );

  test.each<[string, Report]>([
    ["verified rows", { payload: { verified: ["the page shows it — seen at line 1", "✓ A test proves it: yes"] } }],
    ["a coverage of its own", covered("✓ the page shows it — a/b.ts:1", "✓ a test proves it — a/c.ts:1")],
  ])("by %s", (_how, report) => {
    expect(unverifiedRows(met, report)).toBeUndefined();
  });

  test.each<[string, Report]>([
    ["nothing is said", {}],
    ["one is left out", { payload: { verified: ["the page shows it — seen"] } }],
    ["another row is named", { payload: { verified: ["the page shows it", "the route exists"] } }],
    ["it is marked as missing", covered("✓ the page shows it — a/b.ts:1", "✗ a test proves it")],
  ])("not if %s", (_how, report) => {
    expect(unverifiedRows(met, report)).toMatchObject({ code: "section_missing" });
    expect(unverifiedRows(met, report)?.message).toMatch(/a test proves it|the page shows it/u);
  });

  test("nothing is asked of a checker where no row is met", () => {
    expect(unverifiedRows([], {})).toBeUndefined();
  });
});
