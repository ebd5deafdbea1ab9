import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  attemptFiles,
  isInside,
  openAttempt,
  readAgentFile,
  setAside,
  stamp,
  storeMark,
  writeRecord,
} from "./attempt-files.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-files-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("files that an agent may have written", () => {
  test("a regular file within its size is read", async () => {
    writeFileSync(join(dir, "a"), "héllo");
    expect(await readAgentFile(join(dir, "a"), 100)).toBe("héllo");
  });

  test("R-X-03: a link, a folder, a pipe, a file that is too large and none at all are not", async () => {
    writeFileSync(join(dir, "target"), "secret");
    symlinkSync(join(dir, "target"), join(dir, "link"));
    mkdirSync(join(dir, "folder"));
    execFileSync("mkfifo", [join(dir, "pipe")]);
    writeFileSync(join(dir, "large"), "x".repeat(101));
    for (const name of ["link", "folder", "pipe", "large", "none"])
      expect(await readAgentFile(join(dir, name), 100)).toBeUndefined();
  });
});

describe("whether an attempt wrote a file", () => {
  test("R-001-26, R-001-27: rewriting the same text changes the stamp, leaving it does not", async () => {
    const path = join(dir, "plan.md");
    expect(await stamp(path)).toBe("absent");
    writeFileSync(path, "same");
    const before = await stamp(path);
    expect(await stamp(path)).toBe(before);
    rmSync(path);
    writeFileSync(path, "same");
    expect(await stamp(path)).not.toBe(before);
  });

  test("R-001-26: setting the old time again does not hide that it was written", async () => {
    const path = join(dir, "plan.md");
    writeFileSync(path, "one");
    const old = new Date("2026-01-01T00:00:00Z");
    utimesSync(path, old, old);
    const before = await stamp(path);
    writeFileSync(path, "two");
    utimesSync(path, old, old);
    expect(await stamp(path)).not.toBe(before);
  });
});

test("R-001-26: an old result is moved away and kept", async () => {
  const files = attemptFiles(dir, "r1", "reviewer", 2);
  await openAttempt(files);
  const path = join(dir, "REVIEW.md");
  writeFileSync(path, "Verdict: APPROVE");
  await setAside(path, files, "replaced.md");
  await setAside(path, files, "replaced.md");
  expect(existsSync(path)).toBe(false);
  expect(readFileSync(join(files.dir, "replaced.md"), "utf8")).toBe("Verdict: APPROVE");
});

test("R-X-10: every attempt has a folder of its own that nobody else can read", async () => {
  const [one, two] = [attemptFiles(dir, "r1", "build", 1), attemptFiles(dir, "r1", "build", 2)];
  expect(one.dir).not.toBe(two.dir);
  await openAttempt(one);
  await writeRecord(one.prompt, "the prompt");
  expect(statSync(one.dir).mode & 0o777).toBe(0o700);
  expect(statSync(one.prompt).mode & 0o777).toBe(0o600);
});

test("two stores never share a mark", () => {
  expect(storeMark("/a")).toMatch(/^[0-9a-f]{12}$/u);
  expect(storeMark("/a")).not.toBe(storeMark("/b"));
});

test.each([
  ["r1", "../x"],
  ["../r1", "build"],
  ["r1", "a/b"],
  ["", "build"],
])("S12: %j and %j are not the names of an attempt", (runId, stage) => {
  expect(() => attemptFiles("/home/x", runId, stage, 1)).toThrow("not the name of an attempt");
});

test("S13: a path is inside a folder only where its links lead inside, also before it is there", async () => {
  const base = mkdtempSync(join(tmpdir(), "passrail-inside-"));
  const folder = join(base, "work");
  mkdirSync(join(folder, "own"), { recursive: true });
  mkdirSync(join(base, "elsewhere"));
  symlinkSync(join(base, "elsewhere"), join(folder, "out"));
  symlinkSync(join(base, "nowhere"), join(folder, "dangling"));
  symlinkSync(join(folder, "own"), join(folder, "in"));
  const answers = await Promise.all(
    [".", "own", "own/new/deep", "in/new", "out", "out/new", "dangling", "dangling/new", "../elsewhere"].map((path) =>
      isInside(folder, join(folder, path)),
    ),
  );
  expect(answers).toEqual([true, true, true, true, false, false, false, false, false]);
  rmSync(base, { recursive: true });
});
