import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ensureProjectNotes } from "./project-notes.ts";
import { TamperedError } from "./tampered.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-notes-"));
  mkdirSync(join(dir, "work"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const subject = { id: "T-1", title: "Sell tea", body: "Green and black." };
const work = () => join(dir, "work");
const path = () => join(work(), ".brain", "PROJECT.md");

test.each([
  ["missing", undefined],
  ["empty", ""],
  ["blank", " \n".repeat(60)],
  ["of 49 characters", "x".repeat(49)],
])("R-001-30: notes that are %s are made from the task", (_, text) => {
  if (text !== undefined) {
    mkdirSync(join(work(), ".brain"));
    writeFileSync(path(), text);
  }
  ensureProjectNotes(work(), ".brain", subject);
  expect(readFileSync(path(), "utf8")).toContain("Sell tea\n\nGreen and black.");
});

test.each(["x".repeat(50), "# Shop\n\nSells tea to people who like tea, since 1987.\n", "é".repeat(60)])(
  "R-001-30: %j stays as it is",
  (text) => {
    mkdirSync(join(work(), ".brain"));
    writeFileSync(path(), text);
    ensureProjectNotes(work(), ".brain", subject);
    expect(readFileSync(path(), "utf8")).toBe(text);
  },
);

test("what was made tells each task; what people add to it stays", () => {
  ensureProjectNotes(work(), ".brain", subject);
  writeFileSync(path(), `${readFileSync(path(), "utf8")}\n## Rules\n\nNo sugar.\n`);
  ensureProjectNotes(work(), ".brain", { ...subject, title: "Another task <!-- /passrail -->", body: "" });
  const text = readFileSync(path(), "utf8");
  expect(text).toContain("Another task");
  expect(text).not.toContain("Sell tea");
  expect(text.endsWith("\n## Rules\n\nNo sugar.\n")).toBe(true);
  // A task that holds our marks does not break the part: the next one replaces all of it.
  ensureProjectNotes(work(), ".brain", subject);
  expect(readFileSync(path(), "utf8")).not.toContain("Another task");
});

test("notes that an earlier version made from the first task follow as well", () => {
  mkdirSync(join(work(), ".brain"));
  const head = "# Project\n\nThese notes were made from the first task; replace them with what agents should know.\n";
  writeFileSync(path(), `${head}\n## Task\n\nThe very first one\n\n## Rules\n\nNo sugar.\n`);
  ensureProjectNotes(work(), ".brain", subject);
  const text = readFileSync(path(), "utf8");
  expect(text).toContain("Sell tea");
  expect(text).not.toContain("The very first one");
  expect(text).toContain("No sugar.");
});

test("nothing is written outside the workspace", () => {
  mkdirSync(join(dir, "outside"));
  symlinkSync(join(dir, "outside"), join(work(), ".brain"));
  expect(() => ensureProjectNotes(work(), ".brain", subject)).toThrow(TamperedError);
  ensureProjectNotes(work(), "../outside", subject);
  ensureProjectNotes(work(), join(dir, "outside"), subject);
  expect(readdirSync(join(dir, "outside"))).toEqual([]);
});

test("S13: a link in the place of the notes ends the attempt", () => {
  mkdirSync(join(work(), ".brain"));
  writeFileSync(join(dir, "other"), "short");
  symlinkSync(join(dir, "other"), path());
  expect(() => ensureProjectNotes(work(), ".brain", subject)).toThrow(TamperedError);
  expect(readFileSync(join(dir, "other"), "utf8")).toBe("short");
});
