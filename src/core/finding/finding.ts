// A finding of a stage that judges: its identity over all later reviews, its state, and what both sides said about it. The run carries a bounded
// list; the events have all of it.

import type { Disposition, Issue } from "../flow/outcome.ts";
import { optional } from "../optional.ts";

/** `open` includes those that a person accepted: they are known, not mended. */
export type FindingState = "open" | "fixed" | "withdrawn";

/** One statement about a finding: a review's disposition, or a builder's note. */
export type FindingWord = {
  readonly by: string;
  readonly attempt: number;
  /** Only a review has one. */
  readonly state?: Disposition;
  readonly text: string;
};

export type RaisedFinding = {
  readonly id: string;
  readonly text: string;
  readonly severity?: string;
  readonly file?: string;
  readonly line?: number;
  /** The row of the Definition of Done that it is about, where the stage identifies its findings so. */
  readonly row?: string;
};

export type Finding = RaisedFinding & {
  readonly stage: string;
  readonly track: string;
  readonly attempt: number;
  readonly state: FindingState;
  /** How often a review said "not fixed" since it was raised, or since a person last decided about it. */
  readonly notFixed: number;
  /** A review closed it, and a later one named it as not fixed. */
  readonly reopened?: true;
  /** The person who accepted the work with it. */
  readonly acceptedBy?: string;
  /** Oldest first; where there were more than fit, `left` counts the oldest ones that are only in the events. */
  readonly said: readonly FindingWord[];
  readonly left?: number;
};

/** The findings of a run. `last` is the number of the last id; no number is used twice. */
export type Findings = { readonly last: number; readonly list: readonly Finding[] };

export const NO_FINDINGS: Findings = { last: 0, list: [] };

/** Limits of the run's state: open findings, kept findings, and the texts of each. */
export const MAX_OPEN = 50;
const MAX_KEPT = 100;
const TEXT_CHARS = 2000;
const SAID_CHARS = 400;
const MAX_SAID = 8;

/** An issue as a finding, cut to what a run carries. */
export function raisedFrom(id: string, issue: Issue, row?: string): RaisedFinding {
  const given = typeof issue === "string" ? { description: issue } : issue;
  const severity = severityOf(issue);
  const place =
    given.file === undefined ? placeIn(given.description) : { file: given.file, ...optional({ line: given.line }) };
  return {
    id,
    text: bounded(given.description, TEXT_CHARS),
    ...optional({ severity: severity === undefined ? undefined : bounded(severity, 40) }),
    ...(place === undefined ? {} : { ...place, file: bounded(place.file, 300) }),
    ...optional({ row }),
  };
}

/** The severity that an issue has, or that its text begins with: `[major] …`, `Critical: …`. */
export function severityOf(issue: Issue): string | undefined {
  if (typeof issue !== "string" && issue.severity !== undefined) return issue.severity.trim().toLowerCase();
  const text = typeof issue === "string" ? issue : issue.description;
  const found = /^[[(*`]{0,3}(critical|major|minor|nit)(?:[\])*`]{1,3}:?|:)/iu.exec(text.slice(0, 40));
  return found?.[1]?.toLowerCase();
}

/** The first `path:line` of a text, for people; nothing is decided by it. */
function placeIn(text: string): { readonly file: string; readonly line: number } | undefined {
  const found = /(?:^|[\s(`])([\w@./-]{1,200}\.[A-Za-z0-9]{1,8}):([0-9]{1,6})(?![0-9])/u.exec(
    text.slice(0, TEXT_CHARS),
  );
  return found?.[1] === undefined ? undefined : { file: found[1], line: Number(found[2]) };
}

export function isOpen({ state }: Finding): boolean {
  return state === "open";
}

export function isCritical(severity: string | undefined): boolean {
  return severity?.trim().toLowerCase() === "critical";
}

/** The findings of one stage; its ids are the only ones that its reviews may name. */
export function findingsOf(findings: Findings | undefined, stage: string): readonly Finding[] {
  return (findings ?? NO_FINDINGS).list.filter((finding) => finding.stage === stage);
}

/** Those that the next review of the stage must say something about. A person has decided about accepted ones. */
export function awaiting(findings: Findings | undefined, stage: string): readonly Finding[] {
  return findingsOf(findings, stage).filter((finding) => isOpen(finding) && finding.acceptedBy === undefined);
}

/** Why a person should look before another loop is spent on the finding; undefined if nothing says so. */
export function whyStuck(finding: Finding): string | undefined {
  if (!isOpen(finding) || finding.acceptedBy !== undefined) return undefined;
  if (finding.reopened === true) return `${finding.id} came back after it was closed`;
  return finding.notFixed >= 2 ? `${finding.id} was not fixed ${finding.notFixed} times` : undefined;
}

/** A review's effect on the list: new findings at its end, and its dispositions. */
export type Review = {
  readonly stage: string;
  readonly track: string;
  readonly attempt: number;
  readonly raised: readonly RaisedFinding[];
  readonly judged: readonly { readonly id: string; readonly state: Disposition; readonly said: string }[];
};

export function withReview(findings: Findings | undefined, review: Review): Findings {
  const { stage, track, attempt, raised, judged } = review;
  const before = findings ?? NO_FINDINGS;
  const changed = before.list.map((finding) => {
    const said = judged.find(({ id }) => id === finding.id);
    return said === undefined ? finding : judge(finding, { by: stage, attempt, state: said.state, text: said.said });
  });
  const added = raised.map(
    (each): Finding => ({ ...each, stage, track, attempt, state: "open", notFixed: 0, said: [] }),
  );
  const numbers = raised.map(({ id }) => numberOf(id));
  return { last: Math.max(before.last, ...numbers), list: kept([...changed, ...added]) };
}

function judge(finding: Finding, word: FindingWord & { readonly state: Disposition }): Finding {
  const { reopened: was, ...rest } = withWord(finding, word);
  switch (word.state) {
    case "fixed":
    case "withdrawn":
      return { ...rest, ...optional({ reopened: was }), state: word.state };
    case "not_fixed": {
      const reopened = was === true || !isOpen(finding) ? (true as const) : undefined;
      return { ...rest, ...optional({ reopened }), state: "open", notFixed: finding.notFixed + 1 };
    }
  }
}

/** The builders' notes about findings, by id. */
export function withNotes(
  findings: Findings | undefined,
  { stage, attempt }: { readonly stage: string; readonly attempt: number },
  notes: readonly { readonly id: string; readonly said: string }[],
): Findings {
  const before = findings ?? NO_FINDINGS;
  const list = before.list.map((finding) => {
    const note = notes.find(({ id }) => id === finding.id);
    return note === undefined ? finding : withWord(finding, { by: stage, attempt, text: note.said });
  });
  return { ...before, list };
}

/** A person accepted the work: the findings stay open, with the person's name. */
export function withAcceptance(findings: Findings | undefined, ids: readonly string[], by: string): Findings {
  const before = findings ?? NO_FINDINGS;
  const list = before.list.map((finding) => (ids.includes(finding.id) ? { ...finding, acceptedBy: by } : finding));
  return { ...before, list };
}

/** A person has looked at the findings of a stage: returning findings are counted anew. */
export function withFreshCount(findings: Findings, stage: string): Findings {
  const list = findings.list.map((finding) => {
    if (finding.stage !== stage || (finding.notFixed === 0 && finding.reopened === undefined)) return finding;
    const { reopened: _was, ...rest } = finding;
    return { ...rest, notFixed: 0 };
  });
  return { ...findings, list };
}

function withWord(finding: Finding, word: FindingWord): Finding {
  const all = [...finding.said, { ...word, text: bounded(word.text, SAID_CHARS) }];
  const over = Math.max(0, all.length - MAX_SAID);
  const left = (finding.left ?? 0) + over;
  return { ...finding, said: all.slice(over), ...(left > 0 ? { left } : {}) };
}

/** Open ones stay; of the closed ones the newest. */
function kept(list: readonly Finding[]): readonly Finding[] {
  let over = list.length - MAX_KEPT;
  return list.filter((finding) => isOpen(finding) || over-- <= 0);
}

function numberOf(id: string): number {
  return /^F[1-9][0-9]{0,8}$/u.test(id) ? Number(id.slice(1)) : 0;
}

/** Never half of a surrogate pair; a cut is shown. */
export function bounded(text: string, max: number): string {
  const whole = text.trim();
  if (whole.length <= max) return whole;
  const last = whole.charCodeAt(max - 1);
  return `${whole.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)}… (cut)`;
}
