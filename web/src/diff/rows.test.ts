import { expect, test } from "vitest";
import { findingsOf, placeFindings } from "./findings.ts";
import { pairsOf } from "./pairs.ts";
import { parseDiff } from "./parse.ts";
import { beginComment, type Comment, issueOf } from "./comments.ts";
import { LARGE_LINES, type Row, rowsOf, type Showing, viewedKey } from "./rows.ts";

const small = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@ fn()\n one\n-two\n+2\n";
const large = `diff --git a/b.ts b/b.ts\n--- a/b.ts\n+++ b/b.ts\n@@ -0,0 +1,900 @@\n${"+x\n".repeat(900)}`;
const binary = "diff --git a/c.png b/c.png\nBinary files a/c.png and b/c.png differ\n";
const { files } = parseDiff(small + large + binary);
const nothing: Showing = { toggled: {}, viewed: new Set(), comments: [], writing: null };
const types = (rows: readonly Row[]) => rows.map(({ type }) => type);

test("files follow each other; a large one and a binary one say why they show no lines", () => {
  const rows = rowsOf(files, nothing);
  expect(types(rows)).toEqual(["file", "line", "line", "line", "file", "hidden", "file", "hidden"]);
  expect(rows.flatMap((row) => (row.type === "hidden" ? [row.why] : []))).toEqual(["900 lines.", "Binary file."]);
  expect(LARGE_LINES).toBeLessThan(900);
});

test("what a person opens is open, what was looked at is closed until it changes", () => {
  expect(rowsOf(files, { ...nothing, toggled: { "b.ts": true } })).toHaveLength(8 - 1 + 900);
  const [first] = files;
  if (first === undefined) throw new Error("no file");
  const viewed = new Set([viewedKey(first)]);
  expect(types(rowsOf(files, { ...nothing, viewed })).slice(0, 2)).toEqual(["file", "file"]);
  expect(types(rowsOf(files, { ...nothing, viewed, toggled: { "a.ts": true } })).slice(0, 2)).toEqual(["file", "line"]);
  const changed = parseDiff(small.replace("+2", "+3")).files;
  expect(types(rowsOf(changed, { ...nothing, viewed })).slice(0, 2)).toEqual(["file", "line"]);
});

test("comments stand behind their lines, on the side where the line is", () => {
  const comments: Comment[] = [
    { ...beginComment({ file: "a.ts", side: "new", line: 2 }), text: "why", severity: "critical" },
    { ...beginComment({ file: "a.ts", side: "old", line: 2 }), text: "keep it", severity: "minor" },
  ];
  const rows = rowsOf(files, {
    ...nothing,
    comments,
    writing: beginComment({ file: "a.ts", side: "new", line: 1 }),
  });
  expect(types(rows).slice(0, 7)).toEqual(["file", "line", "writing", "line", "comment", "line", "comment"]);
  expect(comments.map(issueOf)).toEqual([
    { severity: "critical", description: "why", file: "a.ts", line: 2 },
    { severity: "minor", description: "keep it (about the removed line 2)", file: "a.ts" },
  ]);
});

test("in two columns what was removed stands beside what took its place, and every line is there once", () => {
  const rows = rowsOf(files, { ...nothing, layout: "split" });
  expect(types(rows).slice(0, 3)).toEqual(["file", "pair", "pair"]);
  const [, change] = rows.flatMap((row) => (row.type === "pair" ? [row.pair] : []));
  expect([change?.left?.text, change?.right?.text]).toEqual(["two", "2"]);
  const lines = ["-a", "-b", "+A", " s", "+n", "-x", "+y"];
  const text = `diff --git a/p b/p\n--- a/p\n+++ b/p\n@@ -1,4 +1,4 @@\n${lines.join("\n")}\n`;
  const pairs = pairsOf(parseDiff(text).files[0]?.hunks[0]?.lines ?? []);
  expect(pairs.map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ["a", "A"],
    ["b", undefined],
    ["s", "s"],
    [undefined, "n"],
    ["x", "y"],
  ]);
});

test("findings stand behind their lines in both layouts; the others are kept apart, and none is lost", () => {
  const issues = [
    { severity: "major", description: "no check", file: "./a.ts", line: 2 },
    { description: "in a workspace", file: "/home/x/work/a.ts", line: 1 },
    { description: "no such line", file: "a.ts", line: 99 },
    { description: "no such file", file: "zz.ts", line: 1 },
    "a sentence",
    { strange: true },
  ];
  const findings = findingsOf([
    {
      attempts: [
        { stage: "qa", attempt: 1, issues: ["old"] },
        { stage: "qa", attempt: 2, issues },
      ],
    },
  ]);
  expect(findings.map(({ by }) => by)).toEqual(Array.from({ length: 6 }, () => "qa #2"));
  const found = placeFindings(files, findings);
  expect(found.elsewhere.map(({ description }) => description)).toEqual([
    "no such line",
    "no such file",
    "a sentence",
    '{"strange":true}',
  ]);
  for (const layout of ["unified", "split"] as const) {
    const rows = rowsOf(files, { ...nothing, layout, found });
    const shown = rows.flatMap((row) => (row.type === "finding" ? [row.finding.description] : []));
    expect(shown).toEqual(["in a workspace", "no check"]);
  }
});

test("every row has a key of its own", () => {
  const keys = rowsOf(files, { ...nothing, toggled: { "b.ts": true } }).map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});
