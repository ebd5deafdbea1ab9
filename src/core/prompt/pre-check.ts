// Passrail's own look at the rows that a stage marks as met (R-002-16), for the one that checks them: it begins with what is certain.

import type { EvidenceRow } from "../flow/outcome.ts";
import { fenced } from "./quote.ts";

export type VerifiedRows = { readonly stage: string; readonly attempt: number; readonly rows: readonly EvidenceRow[] };

export function preCheckText({ stage, attempt, rows }: VerifiedRows): string {
  const met = rows.filter(({ isMet }) => isMet === true);
  const about = `Passrail's own look at the places that the rows of ${stage}, iteration ${attempt}, cite`;
  if (met.length === 0) return `${about}: no row is marked as met.`;
  const missing = met.filter(({ state }) => state === "missing").length;
  const lines = met.map(
    ({ what, state, why }) => `- ${WORDS[state]}: ${oneLine(what)}${why === "" ? "" : ` — ${oneLine(why)}`}`,
  );
  return [
    `${about} (${met.length} met, ${missing} of them without evidence that holds). Whether the place does what the row says is for you to see.`,
    fenced(lines.join("\n")),
    'Account for each of these rows: under "## Verified rows" with what you saw (in the tool: `dod`), or as a gap.',
  ].join("\n");
}

const WORDS: Readonly<Record<EvidenceRow["state"], string>> = {
  run: "run by Passrail",
  reported: "found",
  missing: "NOT FOUND",
};

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim().slice(0, 500);
}
