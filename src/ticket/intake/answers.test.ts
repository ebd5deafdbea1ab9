import { expect, test } from "vitest";
import { answerText, readAnswers } from "./answers.ts";

function prepared(value: unknown) {
  const read = readAnswers(value);
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
}

test("a list of texts answers question after question, over rounds", () => {
  const answers = prepared(["a", 2, true]);
  expect(answers.next(["1?", "2?"])).toEqual(["a", "2"]);
  expect(answers.next(["3?", "4?"])).toEqual(["true", null]);
  // A round without all answers uses up nothing.
  expect(answers.next(["3?"])).toEqual(["true"]);
  expect(answers.next(["more?"])).toEqual([null]);
});

test("a list of lists, maps or texts answers round by round", () => {
  const answers = prepared([["a", "b"], { 2: "second", which: "first" }, "one text for all"]);
  expect(answers.next(["1?", "2?"])).toEqual(["a", "b"]);
  expect(answers.next(["Which one?", "And?"])).toEqual(["first", "second"]);
  expect(answers.next(["x?", "y?"])).toEqual(["one text for all", "see the answer to 1"]);
  expect(answers.next(["z?"])).toEqual([null]);
});

test("one map answers by words of the question, in every round", () => {
  const answers = prepared({ database: "SQLite" });
  expect(answers.next(["Which DATABASE?"])).toEqual(["SQLite"]);
  expect(answers.next(["Which port?", "Which database again?"])).toEqual([null, "SQLite"]);
});

test.each<[unknown]>([
  [null],
  [12],
  [[["a", {}]]],
  [{ a: [] }],
  [[""]],
  [[{ a: null }]],
  [["x".repeat(9000)]],
  [Array.from({ length: 101 }, () => "a")],
])("%j is refused", (value) => {
  expect(readAnswers(value)).toMatchObject({ ok: false, error: { code: "answers_invalid" } });
});

test("several answers are numbered as their questions are", () => {
  expect(answerText(["only"])).toBe("only");
  expect(answerText(["a", "b"])).toBe("1. a\n2. b");
});
