// The part of a prompt about findings with ids: for the stage that judges, the list that it must cover; for an agent that works, the open findings.

import { awaiting, bounded, type Finding, findingsOf, isOpen } from "../finding/finding.ts";
import type { ResolvedFlow } from "../flow/agent.ts";
import type { ResultSpec, WorkStage } from "../flow/flow.ts";
import type { Issue } from "../flow/outcome.ts";
import { fillPrompt } from "../flow/template.ts";
import { openFor } from "../run/review.ts";
import type { Run } from "../run/run.ts";
import { fenced } from "./quote.ts";

export type FindingContext = {
  readonly resolved: Pick<ResolvedFlow, "flow" | "prompts">;
  readonly run: Run;
  readonly track: string;
  readonly stage: WorkStage;
  /** Whether verdicts can be submitted by a tool. */
  readonly submits: boolean;
};

const KEY = 'Put them into the key `findings`: `[{"id": "F1", "state": "fixed", "reason": "…"}]`.';
const SECTION = "Write one line each under `## Findings`, above the new ones: `- F1: fixed — how you know`.";

/** The grammar of each form for a review. */
const REVIEW_HOW: Readonly<Record<ResultSpec["from"], string>> = {
  "json-tail": KEY,
  "verdict-file": KEY,
  "handoff-api": `${KEY} It stands beside \`payload\` or \`reason\` of your call.`,
  "handoff-file": SECTION,
  "file-verdict": SECTION,
  prefix: `${SECTION} The section stands in the text below the word.`,
  "exit-code":
    "Add the key `findings: |` to your WORK_RESULT block, one line each below it: `F1: fixed — how you know`; lines without an id are new findings.",
  "work-result":
    "Add the key `findings: |` to your WORK_RESULT block, one line each below it: `F1: fixed — how you know`; lines without an id are new findings.",
  router: "",
};

const BUILD_KEY = 'Say what you did about each in the key `findings`: `[{"id": "F1", "note": "…"}]`.';
const BUILD_SECTION = "Say what you did about each in a section `## Findings`, one line each: `- F1: what you did`.";

const BUILD_HOW: Readonly<Record<ResultSpec["from"], string>> = {
  "json-tail": BUILD_KEY,
  "verdict-file": BUILD_KEY,
  "handoff-api": `${BUILD_KEY} It stands beside \`payload\` of your call.`,
  "handoff-file": BUILD_SECTION,
  "file-verdict": BUILD_SECTION,
  prefix: BUILD_SECTION,
  "exit-code": "Say what you did about each in your summary, by its id.",
  "work-result": "Say what you did about each in your summary, by its id.",
  router: "",
};

/** For a stage that judges: its open findings, with what was said about them, and how to answer. Empty the first time. */
export function reviewFindings({ resolved, run, stage, submits }: FindingContext): string {
  if (stage.findings === undefined) return "";
  const open = awaiting(run.findings, stage.id);
  const accepted = findingsOf(run.findings, stage.id).filter((each) => isOpen(each) && each.acceptedBy !== undefined);
  if (open.length === 0 && accepted.length === 0) return "";
  const known =
    accepted.length === 0
      ? ""
      : `A person has accepted these; they stay open, and you need not name them:\n${fenced(accepted.map(findingText).join("\n\n"))}`;
  if (open.length === 0) return known;
  const how = submits
    ? `Put them into \`findings\` of the call. Without the tool: ${REVIEW_HOW[stage.result.from]}`
    : REVIEW_HOW[stage.result.from];
  const rows =
    "An open row that is in your gaps again is not fixed; one that is not in them is fixed. Name a row by its text, word for word.";
  const text = fillPrompt(resolved.prompts["fragments/findings-review"] ?? FALLBACK, {
    FINDINGS: fenced(open.map(findingText).join("\n\n")),
    HOW: stage.findings === "rows" ? rows : how,
  });
  return [text.trim(), known].filter((part) => part !== "").join("\n\n");
}

/** For an agent that works before the judges: the open findings of its track. Findings that the issues above repeat in full are only named. */
export function openFindings(
  { resolved, run, track, stage, submits }: FindingContext,
  above: readonly Issue[],
): string {
  const open = stage.findings === undefined ? openFor({ flow: resolved.flow, run }, track, stage) : [];
  if (open.length === 0) return "";
  const said = new Set(above.map((issue) => (typeof issue === "string" ? issue : issue.description).trim()));
  const shown = open.map((each) =>
    findingText(said.has(each.text) ? { ...each, text: bounded(each.text, NAMED_CHARS) } : each),
  );
  return fillPrompt(resolved.prompts["fragments/findings-build"] ?? FALLBACK, {
    FINDINGS: fenced(shown.join("\n\n")),
    HOW: submits ? BUILD_KEY : BUILD_HOW[stage.result.from],
  }).trim();
}

/** Enough to recognise a finding that is said whole above. */
const NAMED_CHARS = 120;

/** A run that an older version began may lack the fragment. */
const FALLBACK = "## Open findings\n\n{{FINDINGS}}\n\n{{HOW}}";

/** `F1 [major] review#1, src/a.ts:12: text`, then a line for everything that was said about it. */
function findingText(finding: Finding): string {
  const { id, severity, stage, attempt, file, line, text, said, left } = finding;
  const where = file === undefined ? "" : `, ${file}${line === undefined ? "" : `:${line}`}`;
  const head = `${id}${severity === undefined ? "" : ` [${severity}]`} ${stage}#${attempt}${where}: ${text}`;
  const words = said.map(({ by, attempt: when, state, text: words }) => {
    const what = state === undefined ? "said" : state.replace("_", " ");
    return `  ${by}#${when} ${what}${words === "" ? "" : `: ${words}`}`;
  });
  return [
    head,
    ...(left === undefined ? [] : [`  (${left} earlier statements are in the events of the run)`]),
    ...words,
  ].join("\n");
}
