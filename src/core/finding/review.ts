// Checks a review against the open findings: returns its error or its effect. Identity decides, never the likeness of texts.

import { DISPOSITIONS, type FindingNote, type Issue, issueText, type Outcome, routeKey } from "../flow/outcome.ts";
import {
  awaiting,
  type Finding,
  type Findings,
  findingsOf,
  isCritical,
  isOpen,
  MAX_OPEN,
  NO_FINDINGS,
  raisedFrom,
  type Review,
  severityOf,
} from "./finding.ts";
import { rowOf } from "./row.ts";

/** How a stage identifies its findings: by the ids that its reviews name, or by the row of a list that each is about. */
export type FindingMode = "ids" | "rows";

export type ReviewFault = {
  readonly code: "findings_left_out" | "findings_contradicted";
  /** For the agent, word for word. */
  readonly message: string;
};

type Reviewed = Pick<Outcome, "health" | "verdict" | "word" | "issues" | "findings">;

/** The correction that a review needs before it counts; undefined if it covers every open finding. */
export function reviewFault(
  mode: FindingMode,
  stage: string,
  findings: Findings | undefined,
  outcome: Reviewed,
): ReviewFault | undefined {
  const key = routeKey({ questions: [], warnings: [], ...outcome });
  const notes = outcome.findings ?? [];
  // A verdict that no agent gave (a missing review) need not cover the findings.
  if (outcome.health !== "complete" || (key !== "pass" && outcome.word === undefined)) return undefined;
  const wrong = wrongNotes(findingsOf(findings, stage), awaiting(findings, stage), notes);
  if (wrong !== undefined) return contradicted(wrong);
  if (key === "pass") {
    const against = passContradiction(mode, findingsOf(findings, stage), outcome);
    if (against !== undefined) return contradicted(against);
  }
  // A review that gives up on the work, or hands it to a person, need not cover the list.
  if (mode === "rows" || (key !== "pass" && key !== "revise" && key !== "redesign")) return undefined;
  const named = new Set(notes.map(({ id }) => id));
  const left = awaiting(findings, stage).filter(({ id }) => !named.has(id));
  if (left.length === 0) return undefined;
  const ids = left.map(({ id }) => id).join(", ");
  const message = `The review says nothing about ${ids}. Say of each open finding whether it is fixed, not_fixed or withdrawn, and why.`;
  return { code: "findings_left_out", message };
}

function wrongNotes(
  own: readonly Finding[],
  open: readonly Finding[],
  notes: readonly FindingNote[],
): string | undefined {
  const seen = new Set<string>();
  for (const { id, state, said } of notes) {
    if (!own.some((finding) => finding.id === id)) {
      const known = open.length === 0 ? "none is open" : `open: ${open.map((finding) => finding.id).join(", ")}`;
      return `${id} is not a finding of this stage (${known}). A new finding has no id yet: leave the id out.`;
    }
    if (seen.has(id)) return `${id} is named twice. Say one thing about each finding.`;
    seen.add(id);
    if (state === undefined) return `${id} has no state: write one of ${DISPOSITIONS.join(", ")}.`;
    if (state !== "fixed" && said.trim() === "") return `${id} is ${state}: say why.`;
  }
  return undefined;
}

function passContradiction(mode: FindingMode, own: readonly Finding[], outcome: Reviewed): string | undefined {
  const notes = outcome.findings ?? [];
  const unfixed = notes.filter(({ state }) => state === "not_fixed").map(({ id }) => id);
  if (unfixed.length > 0)
    return `The work is passed on, but ${unfixed.join(", ")} is not fixed. Either it is fixed or withdrawn, or the work goes back.`;
  if (mode === "rows" && outcome.issues.length > 0)
    return `The work is passed on with ${outcome.issues.length} gaps. Either there is no gap, or the work goes back.`;
  const critical = outcome.issues.filter((issue) => isCritical(severityOf(issue)));
  if (critical.length > 0)
    return `The work is passed on with ${critical.length} critical findings. Either they are not critical, or the work goes back.`;
  const closed = new Set(notes.map(({ id }) => id));
  const open = own.filter((each) => isOpen(each) && isCritical(each.severity) && each.acceptedBy === undefined);
  const left = mode === "rows" ? [] : open.filter(({ id }) => !closed.has(id));
  return left.length === 0 ? undefined : `The work is passed on while ${left.map(({ id }) => id).join(", ")} is open.`;
}

function contradicted(message: string): ReviewFault {
  return { code: "findings_contradicted", message };
}

export type ReviewEffect = Review & {
  /** New findings beyond the limit of a run: they have no id. */
  readonly over: number;
};

type ReviewPlace = Pick<Review, "stage" | "track" | "attempt"> & { readonly mode: FindingMode };

/** The effect of a review that has no fault. Undefined if it changes nothing. */
export function effectOf(
  place: ReviewPlace,
  findings: Findings | undefined,
  outcome: Outcome,
): ReviewEffect | undefined {
  const { mode, stage, track, attempt } = place;
  const issues = namedIssues(outcome);
  const own = findingsOf(findings, stage);
  const notes = (outcome.findings ?? []).flatMap((note) =>
    note.state === undefined ? [] : [{ id: note.id, state: note.state, said: note.said }],
  );
  const byRow =
    mode === "rows" ? rowEffect(own, notes, issues) : { judged: notes, added: issues.map((issue) => ({ issue })) };
  const { last, list } = findings ?? NO_FINDINGS;
  const room = Math.max(0, MAX_OPEN - list.filter(isOpen).length);
  const raised = byRow.added
    .slice(0, room)
    .map(({ issue, row }: Added, index) => raisedFrom(`F${last + index + 1}`, issue, row));
  const over = byRow.added.length - raised.length;
  if (raised.length === 0 && byRow.judged.length === 0 && over === 0) return undefined;
  return { stage, track, attempt, raised, judged: byRow.judged, over };
}

type Added = { readonly issue: Issue; readonly row?: string };

/** The list of gaps is whole every time: a row that is in it again is not fixed, an open one that is not in it is fixed. */
function rowEffect(own: readonly Finding[], notes: Review["judged"], issues: readonly Issue[]) {
  const gaps = new Map<string, Issue>();
  for (const issue of issues) if (!gaps.has(rowOf(issue))) gaps.set(rowOf(issue), issue);
  const judged = own.flatMap((finding): Review["judged"] => {
    const gap = gaps.get(finding.row ?? "");
    if (gap !== undefined) return [{ id: finding.id, state: "not_fixed", said: issueText(gap) }];
    const note = notes.find(({ id }) => id === finding.id);
    if (note !== undefined) return [note];
    return isOpen(finding) && finding.acceptedBy === undefined
      ? [{ id: finding.id, state: "fixed", said: "no longer among the gaps" }]
      : [];
  });
  const known = new Set(own.map(({ row }) => row));
  const added = [...gaps].filter(([row]) => !known.has(row)).map(([row, issue]): Added => ({ issue, row }));
  return { judged, added };
}

/** Without named issues, the reason of a judge that sends work back, else its whole answer, is the finding. */
function namedIssues(outcome: Outcome): readonly Issue[] {
  const { issues, reason, summary, verdict, word, questions } = outcome;
  if (issues.length > 0 || (verdict !== "revise" && verdict !== "redesign")) return issues;
  // A verdict that no agent gave (a missing review) is no finding, and neither is a question.
  const notes = (outcome.findings ?? []).some(({ state }) => state === "not_fixed");
  const said = reason || summary || "";
  return word === undefined || notes || said === "" || questions.length > 0 ? [] : [said];
}
