// The title and the text of a pull request. Text from agents and tickets is quoted: it cannot close an issue, mention people, or pass for
// one of our headings.

import { attemptFacts } from "../../core/attempt-facts.ts";
import type { Run } from "../../core/run/run.ts";
import type { EarlierAttempt } from "../../attempt/earlier-attempt.ts";

const TITLE_CHARS = 120;
const SUMMARY_CHARS = 6000;
const BODY_CHARS = 30_000;
const STAGES_AT_MOST = 40;

export type Description = { readonly title: string; readonly body: string };

export function describeWork(
  run: Run,
  attempts: readonly EarlierAttempt[],
  {
    checks,
    url,
    redact,
  }: { readonly checks: readonly string[]; readonly url: string; readonly redact: (text: string) => string },
): Description {
  const clean = (text: string): string => harmless(redact(text));
  const done = attempts.filter(({ status }) => status === "done");
  const summary = done.map(({ outcome }) => outcome?.["summary"]).findLast((text) => typeof text === "string");
  const lines = [
    `Ticket **${oneLine(clean(run.subject.id))}**: ${oneLine(clean(run.subject.title))}`,
    "",
    "| stage | attempt | result | cost |",
    "|---|---|---|---|",
    ...done.slice(-STAGES_AT_MOST).map((attempt) => rowOf(attempt, clean)),
    "",
    checks.length === 0
      ? "No checks are set for the merged tree."
      : `Checks on the merged tree: ${checks.map((check) => `\`${cell(clean(check))}\``).join(", ")}`,
    "",
    ...(typeof summary === "string"
      ? ["What the last stage reported:", "", quoted(clean(summary).slice(0, SUMMARY_CHARS)), ""]
      : []),
    `Run ${run.id}${url === "" ? "" : `: ${url}/runs/${run.id}`}`,
  ];
  const title = oneLine(clean(`${run.subject.id}: ${run.subject.title}`));
  return { title: title.slice(0, TITLE_CHARS), body: lines.join("\n").slice(0, BODY_CHARS) };
}

function rowOf({ stage, attempt, outcome, ...record }: EarlierAttempt, clean: (text: string) => string): string {
  const word = [outcome?.["word"], outcome?.["verdict"], outcome?.["health"]].find((text) => typeof text === "string");
  const usd = attemptFacts(record).usage?.usd ?? null;
  const cost = usd === null ? "unknown" : `$${usd.toFixed(2)}`;
  return `| ${cell(clean(stage))} | ${attempt} | ${cell(clean(word ?? ""))} | ${cost} |`;
}

/** Breaks mentions and references with a zero-width character, so that they read the same and have no effect. */
function harmless(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]/gu, (char) => (char === "\n" || char === "\t" ? char : ""))
    .replace(/@(?=[A-Za-z0-9])/gu, "@\u200b")
    .replace(/#(?=[0-9])/gu, "#\u200b")
    .replace(/\bGH-(?=[0-9])/giu, "GH-\u200b")
    .replace(/\b(https?):\/\//giu, "$1:\u200b//");
}

/** In a block whose fence is longer than any in the text. */
function quoted(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/gu)].map(([fence]) => fence.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text.trim()}\n${fence}`;
}

function oneLine(text: string): string {
  return text
    .replace(/\s+/gu, " ")
    .replace(/[<>[\]!*_`\\|~]/gu, (sign) => `\\${sign}`)
    .trim();
}

function cell(text: string): string {
  return text
    .replace(/[|`\s]+/gu, " ")
    .trim()
    .slice(0, 60);
}
