// Numbers in the names of these tests would count as proof, so the names have none.

import { expect, test } from "vitest";
import { mark, prove, readStatements } from "./acceptance.ts";
import type { TestRecord, TestReport } from "./report.ts";

const spec = `# Title

- [x] **R-000-01** S The first; **E** and more.
- [ ] **R-000-02** P The second.
- [ ] **R-X-01** One without a tag.
`;
const { statements } = readStatements("docs/spec/000.md", spec);

const ran = (status: TestRecord["status"], name: string): TestRecord => ({ file: "src/a.test.ts", name, status });
const report = (...tests: TestRecord[]): TestReport => ({ tests, brokenFiles: [], durations: [] });
const statusIn = (proof: ReturnType<typeof prove>, number: string) =>
  proof.statements.find((statement) => statement.number === number)?.status;

test("a statement has a number, a tag, a text and a mark", () => {
  expect(statements).toEqual([
    { number: "R-000-01", tag: "S", text: "The first; **E** and more.", marked: true, file: "docs/spec/000.md" },
    { number: "R-000-02", tag: "P", text: "The second.", marked: false, file: "docs/spec/000.md" },
    { number: "R-X-01", tag: "", text: "One without a tag.", marked: false, file: "docs/spec/000.md" },
  ]);
});

test.each([
  "- [X] **R-000-03** S Big mark.",
  "- **R-000-03** S No mark.",
  "- [ ] R-000-03 S Not bold.",
  "- [ ] **R-000-3** S Short.",
])("a mistyped statement is a problem and not skipped: %#", (line) => {
  const list = readStatements("docs/spec/000.md", `\n${line}\n`);
  expect(list.statements).toEqual([]);
  expect(list.problems).toEqual([expect.stringContaining("docs/spec/000.md:2 looks like a statement")]);
});

test("an example in a code fence is not a statement", () => {
  const list = readStatements("docs/spec/README.md", "```\n- [x] **R-000-13** S Example.\n```\n");
  expect(list).toEqual({ statements: [], problems: [] });
});

test("a passing test proves every number in its name", () => {
  const proof = prove(statements, report(ran("passed", "R-000-01, R-000-02: both")));
  expect(statusIn(proof, "R-000-01")).toBe("proven");
  expect(statusIn(proof, "R-000-02")).toBe("proven");
  expect(statusIn(proof, "R-X-01")).toBe("open");
  expect(proof.problems).toEqual([]);
});

test("a range proves only the number that is written out", () => {
  const proof = prove(statements, report(ran("passed", "R-000-01…02: a range")));
  expect(statusIn(proof, "R-000-01")).toBe("proven");
  expect(statusIn(proof, "R-000-02")).toBe("open");
});

test("a mark without a passing test is a problem", () => {
  expect(prove(statements, report()).problems).toEqual([expect.stringContaining("R-000-01 is marked [x]")]);
  expect(prove(statements, report(ran("skipped", "R-000-01: later"))).problems).toHaveLength(1);
});

test("one failing test outweighs a passing one", () => {
  const proof = prove(statements, report(ran("passed", "R-000-01: here"), ran("failed", "R-000-01: there")));
  expect(statusIn(proof, "R-000-01")).toBe("failing");
  expect(proof.problems).toEqual([expect.stringContaining("a test that names it fails")]);
});

test("a test that names an unknown or mistyped number is a problem, whatever its status", () => {
  const proof = prove(
    statements,
    report(ran("passed", "R-000-01: fine"), ran("passed", "R-000-99: no such"), ran("skipped", "R-000-2: short")),
  );
  expect(proof.problems).toEqual([
    expect.stringContaining("R-000-99 is not in the acceptance list, but src/a.test.ts names it"),
    expect.stringContaining("R-000-2 is not in the acceptance list"),
  ]);
});

test("a number that stands in the list twice is a problem", () => {
  const twice = [...statements, ...statements.slice(1, 2)];
  const proof = prove(twice, report(ran("passed", "R-000-01: fine")));
  expect(proof.problems).toEqual(["R-000-02 is in the acceptance list twice"]);
});

test("what is proven but not marked could be marked, and that is no problem", () => {
  const proof = prove(statements, report(ran("passed", "R-000-01 and R-000-02 and R-X-01")));
  expect(proof.markable).toEqual(["R-000-02", "R-X-01"]);
  expect(proof.problems).toEqual([]);
  expect(mark(spec, new Set(proof.markable))).toBe(spec.replaceAll("- [ ]", "- [x]"));
});

test("marking changes only the named statements", () => {
  expect(mark(spec, new Set(["R-000-02"]))).toBe(spec.replace("- [ ] **R-000-02**", "- [x] **R-000-02**"));
});
