import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ensureProjectNotes } from "./project-notes.ts";

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
])("R-001-30: notes that are %s are made from the task", async (_, text) => {
  if (text !== undefined) {
    mkdirSync(join(work(), ".brain"));
    writeFileSync(path(), text);
  }
  await ensureProjectNotes(work(), ".brain", subject);
  expect(readFileSync(path(), "utf8")).toContain("Sell tea\n\nGreen and black.");
});

test.each(["x".repeat(50), "# Shop\n\nSells tea to people who like tea, since 1987.\n", "é".repeat(60)])(
  "R-001-30: %j stays as it is",
  async (text) => {
    mkdirSync(join(work(), ".brain"));
    writeFileSync(path(), text);
    await ensureProjectNotes(work(), ".brain", subject);
    expect(readFileSync(path(), "utf8")).toBe(text);
  },
);

test("what was made is long enough to stay", async () => {
  await ensureProjectNotes(work(), ".brain", subject);
  const made = readFileSync(path(), "utf8");
  await ensureProjectNotes(work(), ".brain", { ...subject, title: "Another task" });
  expect(readFileSync(path(), "utf8")).toBe(made);
});

test("nothing is written outside the workspace", async () => {
  mkdirSync(join(dir, "outside"));
  symlinkSync(join(dir, "outside"), join(work(), ".brain"));
  await ensureProjectNotes(work(), ".brain", subject);
  await ensureProjectNotes(work(), "../outside", subject);
  await ensureProjectNotes(work(), join(dir, "outside"), subject);
  expect(readdirSync(join(dir, "outside"))).toEqual([]);
});

test("a link in the place of the notes is left alone", async () => {
  mkdirSync(join(work(), ".brain"));
  writeFileSync(join(dir, "other"), "short");
  symlinkSync(join(dir, "other"), path());
  await ensureProjectNotes(work(), ".brain", subject);
  expect(readFileSync(join(dir, "other"), "utf8")).toBe("short");
});
