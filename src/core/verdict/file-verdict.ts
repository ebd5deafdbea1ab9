// Source 001's verdict: a line `Verdict: WORD` in a review file, with an optional `Score: n` line. Code, comments and quotes do not count.
// Of two different verdicts the worse one wins. The caller checks whether the file is fresh.

import { ok } from "../result.ts";
import { markdownLines, markerLength } from "./markdown.ts";
import { clip, FILE_CHARS, present, type Reading, SUMMARY_CHARS, unreadable, WORD_CHARS } from "./reading.ts";

/** The source's words, worst last. */
const WORST_LAST = ["APPROVE", "REVISE", "REDESIGN"];
/** A longer line is prose, however it begins. */
const LINE_CHARS = 1000;

export function readFileVerdict(text: string, worstLast: readonly string[] = WORST_LAST): Reading {
  if (text.length > FILE_CHARS)
    return unreadable("verdict_too_large", `The review file is longer than ${FILE_CHARS} characters.`);
  const words = new Set<string>();
  const scores = new Set<number>();
  const warnings: string[] = [];
  const rest: string[] = [];
  for (const line of markdownLines(text)) {
    const said = line.kind === "text" && line.text.length <= LINE_CHARS ? statement(line.text) : undefined;
    if (said?.name === "verdict") words.add(verdictWord(said.value, worstLast));
    else if (said?.name === "score") {
      const score = scoreOf(said.value);
      if (score === undefined)
        warnings.push(`the score ${JSON.stringify(clip(said.value, WORD_CHARS))} is not within 1–10 and was ignored`);
      else scores.add(score);
    } else rest.push(line.text);
  }

  const [worst, tied] = worstOf(words, worstLast);
  if (worst === undefined) return unreadable("verdict_missing", "The review file has no line `Verdict: WORD`.");
  const named = [...words].slice(0, 5).join(", ");
  if (tied !== undefined)
    return unreadable("verdict_ambiguous", `The review file has verdicts that cannot be ranked: ${named}.`);
  if (words.size > 1) warnings.push(`several verdicts (${named}): the worst counts`);
  if (scores.size > 1) warnings.push("several scores: the lowest counts");
  const summary = clip(rest.join("\n").trim(), SUMMARY_CHARS);
  return ok(
    present({
      verdict: worst,
      score: scores.size > 0 ? Math.min(...scores) : undefined,
      summary: summary === "" ? undefined : summary,
      warnings: warnings.length > 0 ? warnings.slice(0, 20) : undefined,
    }),
  );
}

/** `name: value` for the two names that count; heading, list and emphasis marks may surround the name. */
function statement(line: string): { name: "verdict" | "score"; value: string } | undefined {
  const bare = withoutMarks(line.slice(markerLength(line)), "#*_ \t\ufeff");
  for (const name of ["verdict", "score"] as const) {
    if (bare.slice(0, name.length).toLowerCase() !== name) continue;
    // The colon may be inside or outside the bold marks: **Verdict:** X and **Verdict**: X.
    const after = withoutMarks(bare.slice(name.length), "*_ \t");
    const value = withoutMarks(after.slice(1), "*_ \t").trim();
    if (after.startsWith(":") && value !== "") return { name, value };
  }
  return undefined;
}

function withoutMarks(text: string, marks: string): string {
  let at = 0;
  while (at < text.length && marks.includes(text[at] ?? "")) at += 1;
  return text.slice(at);
}

/** The word in upper case. "APPROVE with changes" or "APPROVE | REVISE" is not APPROVE: such a text is kept and counts as unknown. */
function verdictWord(value: string, known: readonly string[]): string {
  const bare = withoutMarks(value, "*_` \t");
  const word = (/^[A-Za-z_-]{1,80}/.exec(bare)?.[0].replace(/[_-]{1,80}$/, "") ?? "").toUpperCase();
  const after = withoutMarks(bare.slice(word.length), "*_`");
  const namesAnother = known.some((other) => other !== word && after.toUpperCase().includes(other));
  return word !== "" && isSetOff(after) && !namesAnother ? word : clip(bare, WORD_CHARS);
}

function scoreOf(value: string): number | undefined {
  const bare = withoutMarks(value, "*_` ");
  const found = /^([0-9]{1,3}(?:\.[0-9]{1,3})?)(?: {0,3}\/ {0,3}10)?/.exec(bare);
  const score = Number(found?.[1]);
  return found && isSetOff(withoutMarks(bare.slice(found[0].length), "*_`")) && score >= 1 && score <= 10
    ? score
    : undefined;
}

/** Whether the text after a word or number is a remark and not its continuation. */
function isSetOff(after: string): boolean {
  return after.trim() === "" || /^(?:[.,;](?:\s|$)|\s{0,9}[(–—]|\s{1,9}-\s)/.test(after);
}

/** An unknown word is worse than the best one and better than any other known one: it can spoil an approval but never soften a refusal. */
function worstOf(words: ReadonlySet<string>, worstLast: readonly string[]): readonly string[] {
  const rank = (word: string) => (worstLast.includes(word) ? worstLast.indexOf(word) : 0.5);
  const worst = [...words].reduce((rankSoFar, word) => Math.max(rankSoFar, rank(word)), -1);
  return [...words].filter((word) => rank(word) === worst);
}
