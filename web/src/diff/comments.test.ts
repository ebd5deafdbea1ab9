import { expect, test } from "vitest";
import { beginComment, extendComment, isAbout, issueOf, linesText, readComment, textOf } from "./comments.ts";
import { parseDiff } from "./parse.ts";

const at = (line: number, side: "new" | "old" = "new", file = "a.ts") => ({ file, side, line });
const { files } = parseDiff(
  "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -4,2 +4,3 @@\n four\n-five\n+  5\n+6\n",
);

test("a comment reaches from one line to another of the same text, in either direction", () => {
  const begun = beginComment(at(5));
  expect(extendComment(begun, at(9))).toMatchObject({ from: 5, line: 9 });
  expect(extendComment(begun, at(2))).toMatchObject({ from: 2, line: 5 });
  expect(extendComment(begun, at(9, "old"))).toBeNull();
  expect(extendComment(begun, at(9, "new", "b.ts"))).toBeNull();
  const range = { ...begun, from: 3 };
  expect([2, 3, 5, 6].map((line) => isAbout(range, at(line)))).toEqual([false, true, true, false]);
  expect([linesText(begun), linesText(range), linesText({ ...range, side: "old" })]).toEqual([
    "line 5",
    "lines 3 to 5",
    "the removed lines 3 to 5",
  ]);
});

test("a suggestion begins with the text that is there, if all of it is shown", () => {
  expect(textOf(files, { ...beginComment(at(6)), from: 4 })).toBe("four\n  5\n6");
  expect(textOf(files, { ...beginComment(at(6)), from: 3 })).toBeNull();
  expect(textOf(files, beginComment(at(5, "old")))).toBeNull();
});

test("the issue has the first line, the last one and the suggestion, whatever is in it", () => {
  const range = { ...beginComment(at(9)), from: 7, text: "Shorter" };
  expect(issueOf({ ...range, suggestion: "  a\n" })).toEqual({
    severity: "major",
    description: "Shorter",
    file: "a.ts",
    line: 7,
    endLine: 9,
    suggestion: "  a\n",
  });
  expect(issueOf({ ...beginComment(at(3)), suggestion: "" })).toEqual({
    severity: "major",
    description: "Change it as suggested.",
    file: "a.ts",
    line: 3,
    suggestion: "",
  });
  expect(issueOf({ ...range, side: "old" })).toEqual({
    severity: "major",
    description: "Shorter (about the removed lines 7 to 9)",
    file: "a.ts",
  });
});

test("a kept comment of an older page is read; anything else is none", () => {
  const old = { ...at(3), text: "why", severity: "critical" } as const;
  expect(readComment(old)).toEqual({ ...old, from: 3, suggestion: null });
  expect(readComment({ file: "a.ts" })).toBeNull();
  expect(readComment({ ...old, suggestion: 3 as never })?.suggestion).toBeNull();
});
