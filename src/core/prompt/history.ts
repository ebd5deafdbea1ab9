// The part `history` of a prompt: which iteration this is, the ranges of changes, and what the same stage concluded before in this run.

import { type Issue, issueText } from "../flow/outcome.ts";
import { fenced } from "./quote.ts";

/** The stage's own past in this run, for its prompt. */
export type History = {
  /** The commit that the run started from; null before the first attempt, and without git. */
  readonly base: string | null;
  /** Since the stage's last iteration that ended; null for its first, and without git. */
  readonly since: { readonly attempt: number; readonly commit: string; readonly stat: string } | null;
  /** The stage's earlier iterations that ended, oldest first. */
  readonly own: readonly OwnVerdict[];
};

export type OwnVerdict = {
  readonly attempt: number;
  readonly word: string;
  readonly summary: string;
  readonly issues: readonly Issue[];
};

export const NO_HISTORY: History = { base: null, since: null, own: [] };

/** A prompt does not grow with the number of loops. */
const SHOWN_ITERATIONS = 5;
const COMMIT = /^[0-9a-f]{40,64}$/u;

/** `rounds`: the counter of the stage, in words, where it has one. */
export function historyText({ base, since, own }: History, attempt: number, rounds: string | null): string {
  const lines = [
    `## Where you stand`,
    `This is iteration ${attempt} of your stage in this run.${rounds === null ? "" : ` ${rounds}`}`,
  ];
  if (base !== null && COMMIT.test(base)) lines.push(`All changes of this run: \`git diff ${base}..HEAD\``);
  if (since !== null && COMMIT.test(since.commit)) lines.push(sinceText(since));
  const shown = own.slice(-SHOWN_ITERATIONS);
  if (shown.length > 0) {
    const missing = own.length - shown.length;
    const left = missing === 0 ? "" : ` (the last ${shown.length} of ${own.length})`;
    lines.push(`What you concluded before, as it was recorded${left}:`, ...shown.map(verdictText));
  }
  return lines.join("\n");
}

function sinceText({ attempt, commit, stat }: NonNullable<History["since"]>): string {
  const range = `Changes since your iteration ${attempt}: \`git diff ${commit}..HEAD\``;
  return stat === "" ? `${range}. There are none.` : `${range}, with uncommitted work:\n${fenced(stat)}`;
}

function verdictText({ attempt, word, summary, issues }: OwnVerdict): string {
  const said = [`Iteration ${attempt}: ${word}`, summary.trim(), ...issues.map((issue) => `- ${issueText(issue)}`)];
  return fenced(said.filter((line) => line !== "").join("\n"));
}
