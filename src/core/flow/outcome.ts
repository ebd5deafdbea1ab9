// The conclusion of an attempt. A `Report` holds the source's own words; an `Outcome` is their meaning in Passrail.
// Readers (verdict/) parse text into reports; `judge` turns a report into exactly one outcome.

import type { ReportedUsage } from "../budget/budget.ts";
import type { ReachedLimit } from "../budget/room.ts";
import type { JsonObject } from "../json.ts";
import type { CheckResult } from "./check-result.ts";

export const HEALTHS = ["complete", "blocked", "failed", "incomplete"] as const;
export const VERDICTS = ["pass", "revise", "redesign", "reject", "exhausted"] as const;
export type Health = (typeof HEALTHS)[number];
export type Verdict = (typeof VERDICTS)[number];

/** One finding. A source may give a bare sentence or a structured one; Passrail keeps both as given. */
export type Issue =
  | string
  | {
      readonly severity?: string;
      readonly description: string;
      readonly file?: string;
      readonly line?: number;
      /** The last line that it is about, if it is about several. */
      readonly endLine?: number;
      /** A person's replacement for these lines; empty: the lines go. */
      readonly suggestion?: string;
      readonly rule?: string;
      /** The row of the Definition of Done that a gap is about, as the task's own list has it. */
      readonly row?: string;
    };

/** A review's disposition of an earlier finding. */
export const DISPOSITIONS = ["fixed", "not_fixed", "withdrawn"] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** A statement about one finding by its id: a review's disposition with its reason, or, without a state, a builder's note. */
export type FindingNote = { readonly id: string; readonly state?: Disposition; readonly said: string };

/** One step of a routed run, chosen by the router. */
export type RoutedStage = { readonly agent: string; readonly teams: boolean };

/** A channel of an attempt that gave a verdict, and whether the verdict carries the attempt's nonce. */
export type Heard = { readonly by: string; readonly signed: boolean; readonly said: string };

/** An attempt's own statement, in the words of its flow, before the engine decides anything. */
export type Report = {
  readonly health?: string;
  readonly verdict?: string;
  /** The result of a builtin in one word; conditions read it as `last('stage').word`. Agents have no channel for it. */
  readonly word?: string;
  readonly score?: number;
  readonly reason?: string;
  readonly summary?: string;
  readonly issues?: readonly Issue[];
  /** What it says about findings that have an id. */
  readonly findings?: readonly FindingNote[];
  readonly questions?: readonly string[];
  /** The router's list. */
  readonly stages?: readonly RoutedStage[];
  /** Tracks that a later stage holds responsible. */
  readonly blame?: readonly string[];
  /** The whole record as the agent gave it (003 payload, 000 JSON, 002 parsed file). */
  readonly payload?: JsonObject;
  /** Path of a handoff document inside the workspace. */
  readonly path?: string;
  /** The agent's claims about things that only the engine decides; compared, never obeyed. */
  readonly claimed?: { readonly loop?: number; readonly next?: string; readonly status?: string };
  /** Set by the engine when there is no usable report: timeout, exit code, no verdict … The attempt then failed. */
  readonly cause?: string;
  /** From a structured channel (verdict file, tool, simulation): canonical words count in addition to the source's. */
  readonly structured?: boolean;
  readonly warnings?: readonly string[];
  /** The usage of the whole attempt, repairs included; absent if the vendor reported none. */
  readonly usage?: ReportedUsage;
  /** When the limit that is the cause ends, ISO 8601, if the vendor reports it. */
  readonly resetsAt?: string;
  /** The limit that ended the attempt in the middle of its work; its session is resumed when a person raises the limit. */
  readonly reached?: ReachedLimit;
  /** The attempt ended because its agent asked a person; the questions are stored. */
  readonly asked?: true;
  /** The channel that decided. */
  readonly heard?: Heard;
  /** The results of Passrail's own checks after the attempt; absent if the stage has none. Agents have no channel for it. */
  readonly checks?: readonly CheckResult[];
  /** The report's criteria, with what Passrail found out about their evidence. */
  readonly evidence?: readonly EvidenceRow[];
  /** The end of the output of the checks that did not pass, and evidence that does not hold. */
  readonly checkIssues?: readonly Issue[];
  /** The commits that were taken off the branch because of them. */
  readonly undone?: UndoneWork;
  /** The earlier attempt whose result this is: the stage has a memo. Agents have no channel for it. */
  readonly reused?: ReusedResult;
};

export type ReusedResult = { readonly run: string; readonly stage: string; readonly attempt: number };

/**
 * One criterion of a report. "run": it cites a check that Passrail ran with that result; "reported": the agent's word, and what it cites is
 * there; "missing": no evidence, or evidence that does not hold.
 */
export type EvidenceRow = {
  readonly what: string;
  /** Null: another stage's matter. */
  readonly isMet: boolean | null;
  readonly evidence: string;
  readonly state: "run" | "reported" | "missing";
  readonly why: string;
};

/** A branch that went back from one commit to an earlier one; the pin keeps the later one. */
export type UndoneWork = { readonly from: string; readonly to: string; readonly pinned: string | null };

export type Outcome = {
  readonly health: Health;
  /** Only when health is complete. */
  readonly verdict?: Verdict;
  /** The source's own word for the verdict, or for the health where that decided. */
  readonly word?: string;
  readonly score?: number;
  readonly cause?: string;
  readonly reason?: string;
  readonly summary?: string;
  readonly issues: readonly Issue[];
  /** What it says about findings that have an id; absent in records of older versions. */
  readonly findings?: readonly FindingNote[];
  readonly questions: readonly string[];
  readonly stages?: readonly RoutedStage[];
  readonly blame?: readonly string[];
  readonly payload?: JsonObject;
  readonly path?: string;
  readonly claimed?: Report["claimed"];
  /** It stopped in the middle of its work to ask a person. */
  readonly asked?: true;
  /** The channel that gave the verdict; absent for builtins and in records of older versions. */
  readonly heard?: Heard;
  /** Absent if the stage has no checks, and in records of older versions. */
  readonly checks?: readonly CheckResult[];
  readonly evidence?: readonly EvidenceRow[];
  /** The agent passed, and Passrail's own checks or its look at the evidence say otherwise. */
  readonly contradicted?: true;
  readonly undone?: UndoneWork;
  /** No agent worked: the result is that of an earlier attempt with the same inputs. */
  readonly reused?: ReusedResult;
  readonly warnings: readonly string[];
};

/** Whether another program than the agent's own can have given the verdict. */
export function isUnsigned(heard: Heard | undefined): boolean {
  return heard?.signed === false;
}

/** The key that picks the route: the verdict of a healthy attempt, else its health. */
export function routeKey(outcome: Outcome): Health | Verdict {
  return outcome.health === "complete" ? (outcome.verdict ?? "pass") : outcome.health;
}

/** An attempt's words, after the source of its result if no agent worked. */
export function withReused({ reused }: Pick<Outcome, "reused">, said: string): string {
  if (reused === undefined) return said;
  return `reused from ${reused.stage}#${reused.attempt} of ${reused.run}${said === "" ? "" : `: ${said}`}`;
}

/** The text of an issue in either form. */
export function issueText(issue: Issue): string {
  if (typeof issue === "string") return issue;
  const { file, line, endLine = line } = issue;
  const lines = line === undefined ? "" : endLine === line ? `:${line}` : `:${line}-${endLine}`;
  return `${issue.severity ? `[${issue.severity}] ` : ""}${issue.description}${file ? ` (${file}${lines})` : ""}`;
}

/** With the suggested text, every character of it, in a fence that it cannot close. The form is the one that code reviews use. */
export function wholeIssueText(issue: Issue): string {
  if (typeof issue === "string" || issue.suggestion === undefined) return issueText(issue);
  const { line, endLine = line, suggestion } = issue;
  const where = line === endLine ? `line ${line}` : `lines ${line}-${endLine}`;
  let fence = "```";
  while (suggestion.includes(fence)) fence += "`";
  const text = suggestion === "" ? "" : `${suggestion}\n`;
  const what = suggestion === "" ? `Remove ${where}` : `Suggested text in place of ${where}`;
  return `${issueText(issue)}\n${what}:\n${fence}suggestion\n${text}${fence}`;
}
