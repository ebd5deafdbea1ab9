import { expect, test } from "vitest";
import { parseDiff } from "./parse.ts";
import { type Comment, issueOf, LARGE_LINES, type Row, rowsOf, type Showing, viewedKey } from "./rows.ts";

const small = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@ fn()\n one\n-two\n+2\n";
const large = `diff --git a/b.ts b/b.ts\n--- a/b.ts\n+++ b/b.ts\n@@ -0,0 +1,900 @@\n${"+x\n".repeat(900)}`;
const binary = "diff --git a/c.png b/c.png\nBinary files a/c.png and b/c.png differ\n";
const { files } = parseDiff(small + large + binary);
const nothing: Showing = { toggled: {}, viewed: new Set(), comments: [], writing: null };
const types = (rows: readonly Row[]) => rows.map(({ type }) => type);

test("files follow each other; a large one and a binary one say why they show no lines", () => {
  const rows = rowsOf(files, nothing);
  expect(types(rows)).toEqual(["file", "hunk", "line", "line", "line", "file", "hidden", "file", "hidden"]);
  expect(rows.flatMap((row) => (row.type === "hidden" ? [row.why] : []))).toEqual(["900 lines.", "A binary file."]);
  expect(LARGE_LINES).toBeLessThan(900);
});

test("what a person opens is open, what was looked at is closed until it changes", () => {
  expect(rowsOf(files, { ...nothing, toggled: { "b.ts": true } })).toHaveLength(9 - 1 + 901);
  const [first] = files;
  if (first === undefined) throw new Error("no file");
  const viewed = new Set([viewedKey(first)]);
  expect(types(rowsOf(files, { ...nothing, viewed })).slice(0, 2)).toEqual(["file", "file"]);
  expect(types(rowsOf(files, { ...nothing, viewed, toggled: { "a.ts": true } })).slice(0, 2)).toEqual(["file", "hunk"]);
  const changed = parseDiff(small.replace("+2", "+3")).files;
  expect(types(rowsOf(changed, { ...nothing, viewed })).slice(0, 2)).toEqual(["file", "hunk"]);
});

test("comments stand behind their lines, on the side where the line is", () => {
  const comments: Comment[] = [
    { file: "a.ts", side: "new", line: 2, text: "why" },
    { file: "a.ts", side: "old", line: 2, text: "keep it" },
  ];
  const rows = rowsOf(files, { ...nothing, comments, writing: { file: "a.ts", side: "new", line: 1, text: "" } });
  expect(types(rows).slice(0, 8)).toEqual(["file", "hunk", "line", "writing", "line", "comment", "line", "comment"]);
  expect(comments.map(issueOf)).toEqual([
    { description: "why", file: "a.ts", line: 2 },
    { description: "keep it (about the removed line 2)", file: "a.ts" },
  ]);
});

test("every row has a key of its own", () => {
  const keys = rowsOf(files, { ...nothing, toggled: { "b.ts": true } }).map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});
