import { expect, test } from "vitest";
import { readCsv } from "./csv.ts";

const fields = (text: string) => {
  const read = readCsv(text);
  if (!read.ok) throw new Error(read.error.message);
  return read.value.map((row) => row.fields);
};

test("quotes may hold commas, line ends and doubled quotes; line ends of every kind end a row", () => {
  expect(fields('a,b\r\n"1, one","say ""hi""\nthere"\n\n,\n"",last')).toEqual([
    ["a", "b"],
    ["1, one", 'say "hi"\nthere'],
    ["", ""],
    ["", "last"],
  ]);
});

test("a byte order mark is not part of the first name, and an empty text has no rows", () => {
  expect(fields("\uFEFFtitle\nx")).toEqual([["title"], ["x"]]);
  expect(fields("")).toEqual([]);
});

test.each([
  ['a\n"open', "row 2, column 1: a quote is not closed"],
  ['a,b\nx,"y"z', "row 2, column 2: text follows the closing quote"],
  ['a\nx"y', "row 2, column 1: a quote is inside"],
])("%j is refused with its place", (text, message) => {
  expect(readCsv(text)).toMatchObject({ ok: false, error: { message: expect.stringContaining(message) } });
});

test("a megabyte of quotes is read at once", () => {
  const begin = performance.now();
  expect(readCsv(`a\n"${'""'.repeat(500_000)}"`).ok).toBe(true);
  expect(performance.now() - begin).toBeLessThan(2000);
});
