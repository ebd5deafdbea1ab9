import { execFileSync } from "node:child_process";
import { linkSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openOutputFile } from "./output-file.ts";
import { createTailRing, decodeTail } from "./tail-ring.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "passrail-output-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open = (capBytes: number) => {
  const opened = openOutputFile(join(folder, "out.log"), capBytes);
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
};
const read = (): string => readFileSync(join(folder, "out.log"), "latin1");

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });

test("a ring keeps exactly the last bytes, however they were cut into pieces", () => {
  fc.assert(
    fc.property(chunks, fc.nat(60), (pieces, capacity) => {
      const ring = createTailRing(capacity);
      for (const piece of pieces) ring.push(piece);
      const all = Buffer.concat(pieces);
      expect(ring.total()).toBe(all.length);
      expect(ring.bytes().equals(all.subarray(Math.max(0, all.length - capacity)))).toBe(true);
    }),
  );
});

test("a file holds everything up to the cap, and beyond it the head, one line and the tail", () => {
  fc.assert(
    fc.property(chunks, fc.nat(200), (pieces, cap) => {
      const output = open(cap);
      for (const piece of pieces) output.write(piece);
      const kept = output.finish();
      const all = Buffer.concat(pieces).toString("latin1");
      const head = Math.floor(cap / 2);
      const tail = cap - head;
      expect(kept).toEqual({ truncated: all.length > cap, problem: undefined });
      expect(output.totalBytes()).toBe(all.length);
      const cutOut = `${all.slice(0, head)}\n[passrail: ${all.length - cap} bytes left out]\n${all.slice(all.length - tail)}`;
      expect(read()).toBe(all.length > cap ? cutOut : all);
    }),
  );
});

test("what came so far is in the file while the attempt still runs", () => {
  const output = open(100);
  output.write(Buffer.from("x".repeat(90)));
  expect(read()).toHaveLength(90);
  output.finish();
});

test("a full disk is told at the end instead of ending anything", () => {
  const opened = openOutputFile("/dev/full", 100);
  if (!opened.ok) return;
  opened.value.write(Buffer.from("lost"));
  const kept = opened.value.finish();
  expect(kept.truncated).toBe(true);
  expect(kept.problem).toContain("ENOSPC");
});

test("a symbolic link in the place of the file is not followed", () => {
  writeFileSync(join(folder, "victim"), "keep me");
  symlinkSync(join(folder, "victim"), join(folder, "link.log"));
  expect(openOutputFile(join(folder, "link.log"), 100).ok).toBe(false);
  expect(readFileSync(join(folder, "victim"), "utf8")).toBe("keep me");
});

test("S13: a second name of another file is not emptied, and a pipe does not block", () => {
  writeFileSync(join(folder, "mine"), "keep me");
  linkSync(join(folder, "mine"), join(folder, "second.log"));
  const opened = openOutputFile(join(folder, "second.log"), 100);
  if (!opened.ok) throw new Error(opened.error.message);
  opened.value.write(Buffer.from("output"));
  opened.value.finish();
  expect(readFileSync(join(folder, "mine"), "utf8")).toBe("keep me");
  expect(readFileSync(join(folder, "second.log"), "utf8")).toBe("output");
  execFileSync("mkfifo", [join(folder, "pipe.log")]);
  expect(openOutputFile(join(folder, "pipe.log"), 100).ok).toBe(false);
});

test("a tail that begins inside a character drops only the rest of that character", () => {
  const bytes = Buffer.from("€uro");
  expect(decodeTail(bytes.subarray(1), false)).toBe("uro");
  expect(decodeTail(bytes.subarray(2), false)).toBe("uro");
  expect(decodeTail(bytes, true)).toBe("€uro");
  // Whole output that begins with a stray byte is shown as it is.
  expect(decodeTail(bytes.subarray(2), true)).toBe("\uFFFDuro");
});
