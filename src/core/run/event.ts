// The events of a run, stored forever and in order. Folding them with `evolve` gives the run, byte for byte. They are also the history, the
// audit log and the live stream.

import type { BudgetUse, Raise, Reserved, ReportedUsage } from "../budget/budget.ts";
import type { Postponed } from "./postponement.ts";
import type { JsonObject } from "../json.ts";
import type { Review } from "../finding/finding.ts";
import type { ImportMark } from "./import-mark.ts";
import type { Issue, Outcome, UndoneWork } from "../flow/outcome.ts";
import type { MessageWay } from "./message.ts";
import type { RenewedSettings } from "./renewed-settings.ts";
import type { OutwardIntent, OutwardSight, OutwardVerb } from "./outward-act.ts";
import type { Carry, ExpandedStage, HandedBack, InboxItem, InputChange, LentWorkspace, Subject } from "./run.ts";
import type { TakenRung } from "../flow/ladder.ts";

export type Actor = "engine" | "system" | `agent:${string}` | `human:${string}`;

export type HandoffEdge = {
  readonly number: number;
  readonly fromStage: string | null;
  readonly fromAgent: string | null;
  readonly fromAttempt: number;
  readonly toStage: string | null;
  readonly toAgent: string | null;
  readonly loop: number;
};

type Attempt = { readonly track: string; readonly stage: string; readonly attempt: number };
type OnStage = { readonly track: string; readonly stage: string };

export type EventBody =
  | {
      readonly type: "run.created";
      readonly id: string;
      readonly flow: string;
      readonly flowHash: string;
      readonly subject: Subject;
      readonly facts: JsonObject;
      readonly word: string;
    }
  /** A person brought the run from a file of another machine. It is for looking at and for replays: no signal changes it. */
  | ({ readonly type: "run.imported" } & ImportMark)
  | { readonly type: "run.waiting"; readonly for: readonly InboxItem["kind"][] }
  | { readonly type: "run.resumed" }
  | { readonly type: "run.paused"; readonly reason: string }
  | { readonly type: "run.unpaused" }
  | { readonly type: "run.stopped"; readonly reason: string }
  | { readonly type: "run.completed" }
  | { readonly type: "run.canceled"; readonly reason: string }
  | { readonly type: "run.stalled"; readonly since: string }
  | ({
      readonly type: "stage.ready";
      readonly carry: Carry;
      readonly notBefore?: string;
      readonly because?: string;
      /** The runner whose limit it waits for; absent in events of version 0.1. */
      readonly runner?: string;
    } & Attempt)
  | ({
      readonly type: "stage.started";
      readonly reserved?: Reserved;
      readonly rung?: TakenRung;
      readonly outside?: true;
    } & Attempt)
  | ({ readonly type: "stage.finished"; readonly outcome: Outcome } & Attempt)
  | ({ readonly type: "stage.timed_out"; readonly cause: string } & Attempt)
  | ({ readonly type: "stage.interrupted"; readonly cause: string } & Attempt)
  /** It failed for a reason outside the work and starts again later; no counter changes. */
  | ({
      readonly type: "stage.postponed";
      readonly cause: string;
      readonly reason: string;
      readonly until: string;
      readonly retry: number;
      readonly of: number;
      readonly times: Postponed;
    } & Attempt)
  /** It has not started yet and waits for its runner's limit to end. */
  | ({
      readonly type: "stage.held";
      readonly runner: string;
      readonly cause: string;
      readonly until: string;
      readonly ladder?: readonly string[];
    } & Attempt)
  /** Its runner is out, and the next attempt takes another rung of the ladder; no counter changes. */
  | ({
      readonly type: "stage.moved";
      readonly cause: string;
      readonly reason: string;
      readonly from: string;
      readonly to: string;
    } & Attempt)
  /** The limit that it waits for is gone before its time. */
  | ({ readonly type: "stage.released"; readonly runner: string; readonly reason: string } & Attempt)
  | ({ readonly type: "stage.canceled"; readonly reason: string } & Attempt)
  | ({ readonly type: "stage.skipped"; readonly reason: string } & OnStage)
  | ({ readonly type: "stage.stopped"; readonly reason: string; readonly carry: Carry } & OnStage)
  /** A person works in its session and its workspace from now on. */
  | ({ readonly type: "stage.taken_over"; readonly carry: Carry } & Attempt)
  /** Its agent is gone: the workspace is the person's. */
  | ({ readonly type: "takeover.prepared"; readonly lent: LentWorkspace } & Attempt)
  | ({ readonly type: "handback.requested"; readonly note: string; readonly discard: boolean } & Attempt)
  | ({ readonly type: "handback.refused"; readonly reason: string } & Attempt)
  | ({ readonly type: "stage.handed_back" } & HandedBack & Attempt)
  | ({ readonly type: "stage.expanded"; readonly stages: readonly ExpandedStage[] } & OnStage)
  | { readonly type: "tracks.forked"; readonly stage: string; readonly tracks: readonly string[] }
  | { readonly type: "track.done"; readonly track: string }
  | { readonly type: "tracks.joined"; readonly stage: string }
  /** `added`: people's words to the sender or the receiver, as keys of the payload; absent if there are none. */
  | ({ readonly type: "handoff.created"; readonly track: string; readonly added?: JsonObject } & HandoffEdge)
  | { readonly type: "handoff.accepted"; readonly track: string; readonly number: number }
  | { readonly type: "handoff.rejected"; readonly track: string; readonly number: number; readonly reason: string }
  | { readonly type: "handoff.withdrawn"; readonly track: string; readonly number: number; readonly reason: string }
  | { readonly type: "handoff.expired"; readonly track: string; readonly number: number; readonly reason: string }
  | { readonly type: "gate.opened"; readonly track: string; readonly item: InboxItem; readonly carry: Carry }
  | {
      readonly type: "gate.answered";
      readonly track: string;
      readonly stage: string;
      readonly number: number;
      readonly answer: string;
      readonly comment: string;
      /** The person's findings in the work; absent if there are none. */
      readonly issues?: readonly Issue[];
      /** The commit that the decision is about. */
      readonly commit?: string;
      /** The files of the start that it is about: fact -> SHA-256. */
      readonly inputs?: Readonly<Record<string, string>>;
    }
  /** A person took the new text of these files, or kept the one that was agreed to. */
  | {
      readonly type: "inputs.decided";
      readonly stage: string;
      readonly decision: "taken" | "kept";
      readonly changes: readonly InputChange[];
    }
  | { readonly type: "question.asked"; readonly track: string; readonly item: InboxItem; readonly carry: Carry }
  | {
      readonly type: "question.answered";
      readonly track: string;
      readonly stage: string;
      readonly number: number;
      readonly answer: string;
      /** The agent that asked was still at work and waited for it. */
      readonly inPlace?: true;
    }
  /** No answer came while the agent waited; its attempt ends with the question. */
  | { readonly type: "question.expired"; readonly track: string; readonly stage: string; readonly number: number }
  /** The attempt has ended, and its question waits on under the same number. */
  | { readonly type: "question.kept"; readonly track: string; readonly item: InboxItem; readonly carry: Carry }
  | { readonly type: "escalation.opened"; readonly track: string; readonly item: InboxItem; readonly carry: Carry }
  | {
      readonly type: "escalation.resolved";
      readonly track: string;
      readonly stage: string;
      readonly number: number;
      readonly choice: string;
      readonly note: string;
      readonly issues?: readonly Issue[];
    }
  | { readonly type: "budget.reached"; readonly track: string; readonly item: InboxItem; readonly carry: Carry }
  | {
      readonly type: "budget.answered";
      readonly track: string;
      readonly stage: string;
      readonly number: number;
      readonly answer: "raise" | "stop";
      readonly note: string;
    }
  | ({ readonly type: "budget.raised" } & Raise)
  | ({ readonly type: "budget.warned" } & BudgetUse)
  | ({ readonly type: "usage.recorded"; readonly agent: string; readonly ticket: string } & Attempt & ReportedUsage)
  | { readonly type: "item.withdrawn"; readonly track: string; readonly number: number; readonly reason: string }
  | {
      readonly type: "counter.changed";
      readonly key: string;
      readonly from: number;
      readonly to: number;
      readonly streak: number;
      readonly issues?: string;
    }
  | {
      readonly type: "counter.spent";
      readonly key: string;
      readonly loops: number;
      readonly why: "limit" | "same-issues";
    }
  /** A review gave ids to its new findings and said of earlier ones what became of them. */
  | ({ readonly type: "findings.reviewed" } & Review)
  /** The notes of the agent that worked on open findings. */
  | ({
      readonly type: "findings.answered";
      readonly notes: readonly { readonly id: string; readonly said: string }[];
    } & Attempt)
  /** A person accepted the work with these; they stay open. */
  | ({ readonly type: "findings.accepted"; readonly ids: readonly string[] } & OnStage)
  | { readonly type: "way.taken"; readonly way: string }
  | { readonly type: "ticket.edited"; readonly title: string; readonly body: string }
  /** The run continues with the present settings. */
  | ({ readonly type: "settings.renewed" } & RenewedSettings)
  /** A person chose other runners for stages or agents of this run, from the next attempt on. */
  | { readonly type: "runners.chosen"; readonly runners: JsonObject }
  /** A person speaks to the agent of a stage; `attempt` is the one that works on it, or the next. */
  | ({ readonly type: "message.sent"; readonly number: number; readonly text: string } & Attempt)
  /** That attempt has it. */
  | {
      readonly type: "message.delivered";
      readonly stage: string;
      readonly attempt: number;
      readonly number: number;
      readonly way: MessageWay;
    }
  /** The commits of an attempt were taken off the branch, because checks were red; the pin keeps them. */
  | ({ readonly type: "work.undone" } & UndoneWork & OnStage & { readonly attempt: number })
  /** The work is about to leave; what comes of it is an event of its own. */
  | ({ readonly type: "outward.intended"; readonly stage: string; readonly attempt: number } & OutwardIntent)
  | {
      readonly type: "outward.seen";
      readonly key: string;
      readonly stage: string;
      readonly verb: OutwardVerb;
      readonly branch: string;
      readonly target: string;
      readonly sight: OutwardSight;
    }
  | { readonly type: "status.changed"; readonly from: string; readonly to: string }
  | { readonly type: "warning.raised"; readonly stage: string; readonly code: string; readonly message: string }
  | { readonly type: "signal.ignored"; readonly signal: string; readonly reason: string };

export type RunEvent = EventBody & { readonly at: string; readonly actor: Actor };
export type EventType = EventBody["type"];
