// Compares what a command printed with what a page shows for it. Shown lines must occur in that order; other lines may stand between them.

import type { Ran } from "./place.ts";

/** Exit codes that a page need not explain: done, and waiting for a person. */
const EXPECTED_CODES = [0, 3];

/** Values that differ from call to call, as the pages write them. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\\\.\\\.\\\.|…/gu, ".*"],
  [/\br[0-9a-f]{10}\b/gu, "r[0-9a-f]{10}"],
  [/\bk[0-9a-f]{8}\b/gu, "k[0-9a-f]+"],
  [/\bby ann\b/gu, "by \\S+"],
  [/\bprocess \d+\b/gu, "process \\d+"],
  [/\b\d+(?:\\\.\d+)?(?:ms|s)\b/gu, "\\d[\\d.ms ]*"],
  [/ {2,}/gu, "\\s+"],
];

/** What is wrong, one sentence per step; none where the page is true. */
export function differences(page: string, ran: readonly Ran[]): string[] {
  return ran.flatMap((each, index) => {
    const { step, code, output } = each;
    const where = `${page}:${step.line} $ ${step.command}`;
    const asked = ran[index + 1];
    if (step.command === "echo $?") return [];
    const expected = asked?.step.command === "echo $?" ? asked.step.shown.map(Number) : EXPECTED_CODES;
    const wrong = expected.includes(code)
      ? []
      : [`${where}\nended with ${code}, not ${expected.join(" or ")}:\n${output}`];
    const missing = firstMissing(step.shown, output);
    return [...wrong, ...(missing === null ? [] : [`${where}\ndid not print "${missing}":\n${output}`])];
  });
}

/** The first shown line that does not follow those before it. */
export function firstMissing(shown: readonly string[], output: string): string | null {
  const lines = output.split("\n");
  let from = 0;
  for (const line of shown) {
    const pattern = patternOf(line);
    const at = lines.findIndex((each, index) => index >= from && pattern.test(each));
    if (at === -1) return line;
    from = /^\s*…$/u.test(line) ? from : at + 1;
  }
  return null;
}

function patternOf(line: string): RegExp {
  const [text = ""] = line.split(/ {2,}# /u);
  const escaped = text.trim().replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);
  const pattern = VARYING.reduce((before, [from, to]) => before.replace(from, to), escaped);
  return new RegExp(String.raw`^\s*${pattern}\s*$`, "u");
}
