// Reports to the engine: a program ended, a person answered, a crash was noticed. A signal is a claim about the world; the transition
// decides whether it fits the run. It carries its own time, so the decision needs no clock.

import type { BudgetUse, OverBudget, Reserved, ReportedUsage } from "../budget/budget.ts";
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
      /** Its reservation; absent if the stage is not metered. */
      readonly reserved?: Reserved;
      /** An outside worker takes it; the engine has no process for it. */
      readonly outside?: true;
    }
  | {
      readonly type: "attempt.finished";
      readonly stage: string;
      readonly attempt: number;
      readonly report: Report;
      /** Reported from outside: a stage that is still ready is started and finished at once. */
      readonly outside?: true;
    }
  | { readonly type: "attempt.interrupted"; readonly stage: string; readonly attempt: number; readonly cause: string }
  /** A late usage report of an attempt that ended without one. */
  | {
      readonly type: "attempt.spent";
      readonly stage: string;
      readonly attempt: number;
      readonly reported: ReportedUsage;
    }
  /** It is ready, but its runner is known to be over its limit. */
  | {
      readonly type: "attempt.held";
      readonly stage: string;
      readonly attempt: number;
      readonly runner: string;
      readonly cause: string;
      readonly until: string;
    }
  /** It is ready, but a limit has no room for it. `size` is the limit without any raise. */
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
      /** The person's findings, line by line; for gates and escalations. */
      readonly issues?: readonly Issue[];
      /** The commit that the decision is about, if there is one. */
      readonly commit?: string;
    }
  | { readonly type: "pause.requested"; readonly reason: string }
  | { readonly type: "resume.requested" }
  | { readonly type: "cancel.requested"; readonly reason: string }
  | { readonly type: "retry.requested"; readonly stage?: string; readonly note: string }
  | { readonly type: "skip.requested"; readonly stage?: string; readonly reason: string }
  /** A handoff was not taken in time: the stage fails by the flow's route, or the track stops until a person continues it. */
  | {
      readonly type: "handoff.expired";
      readonly number: number;
      readonly reason: string;
      readonly then: "route" | "stop";
    }
  | { readonly type: "stall.noticed"; readonly since: string }
  /** A person changed the ticket's text; the next attempt gets the new one. */
  | { readonly type: "ticket.edited"; readonly title: string; readonly body: string }
  /** A warning for people on the run: its ticket's file is gone or differs from the run. */
  | { readonly type: "warning.noticed"; readonly code: string; readonly message: string };

export type Signal = SignalBody & {
  /** Unique within the run: the same id is applied once. */
  readonly id: string;
  readonly at: string;
  readonly actor: Actor;
};
