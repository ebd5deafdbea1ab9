import { expect, test } from "vitest";
import { withoutComments } from "./commented-json.ts";

test("comments go, strings stay", () => {
  expect(withoutComments('{"a": "//no", /* b */ "c\\"//": 1 // end')).toBe('{"a": "//no",  "c\\"//": 1 ');
});

test("a comma before a closing bracket goes, one between entries and one in a string stay", () => {
  const text = '{"a": [1, 2, /* last */ ], // more\n "b": ",}", }';
  expect(JSON.parse(withoutComments(text))).toEqual({ a: [1, 2], b: ",}" });
});
