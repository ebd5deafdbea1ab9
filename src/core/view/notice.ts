// The text of a notice about an item: people read it away from the board, so it names the ticket, says what the last stage reported, and how
// often the work has been sent back.

import type { Flow } from "../flow/flow.ts";
import { counterRows } from "../run/counters.ts";
import type { Run } from "../run/run.ts";

/** The last finished attempt before the item. */
export type LastReport = { readonly stage: string; readonly word: string; readonly summary: string };

const SUMMARY_CHARS = 500;

export function itemNotice(flow: Flow, run: Run, text: string, last: LastReport | undefined): string {
  const { id, title } = run.subject;
  const loops = counterRows(flow, run)
    .filter(({ loops: count }) => count > 0)
    .map(({ key, loops: count, max }) => `${key} ${count}${max === null ? "" : ` of ${max}`}`);
  return [
    `${id}: ${text}`,
    ...(text.includes(title) || title === id ? [] : [title]),
    ...(last === undefined ? [] : [reportLine(last)]),
    ...(loops.length === 0 ? [] : [`Loops: ${loops.join(", ")}`]),
  ].join("\n");
}

function reportLine({ stage, word, summary }: LastReport): string {
  // The block of source 004 is for the machine: its content is in the notice already.
  const [words = ""] = summary.split(/^WORK_RESULT:/mu);
  const said = words.trim().slice(0, SUMMARY_CHARS);
  return `Last report: ${stage} ${word}${said === "" ? "" : `, ${said}`}`;
}
