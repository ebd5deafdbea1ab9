import { expect, test } from "vitest";
import { piecesOf } from "./pieces.ts";

test("colours and changed words cut a line into pieces, and none of it is lost", () => {
  const tokens = [
    { kind: "keyword", text: "return" },
    { kind: "plain", text: " greet(" },
    { kind: "string", text: '"hello all"' },
    { kind: "plain", text: ");" },
  ] as const;
  const line = tokens.map(({ text }) => text).join("");
  const pieces = piecesOf(tokens, [
    { from: 7, to: 12 },
    { from: 20, to: 25 },
  ]);
  expect(pieces.map(({ text }) => text).join("")).toBe(line);
  expect(pieces.filter(({ isChanged }) => isChanged).map(({ kind, text }) => [kind, text])).toEqual([
    ["plain", "greet"],
    ["string", 'all"'],
    ["plain", ")"],
  ]);
  expect(piecesOf(tokens, []).map(({ text }) => text)).toEqual(tokens.map(({ text }) => text));
});
