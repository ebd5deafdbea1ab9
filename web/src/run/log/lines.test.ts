import { expect, test } from "vitest";
import { addPart, EMPTY, type FilePart, LINE_CHARS, linesOf, type LogIndex, partAt } from "./lines.ts";

/** Reads a file as the daemon gives it. */
const read = (file: string, offset: number, limit: number): FilePart => {
  const text = file.slice(offset, offset + limit);
  const end = offset + text.length;
  const wholeTo = offset + text.lastIndexOf("\n") + 1;
  return { text, offset, next: end < file.length ? end : null, size: file.length, wholeTo };
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

test("a file that grows is read from its last whole line on, never from the beginning of the part", () => {
  let file = "";
  let index = EMPTY;
  const kept = new Map<number, readonly string[]>();
  let asked = 0;
  for (const more of ["a\nb\nhal", "f\n", "more", " and more", "\n", "x\ny\n", "end"]) {
    file += more;
    const part = read(file, index.next, 100_000);
    asked += part.text.length;
    const added = addPart(index, part);
    const had = added.isMore ? (kept.get(added.at) ?? []) : [];
    kept.set(added.at, [...(index.isOpen ? had.slice(0, -1) : had), ...added.lines]);
    ({ index } = added);
    const lines = file.split("\n").filter((line, at, all) => at < all.length - 1 || line !== "");
    expect([...kept.values()].flat()).toEqual(lines);
    expect([index.lines, index.size]).toEqual([lines.length, file.length]);
  }
  // Only a line that had no end is read twice.
  expect(asked).toBeLessThan(2 * file.length);
  expect(index.parts).toHaveLength(1);
});

test("while a file grows, a part stays within what one request reads", () => {
  const line = `${"x".repeat(1023)}\n`;
  let file = "";
  let index = EMPTY;
  for (let round = 0; round < 40; round++) {
    file += line.repeat(20);
    ({ index } = addPart(index, read(file, index.next, 256 * 1024)));
  }
  expect(index.lines).toBe(800);
  expect(index.parts.length).toBeGreaterThan(2);
  for (const [at, part] of index.parts.entries())
    expect((index.parts[at + 1]?.offset ?? file.length) - part.offset).toBeLessThanOrEqual(256 * 1024);
  expect(partAt(index.parts, 799)).toBe(index.parts.at(-1));
});

test("one endless line is cut and does not pile up", () => {
  const { lines, index } = readAll("x".repeat(LINE_CHARS * 10), 1000);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.length).toBe(LINE_CHARS + 1);
  for (const { head } of index.parts) expect(head.length).toBeLessThanOrEqual(LINE_CHARS + 1);
});
