import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { oneLine, openLogFile } from "./log.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-log-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const now = () => "2026-01-31T10:00:00.000Z";

test("lines carry their time, only their owner can read them, and an earlier log is gone on with", () => {
  const file = join(dir, "daemon.log");
  openLogFile(file, { now }).write("one");
  openLogFile(file, { now }).write("two");
  expect(readFileSync(file, "utf8")).toBe(`${now()} one\n${now()} two\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a log that has grown is put aside, and the oldest goes", () => {
  const file = join(dir, "daemon.log");
  const log = openLogFile(file, { now, maxBytes: 100, keep: 2 });
  for (let line = 1; line <= 20; line++) log.write(`line ${line} ${"x".repeat(30)}`);
  expect(readdirSync(dir).sort()).toEqual(["daemon.log", "daemon.log.1", "daemon.log.2"]);
  for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).size).toBeLessThanOrEqual(100);
  const kept = ["daemon.log.2", "daemon.log.1", "daemon.log"].flatMap((name) =>
    readFileSync(join(dir, name), "utf8").match(/line \d+/g),
  );
  expect(kept).toEqual(["line 18", "line 19", "line 20"]);
});

test("what is not there to be written to stops nothing", () => {
  expect(() => openLogFile(join(dir, "nowhere", "daemon.log"), { now }).write("lost")).not.toThrow();
});

test("S26: hostile text stays one line without control characters", () => {
  expect(oneLine("a\nb\r\u001b[31mc\u2028d\u0000")).toBe("a ⏎ b  [31mc d ");
});
