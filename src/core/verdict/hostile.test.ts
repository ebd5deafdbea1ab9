// S15: every reader stays linear on hostile text. The goal is 200 ms for 10 MB; the bound here is wide because test machines are noisy.

import { describe, expect, test } from "vitest";
import type { Result } from "../result.ts";
import { readFileVerdict } from "./file-verdict.ts";
import { readHandoffFile } from "./handoff-file.ts";
import { readJsonTail } from "./json-tail.ts";
import { parseStrictJson } from "./json-text.ts";
import { readPrefix } from "./prefix.ts";
import { isCleanGateLine } from "./quality-gate.ts";
import { readRouteList } from "./route-list.ts";
import { readVerdictFile } from "./verdict-file.ts";
import { readWorkResult } from "./work-result.ts";

const SIZE = 10_000_000;
const MAX_MS = 1500;
const fill = (piece: string, size = SIZE) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);

const PIECES = {
  "open braces": "{",
  "open brackets": "[",
  "closing braces": "}",
  "nested objects": '{"a":',
  "nested lists of objects": '[{"a":',
  "verdict keys": '"verdict":',
  "verdict keys in open objects": '{"verdict":',
  "bare keys": "{verdict:",
  "strings without an end": '{"verdict":"',
  "whole verdicts": '{"verdict":"SHIP","agent":"a"}',
  "whole lists": '[{"agent":"a"}]',
  "objects with a fault at the end": `{"a":{"b":[${"1,".repeat(2000)}1]},"c":{"d":1}`,
  "deep objects with a fault at the end": `{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"b":"${"x".repeat(500)}",`,
  "two string phases": '{"{"a":"{","',
  quotes: '"',
  "escaped quotes": '\\"',
  backslashes: "\\",
  "bad escapes": '{"\\q',
  fences: "```\n",
  "open fences": "```x\n~~~\n",
  "blank lines": "\n",
  spaces: " ",
  "carriage returns": "\r",
  "verdict lines": "Verdict: APPROVE\n",
  "verdict lines that differ": "Verdict: APPROVE\nVerdict: maybe\nScore: 1\n",
  "status headings": "## Status\ncomplete\n",
  "abstract lines": "## Abstract\nverdict: A\nverdict: B\n",
  "list items": "- a\n",
  "list marks": "- ",
  "finding sections": "## Findings\n- a\n",
  "comment openings": "<!--\n",
  hashes: "#",
  asterisks: "*",
  "work results": "WORK_RESULT:\n",
  "work result marks": "WORK_RESULT:",
  "indented lines": "WORK_RESULT:\n  summary: |\n    x\n",
  tickets: "TICKETS:\n",
  digits: "1",
  "dots and zeros": "0.",
  "one line": "a",
};

const TAIL = { require: ["verdict"], subjectId: "1", agent: "a", subjectKeys: ["feature_id"] };
const PREFIXES = { "QUESTIONS:": "QUESTIONS", "TICKETS:": "TICKETS" };

const READERS: { [name: string]: (text: string) => Result<unknown, unknown> | boolean } = {
  parseStrictJson,
  "parseStrictJson of 64 KiB": (text) => parseStrictJson(text.slice(0, 65_000)),
  "readJsonTail with a nonce": (text) => readJsonTail(text, { ...TAIL, nonce: "n0n", nonceRequired: true }),
  "readJsonTail without a nonce": (text) => readJsonTail(text, { ...TAIL, nonceRequired: false }),
  readVerdictFile: (text) => readVerdictFile(text),
  readRouteList: (text) => readRouteList(text, ["a"]),
  readFileVerdict: (text) => readFileVerdict(text),
  "readFileVerdict of 1 MB": (text) => readFileVerdict(text.slice(0, 1_000_000)),
  readHandoffFile,
  "readHandoffFile of 1 MB": (text) => readHandoffFile(text.slice(0, 1_000_000)),
  readPrefix: (text) => readPrefix(text, PREFIXES),
  "readPrefix with tickets": (text) => readPrefix(`\`\`\`\nTICKETS:\n${text}`, PREFIXES),
  "readPrefix with questions": (text) => readPrefix(`QUESTIONS:\n${text.slice(0, 250_000)}`, PREFIXES),
  readWorkResult,
  isCleanGateLine,
  "isCleanGateLine of 1000 characters": (text) => isCleanGateLine(text.slice(0, 1000)),
};

describe.each(Object.entries(PIECES))("S15: 10 MB of %s", (_, piece) => {
  test("are read in linear time by every reader", () => {
    const text = fill(piece);
    const slow = Object.entries(READERS).filter(([, read]) => {
      const from = process.threadCpuUsage().user;
      read(text);
      return (process.threadCpuUsage().user - from) / 1000 > MAX_MS;
    });
    expect(slow.map(([name]) => name)).toEqual([]);
  });
});

test("S15: a verdict after 1 MB of hostile text is still found", () => {
  const honest = '\n{"verdict":"SHIP","agent":"a"}';
  for (const piece of ["{", "[", '"', "}", "\\", "```\n"]) {
    expect(readJsonTail(fill(piece, 1_000_000) + honest, { ...TAIL, nonceRequired: false })).toMatchObject({
      ok: true,
    });
  }
});
