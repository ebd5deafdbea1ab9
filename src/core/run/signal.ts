// What is reported to the engine: a program ended, a person answered, a crash was noticed. A signal is a claim about the world;
// the transition decides whether it fits the run. It carries its own time, so that deciding needs no clock.

import type { BudgetUse, OverBudget, Reserved, ToldUsage } from "../budget/budget.ts";
import type { Actor } from "./event.ts";
import type { JsonObject } from "../json.ts";
import type { Issue, Report } from "../flow/outcome.ts";
import type { InboxItem, Subject } from "./run.ts";

export type SignalBody =
  | {
      readonly type: "run.requested";
      readonly runId: string;
      readonly flowHash: string;
      readonly subject: Subject;
      readonly facts: JsonObject;
    }
  | {
      readonly type: "attempt.started";
      readonly stage: string;
      readonly attempt: number;
      /** What was put aside for it; absent where nothing is metered. */
      readonly reserved?: Reserved;
      /** Somebody outside takes it; the engine has no process for it. */
      readonly outside?: true;
    }
  | {
      readonly type: "attempt.finished";
      readonly stage: string;
      readonly attempt: number;
      readonly report: Report;
      /** Reported from outside: one that is still ready is started and finished at once. */
      readonly outside?: true;
    }
  | { readonly type: "attempt.interrupted"; readonly stage: string; readonly attempt: number; readonly cause: string }
  /** News of what an attempt used that ended without a report. */
  | { readonly type: "attempt.spent"; readonly stage: string; readonly attempt: number; readonly told: ToldUsage }
  /** It is ready, and its runner is known to be over its limit. */
  | {
      readonly type: "attempt.held";
      readonly stage: string;
      readonly attempt: number;
      readonly runner: string;
      readonly cause: string;
      readonly until: string;
    }
  /** It is ready, and a limit has no room for it. `size` is the limit without any raise. */
  | ({
      readonly type: "budget.reached";
      readonly stage: string;
      readonly attempt: number;
      readonly size: number;
    } & OverBudget)
  | ({ readonly type: "budget.neared" } & BudgetUse)
  | {
      readonly type: "item.answered";
      readonly number: number;
      readonly kind: InboxItem["kind"];
      /** The gate's answer, the choice, or "" for a free answer. */
      readonly answer: string;
      /** Comment, answer or note. */
      readonly text: string;
      /** What the person found in the work, line by line; for gates and escalations. */
      readonly issues?: readonly Issue[];
      /** The commit that was decided upon, where there is one. */
      readonly commit?: string;
    }
  | { readonly type: "pause.requested"; readonly reason: string }
  | { readonly type: "resume.requested" }
  | { readonly type: "cancel.requested"; readonly reason: string }
  | { readonly type: "retry.requested"; readonly stage?: string; readonly note: string }
  | { readonly type: "skip.requested"; readonly stage?: string; readonly reason: string }
  /** Nobody took a handoff in time: the stage fails by the flow's route, or the track stops until a person goes on. */
  | {
      readonly type: "handoff.expired";
      readonly number: number;
      readonly reason: string;
      readonly then: "route" | "stop";
    }
  | { readonly type: "stall.noticed"; readonly since: string }
  /** A person changed what the ticket says; the next attempt gets the new text. */
  | { readonly type: "ticket.edited"; readonly title: string; readonly body: string }
  /** Something that people should see on the run: its ticket's file is gone, or says something else than the run. */
  | { readonly type: "warning.noticed"; readonly code: string; readonly message: string };

export type Signal = SignalBody & {
  /** Unique within the run: the same id is applied once. */
  readonly id: string;
  readonly at: string;
  readonly actor: Actor;
};
