import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  attemptFiles,
  channelFiles,
  closeChannel,
  openAttempt,
  readAgentFile,
  setAside,
  storeMark,
  writeRecord,
} from "./attempt-files.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-files-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("R-001-26: an old result is moved away and kept", async () => {
  const files = attemptFiles(dir, "r1", "reviewer", 2);
  await openAttempt(files);
  const path = join(dir, "REVIEW.md");
  writeFileSync(path, "Verdict: APPROVE");
  await setAside(dir, path, files, "replaced.md");
  await setAside(dir, path, files, "replaced.md");
  expect(existsSync(path)).toBe(false);
  expect(readFileSync(join(files.dir, "replaced.md"), "utf8")).toBe("Verdict: APPROVE");
});

test("R-X-10: every attempt has a folder of its own that nobody else can read", async () => {
  const [one, two] = [attemptFiles(dir, "r1", "build", 1), attemptFiles(dir, "r1", "build", 2)];
  expect(one.dir).not.toBe(two.dir);
  await openAttempt(one);
  await writeRecord(one, one.prompt, "the prompt");
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

test("S07: what lies in the place of an attempt's record is moved away and never read", async () => {
  const files = attemptFiles(dir, "r1", "qa", 1);
  mkdirSync(files.result, { recursive: true });
  writeFileSync(files.verdict, '{"verdict":"SHIP"}');
  const found = await openAttempt(files);
  expect(readdirSync(files.result)).toEqual([]);
  expect(readFileSync(join(found ?? "", "result", "verdict.json"), "utf8")).toBe('{"verdict":"SHIP"}');
});

test("S13: a link in the place of a record is moved away, and nothing is written where it leads", async () => {
  const files = attemptFiles(dir, "r1", "qa", 1);
  mkdirSync(dirname(files.dir), { recursive: true });
  mkdirSync(join(dir, "mine"));
  symlinkSync(join(dir, "mine"), files.dir);
  await openAttempt(files);
  await writeRecord(files, files.prompt, "text");
  expect(readdirSync(join(dir, "mine"))).toEqual([]);
});

test("S07: the channel of an attempt is at a path that nobody knew, and becomes a part of the record at the end", async () => {
  const record = attemptFiles(dir, "r1", "qa", 1);
  const [files, other] = [channelFiles(record, "abc"), channelFiles(record, "abc")];
  expect(files.result).not.toBe(other.result);
  await openAttempt(files);
  expect(existsSync(record.result)).toBe(false);
  expect(statSync(files.result).mode & 0o777).toBe(0o700);
  writeFileSync(files.verdict, "{}");
  expect(await readAgentFile(files.home, files.verdict, 100)).toBe("{}");
  await closeChannel(files);
  await closeChannel(files);
  expect(existsSync(files.result)).toBe(false);
  expect(readFileSync(record.verdict, "utf8")).toBe("{}");
});
