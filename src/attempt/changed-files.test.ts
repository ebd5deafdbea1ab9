import { expect, test } from "vitest";
import { changedFiles } from "./changed-files.ts";

test("the names of changed, new and renamed files", () => {
  const diff = [
    "diff --git a/src/a.ts b/src/a.ts",
    "--- a/src/a.ts",
    "+++ b/src/a.ts",
    "+new",
    "diff --git a/with space.md b/with space.md",
    "diff --git a/a b/x.ts b/a b/x.ts",
    "diff --git a/old.ts b/new.ts",
    "rename from old.ts",
  ];
  expect(changedFiles(diff.join("\n"), "")).toEqual(["src/a.ts", "with space.md", "a b/x.ts", "new.ts"]);
});

test("a file's own text cannot pose as a header", () => {
  expect(
    changedFiles("diff --git a/x b/x\n+diff --git a/forged b/forged\n diff --git a/forged b/forged\n", ""),
  ).toEqual(["x"]);
});

test("what lay there before is not a change", () => {
  const before = "diff --git a/notes.md b/notes.md\n+a\n";
  expect(changedFiles(`${before}diff --git a/x b/x\n+b\n`, before)).toEqual(["x"]);
  expect(changedFiles("diff --git a/notes.md b/notes.md\n+a\n+more\n", before)).toEqual(["notes.md"]);
});

test("a long list is cut", () => {
  const many = Array.from({ length: 500 }, (_, i) => `diff --git a/x${i} b/x${i}\n`).join("");
  expect(changedFiles(many, "")).toHaveLength(50);
  expect(changedFiles("", "")).toEqual([]);
});
