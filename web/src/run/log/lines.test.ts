import { expect, test } from "vitest";
import { addPart, EMPTY, type FilePart, LINE_CHARS, linesOf, type LogIndex, partAt } from "./lines.ts";

/** Reads a file as the daemon gives it. */
const read = (file: string, offset: number, limit: number): FilePart => {
  const text = file.slice(offset, offset + limit);
  const end = offset + text.length;
  return { text, offset, next: end < file.length ? end : null, size: file.length };
};
const readAll = (file: string, limit: number, index: LogIndex = EMPTY) => {
  const all = new Map<number, readonly string[]>();
  for (let now = index; ; ) {
    const part = addPart(now, read(file, now.next, limit));
    now = part.index;
    all.set(now.parts.at(-1)?.offset ?? 0, part.lines);
    if (now.isEnd) return { index: now, lines: [...all.values()].flat() };
  }
};

test.each([1, 2, 3, 7, 1000])("read in parts of %i, a file has the same lines", (limit) => {
  const file = "one\ntwo\n\nfour is longer\r\nlast without an end";
  const { index, lines } = readAll(file, limit);
  expect(lines).toEqual(["one", "two", "", "four is longer", "last without an end"]);
  expect(index.lines).toBe(5);
});

test("a line is found in the part in which it ends, and can be read again from there", () => {
  const file = Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n");
  const { index, lines } = readAll(file, 64);
  for (let line = 0; line < 100; line++) {
    const part = partAt(index.parts, line);
    if (part === undefined) throw new Error(`line ${line} is nowhere`);
    const again = linesOf(part, read(file, part.offset, 64).text, part === index.parts.at(-1));
    expect(again[line - part.firstLine]).toBe(lines[line]);
  }
  expect(partAt(index.parts, 100)).toBeUndefined();
  expect(partAt([], 0)).toBeUndefined();
});

test("a file that grows goes on where it ended, and its unended line grows with it", () => {
  const first = readAll("a\nb\nhal", 4);
  expect(first.lines).toEqual(["a", "b", "hal"]);
  const second = addPart(first.index, read("a\nb\nhalf\nmore", first.index.next, 100));
  expect(second.index.lines).toBe(4);
  expect(second.lines.slice(-2)).toEqual(["half", "more"]);
});

test("one endless line is cut and does not pile up", () => {
  const { lines, index } = readAll("x".repeat(LINE_CHARS * 10), 1000);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.length).toBe(LINE_CHARS + 1);
  for (const { head } of index.parts) expect(head.length).toBeLessThanOrEqual(LINE_CHARS + 1);
});
