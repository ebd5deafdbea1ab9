// The findings of a run for people: who raised each, where it is, its state, and what both sides said. Written once; CLI, API, dashboard and
// pull requests show it.

import { type Finding, findingsOf, isOpen, whyStuck } from "../finding/finding.ts";
import type { InboxItem, Run } from "../run/run.ts";

export type FindingRow = {
  readonly id: string;
  readonly severity: string | null;
  /** `path:line`, as far as it is known. */
  readonly where: string | null;
  readonly text: string;
  /** The row of the Definition of Done that it is about. */
  readonly row: string | null;
  /** The stage and the iteration that raised it. */
  readonly stage: string;
  readonly track: string;
  readonly iteration: number;
  /** An accepted finding is still there: a person accepted the work with it. */
  readonly state: "open" | "accepted" | "fixed" | "withdrawn";
  readonly acceptedBy: string | null;
  /** Why a person is asked about it; null if none is. */
  readonly stuck: string | null;
  /** Oldest first. `said` is the disposition of a review, or `note` for the words of the agent that worked on it. */
  readonly history: readonly FindingSaid[];
  /** Older statements that only the events have. */
  readonly left: number;
};

export type FindingSaid = {
  readonly by: string;
  readonly iteration: number;
  readonly said: "fixed" | "not fixed" | "withdrawn" | "note";
  readonly text: string;
};

export function findingRows(run: Pick<Run, "findings">): readonly FindingRow[] {
  return (run.findings?.list ?? []).map(rowOf);
}

/** The findings of a decision: at an escalation the open ones of its stage, at a gate all open ones. */
export function itemFindings(run: Run, item: InboxItem): readonly FindingRow[] {
  if (item.kind === "escalation") return findingsOf(run.findings, item.stage).filter(isOpen).map(rowOf);
  return item.kind === "gate" ? (run.findings?.list ?? []).filter(isOpen).map(rowOf) : [];
}

/** `F1 open [major] src/a.ts:12 (review#1): text`, then a line for each statement, indented. */
export function findingLines(row: FindingRow): readonly string[] {
  const { id, state, acceptedBy, severity, where, stage, iteration, text, history, left } = row;
  const parts = [
    id,
    acceptedBy === null ? state : `${state} by ${personOf(acceptedBy)}, still open`,
    ...(severity === null ? [] : [`[${severity}]`]),
    ...(where === null ? [] : [where]),
    `(${stage}#${iteration}):`,
    text,
  ];
  return [
    parts.join(" "),
    ...(left === 0 ? [] : [`  … ${left} earlier statements are in the events of the run`]),
    ...history.map((each) => `  ${each.by}#${each.iteration} ${each.said}${each.text === "" ? "" : `: ${each.text}`}`),
  ];
}

/** The unfixed findings for a pull request: open ones, accepted ones, and those that their reviewer withdrew. */
export function knownIssues(run: Pick<Run, "findings">): readonly FindingRow[] {
  return findingRows(run).filter(({ state }) => state !== "fixed");
}

function rowOf(finding: Finding): FindingRow {
  const { id, severity, file, line, text, row, stage, track, attempt, state, acceptedBy, said, left } = finding;
  return {
    id,
    severity: severity ?? null,
    where: file === undefined ? null : `${file}${line === undefined ? "" : `:${line}`}`,
    text,
    row: row ?? null,
    stage,
    track,
    iteration: attempt,
    state: state === "open" && acceptedBy !== undefined ? "accepted" : state,
    acceptedBy: state === "open" ? (acceptedBy ?? null) : null,
    stuck: whyStuck(finding) ?? null,
    history: said.map((word) => ({
      by: word.by,
      iteration: word.attempt,
      said: word.state === undefined ? "note" : word.state === "not_fixed" ? "not fixed" : word.state,
      text: word.text,
    })),
    left: left ?? 0,
  };
}

function personOf(actor: string): string {
  return actor.startsWith("human:") ? actor.slice("human:".length) : actor;
}
