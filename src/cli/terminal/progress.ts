// A run's progress as the terminal shows it: the lines of core/view, with times by the reader's own clock and the commands that answer.

import { isConfining } from "../../core/flow/workspace-mode.ts";
import type { Issue } from "../../core/flow/outcome.ts";
import type { RunEvent } from "../../core/run/event.ts";
import { runFacts } from "../../core/run/facts.ts";
import { asksAboutInputs, type InboxItem, type Run } from "../../core/run/run.ts";
import { findingLines, itemFindings } from "../../core/view/findings.ts";
import { answersTo, askedBy } from "../../core/view/item-text.ts";
import { type Progress, progressLines as linesOf } from "../../core/view/progress-lines.ts";
import { oneLine } from "./plain-text.ts";
import { localTime } from "./run-view.ts";

const WIDTH = 300;

/** The lines for the events of one run, in order. */
export function progressLines(progress: Omit<Progress, "wording">, events: readonly RunEvent[]): readonly string[] {
  return linesOf({ ...progress, wording: { oneLine, timeOf: localTime, waitingLines } }, events);
}

/** The difference of a changed file is what the person decides about. */
const DIFF_LINES = 300;

/** The items that wait, their questions, and the commands that answer them. */
export function waitingLines(item: InboxItem, number: number, run?: Run): readonly string[] {
  const head = `⏸ ${item.kind} ${item.stage} waits for ${item.who}`;
  const findings = run === undefined ? [] : itemFindings(run, item);
  // A finding with an id is printed with it, and with both sides' words.
  const texts = new Set(findings.map(({ text }) => text));
  const own =
    item.kind === "escalation" ? { ...item, issues: item.issues.filter((issue) => !texts.has(bareText(issue))) } : item;
  const asked = [...askedBy(own), ...findings.flatMap(findingLines)]
    .flatMap((text) => text.split("\n").slice(0, asksAboutInputs(item) ? DIFF_LINES : 20))
    .map((line) => `    ${oneLine(line, WIDTH)}`);
  // The person should know what the gate is worth: an agent that runs as the person can reach everything that the person can.
  const caution = item.kind === "gate" ? [`    ${heldBy(run)}`] : [];
  return [head, ...asked, ...caution, ...answersTo(item, `${number}.${item.number}`).map((command) => `  ${command}`)];
}

function bareText(issue: Issue): string {
  return (typeof issue === "string" ? issue : issue.description).trim();
}

function heldBy(run: Run | undefined): string {
  const mode = run === undefined ? null : runFacts(run).config.workspace;
  return mode !== null && isConfining(mode)
    ? `agents run in a sandbox (${mode})`
    : "agents run as you, without a sandbox";
}
