// The readers of verdicts on 10 MB of hostile text: the slowest pair of text and reader, best of three. The tests prove that they are
// linear; this measures the time.

import type { Result } from "../src/core/result.ts";
import { readFileVerdict } from "../src/core/verdict/file-verdict.ts";
import { readHandoffFile } from "../src/core/verdict/handoff-file.ts";
import { readJsonTail } from "../src/core/verdict/json-tail.ts";
import { readPrefix } from "../src/core/verdict/prefix.ts";
import { readRouteList } from "../src/core/verdict/route-list.ts";
import { readVerdictFile } from "../src/core/verdict/verdict-file.ts";
import { readWorkResult } from "../src/core/verdict/work-result.ts";
import type { Row } from "./measure.ts";

const BYTES = 10 * 1024 * 1024;
const TRIES = 3;
const PIECES = [
  "{",
  "[",
  '"',
  "\\",
  '{"verdict":',
  '{"verdict":"A",',
  "```\n",
  "\n",
  " ",
  "- a\n",
  "## Status\n",
  "Verdict: x\n",
];
const TAIL = { require: ["verdict"], subjectId: "1", agent: "a", subjectKeys: ["feature_id"], nonceRequired: false };
const READERS: Readonly<Record<string, (text: string) => Result<unknown, unknown>>> = {
  "json-tail": (text) => readJsonTail(text, TAIL),
  "verdict-file": (text) => readVerdictFile(text),
  "file-verdict": (text) => readFileVerdict(text),
  "handoff-file": readHandoffFile,
  prefix: (text) => readPrefix(text, { "QUESTIONS:": "QUESTIONS", "TICKETS:": "TICKETS" }),
  "work-result": readWorkResult,
  router: (text) => readRouteList(text, ["a"]),
};

export function measureReaders(): readonly Row[] {
  let slowest = { ms: 0, what: "" };
  for (const piece of PIECES) {
    const text = piece.repeat(Math.ceil(BYTES / piece.length));
    for (const [name, read] of Object.entries(READERS)) {
      const times = Array.from({ length: TRIES }, () => {
        const since = performance.now();
        read(text);
        return performance.now() - since;
      });
      const ms = Math.min(...times);
      if (ms > slowest.ms) slowest = { ms, what: `${name} on ${JSON.stringify(piece)}` };
    }
  }
  return [
    {
      name: "slowest reader of 10 MB hostile text",
      value: slowest.ms,
      unit: "ms",
      limit: { is: "at most", value: 200 },
      note: slowest.what,
    },
  ];
}
