// Git's own diffs, as the dashboard reads them.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FileDiff, parseDiff } from "../../../web/src/diff/parse.ts";

let dir: string;
const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { encoding: "utf8" });
const write = (name: string, text: string | Uint8Array): void => writeFileSync(join(dir, name), text);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-diff-"));
  git("init", "-q");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** What git says after the change, in the form in which attempts' diffs are made. */
function diffOf(change: () => void): readonly FileDiff[] {
  git("add", "-A");
  git("commit", "-q", "--allow-empty", "-m", "before");
  change();
  git("add", "-A");
  return parseDiff(git("diff", "--cached", "--find-renames", "--src-prefix=a/", "--dst-prefix=b/")).files;
}

test("lines have their numbers in both files, and the counts are git's", () => {
  write("a.txt", "one\ntwo\nthree\n");
  const [file] = diffOf(() => write("a.txt", "one\n2\nthree\nfour\n"));
  expect(file).toMatchObject({ path: "a.txt", from: null, change: "changed", added: 2, removed: 1 });
  expect(file?.hunks).toHaveLength(1);
  expect(file?.hunks[0]?.lines.map(({ kind, old, new: fresh, text }) => [kind, old, fresh, text])).toEqual([
    ["same", 1, 1, "one"],
    ["removed", 2, null, "two"],
    ["added", null, 2, "2"],
    ["same", 3, 3, "three"],
    ["added", null, 4, "four"],
  ]);
});

test("a rename, a new file, a removed one, a mode and names with spaces, quotes and other letters", () => {
  for (const name of ["old name.txt", "gone.txt", "run.sh"]) write(name, `${name}\n`.repeat(20));
  const files = diffOf(() => {
    renameSync(join(dir, "old name.txt"), join(dir, "new name.txt"));
    rmSync(join(dir, "gone.txt"));
    chmodSync(join(dir, "run.sh"), 0o755);
    write("ärger b_.txt", "x\n");
    write('say "hi"\t.txt', "x\n");
    write("empty.txt", "");
  });
  expect(Object.fromEntries(files.map(({ path, from, change }) => [path, [from, change]]))).toEqual({
    "empty.txt": [null, "added"],
    "gone.txt": [null, "removed"],
    "new name.txt": ["old name.txt", "renamed"],
    "run.sh": [null, "mode"],
    'say "hi"\t.txt': [null, "added"],
    "ärger b_.txt": [null, "added"],
  });
});

test("a binary file has no lines and says so", () => {
  write("a.bin", new Uint8Array([0, 1, 2]));
  expect(diffOf(() => write("a.bin", new Uint8Array([0, 9, 9, 9])))).toMatchObject([
    { path: "a.bin", isBinary: true, hunks: [], added: 0, removed: 0 },
  ]);
});

test("a file without a newline at its end says so behind the line", () => {
  write("a.txt", "one");
  const [file] = diffOf(() => write("a.txt", "two\n"));
  expect(file?.hunks[0]?.lines.map(({ kind, text }) => [kind, text])).toEqual([
    ["removed", "one"],
    ["note", "No newline at end of file"],
    ["added", "two"],
  ]);
});

test("lines that look like heads of a diff are lines", () => {
  write("a.sql", "-- a/one\n++ b/two\nx\n");
  const files = diffOf(() => write("a.sql", "diff --git a/x b/x\n@@ -1 +1 @@\nx\n"));
  expect(files).toMatchObject([{ path: "a.sql", added: 2, removed: 2 }]);
});

test("the same changes have the same version, others another; with git's id of the text it is that, however the text came about", () => {
  write("a.txt", "one\n");
  const [first] = diffOf(() => write("a.txt", "two\n"));
  git("reset", "-q", "--hard");
  const [again] = diffOf(() => write("a.txt", "two\n"));
  git("reset", "-q", "--hard");
  const [other] = diffOf(() => write("a.txt", "tow\n"));
  expect(again?.version).toBe(first?.version);
  expect(other?.version).not.toBe(first?.version);
  const id = git("hash-object", "a.txt").trim();
  const [whole] = parseDiff(git("diff", "--cached", "--full-index")).files;
  expect(whole?.version).toBe(id);
});

test("a diff that was cut in the middle keeps what is there, with our own words beside it", () => {
  const head = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,90 @@ fn\n one\n+two\n";
  const { files, notes } = parseDiff(`${head}[passrail: the diff was cut here, it is larger than 9 bytes]\n`);
  expect(files).toMatchObject([{ path: "a", added: 1, hunks: [{ head: "fn" }] }]);
  expect(notes).toEqual(["the diff was cut here, it is larger than 9 bytes"]);
});

test.each(["", "\n", "nothing here", "@@ -1 +1 @@\n+x", "diff --git ", "diff --git a b\n@@ -x +y @@\n+z\n\\"])(
  "what is no diff does no harm: %j",
  (text) => expect(() => parseDiff(text)).not.toThrow(),
);

test("200,000 lines and a line of a megabyte are read in well under a second", () => {
  const many = "+some line of code that is added\n".repeat(200_000);
  const long = `diff --git a/l b/l\n--- a/l\n+++ b/l\n@@ -0,0 +1 @@\n+${"x".repeat(1_000_000)}\n`;
  const text = `diff --git a/m b/m\n--- a/m\n+++ b/m\n@@ -0,0 +1,200000 @@\n${many}${long}`;
  const start = performance.now();
  const { files } = parseDiff(text);
  expect(files.map(({ path, added }) => [path, added])).toEqual([
    ["m", 200_000],
    ["l", 1],
  ]);
  expect(performance.now() - start).toBeLessThan(2000);
});
