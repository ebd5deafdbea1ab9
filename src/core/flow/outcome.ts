// The conclusion of an attempt. A `Report` holds the source's own words; an `Outcome` is their meaning in Passrail.
// Readers (verdict/) parse text into reports; `judge` turns a report into exactly one outcome.

import type { ReportedUsage } from "../budget/budget.ts";
import type { JsonObject } from "../json.ts";

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
      readonly rule?: string;
    };

/** One step of a routed run, chosen by the router. */
export type RoutedStage = { readonly agent: string; readonly teams: boolean };

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
  /** The attempt ended because its agent asked a person; the questions are stored. */
  readonly asked?: true;
};

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
  readonly questions: readonly string[];
  readonly stages?: readonly RoutedStage[];
  readonly blame?: readonly string[];
  readonly payload?: JsonObject;
  readonly path?: string;
  readonly claimed?: Report["claimed"];
  /** It stopped in the middle of its work to ask a person. */
  readonly asked?: true;
  readonly warnings: readonly string[];
};

/** The key that picks the route: the verdict of a healthy attempt, else its health. */
export function routeKey(outcome: Outcome): Health | Verdict {
  return outcome.health === "complete" ? (outcome.verdict ?? "pass") : outcome.health;
}

/** The text of an issue in either form. */
export function issueText(issue: Issue): string {
  if (typeof issue === "string") return issue;
  const where = issue.file ? ` (${issue.file}${issue.line === undefined ? "" : `:${issue.line}`})` : "";
  return `${issue.severity ? `[${issue.severity}] ` : ""}${issue.description}${where}`;
}
