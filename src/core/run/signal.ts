// Reports to the engine: a program ended, a person answered, a crash was noticed. A signal is a claim about the world; the transition
// decides whether it fits the run. It carries its own time, so the decision needs no clock.

import type { BudgetUse, OverBudget, Reserved, ReportedUsage } from "../budget/budget.ts";
import type { Actor } from "./event.ts";
import type { JsonObject } from "../json.ts";
import type { Issue, Report } from "../flow/outcome.ts";
import type { MessageWay } from "./message.ts";
import type { RenewedSettings } from "./renewed-settings.ts";
import type { OutwardIntent, OutwardSight } from "./outward-act.ts";
import type { HandedBack, InboxItem, InputChange, LentWorkspace, Subject } from "./run.ts";
import type { TakenRung } from "../flow/ladder.ts";

/** The question to a person; `what` is the exact command or path, made safe to show. */
export type PermissionQuestion = {
  /** Its name, unique within the attempt: a repeated request does not ask twice. */
  readonly request: string;
  readonly tool: string;
  readonly what: string;
  readonly why: string;
  readonly until: string;
};

/** The question of an agent at work to a person, and until when the agent waits for the answer. */
export type LiveQuestion = {
  /** Its name, unique within the attempt: a repeated request does not ask twice. */
  readonly request: string;
  readonly question: string;
  readonly until: string;
};

export type SignalBody =
  | {
      readonly type: "run.requested";
      readonly runId: string;
      readonly flowHash: string;
      readonly subject: Subject;
      readonly facts: JsonObject;
      /** A person has paused everything: the run begins paused. */
      readonly paused?: { readonly by: Actor; readonly reason: string };
    }
  | {
      readonly type: "attempt.started";
      readonly stage: string;
      readonly attempt: number;
      /** Its reservation; absent if the stage is not metered. */
      readonly reserved?: Reserved;
      /** The rung of its ladder; absent for a stage without one. */
      readonly rung?: TakenRung;
      /** An outside worker takes it; the engine has no process for it. */
      readonly outside?: true;
    }
  | {
      readonly type: "attempt.finished";
      readonly stage: string;
      readonly attempt: number;
      readonly report: Report;
      /** The runner on another rung of the ladder that can take over at once, if this one is out. */
      readonly next?: string;
      /** Reported from outside: a stage that is still ready is started and finished at once. */
      readonly outside?: true;
    }
  /** An agent outside has taken it and gives no sign of life any more. */
  | { readonly type: "attempt.silent"; readonly stage: string; readonly attempt: number; readonly reason: string }
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
      /** All runners of its ladder: any of them may let it go. Absent without a ladder. */
      readonly ladder?: readonly string[];
    }
  /** The limit of a runner is gone: attempts that wait for it may start. */
  | { readonly type: "hold.lifted"; readonly runner: string; readonly reason: string }
  /** It is ready, but a limit has no room for it. `size` is the limit without any raise. */
  | ({
      readonly type: "budget.reached";
      readonly stage: string;
      readonly attempt: number;
      readonly size: number;
    } & OverBudget)
  | ({ readonly type: "budget.neared" } & BudgetUse)
  /** A person changes the run's own budget; the amounts are added to it, and may be negative. */
  | { readonly type: "budget.requested"; readonly usd: number; readonly tokens: number }
  /** The day's budget has room again for the run that waits; the amounts are what others raised it by, on top of the run's own raise. */
  | {
      readonly type: "budget.renewed";
      readonly number: number;
      readonly because: string;
      readonly usd: number;
      readonly tokens: number;
    }
  /** It is ready, but files that the run was started with have changed. `mayTake`: the new text fits the run. */
  | {
      readonly type: "inputs.changed";
      readonly stage: string;
      readonly attempt: number;
      readonly changes: readonly InputChange[];
      readonly questions: readonly string[];
      readonly mayTake: boolean;
    }
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
      /** The commit that the decision is about, if there is one: the head of the run's branch when the answer was checked. */
      readonly commit?: string;
      /** The commit that the person looked at, or a prefix of it; null: there was none. The run refuses the answer if it is another one. */
      readonly seenCommit?: string | null;
    }
  /** The agent of a running attempt wants to do something that its program does not simply allow. `until`: then silence denies it. */
  | ({
      readonly type: "permission.requested";
      readonly stage: string;
      readonly attempt: number;
    } & PermissionQuestion)
  /** No answer came in time. */
  | { readonly type: "permission.expired"; readonly stage: string; readonly attempt: number; readonly request: string }
  /** The agent of a running attempt asks a person, and waits for the answer. */
  | ({ readonly type: "question.requested"; readonly stage: string; readonly attempt: number } & LiveQuestion)
  /** It waits no longer. */
  | { readonly type: "question.expired"; readonly stage: string; readonly attempt: number; readonly request: string }
  | { readonly type: "pause.requested"; readonly reason: string }
  /** Ends the attempts that work, or the one of this stage, and pauses the run. */
  | { readonly type: "stop.requested"; readonly stage?: string; readonly reason: string }
  | { readonly type: "resume.requested" }
  | { readonly type: "cancel.requested"; readonly reason: string }
  /** `runners`: who plays these stages or agents from now on, in the form of the run's fact. */
  | {
      readonly type: "retry.requested";
      readonly stage?: string;
      readonly note: string;
      readonly runners?: JsonObject;
      /** The settings as they are now. */
      readonly settings?: RenewedSettings;
    }
  | { readonly type: "skip.requested"; readonly stage?: string; readonly reason: string }
  /** A person takes over the current stage: its agent ends, and its session and workspace are theirs. */
  | { readonly type: "takeover.requested"; readonly stage?: string }
  /** The agent is gone, and the workspace is ready for the person. */
  | {
      readonly type: "takeover.prepared";
      readonly stage: string;
      readonly attempt: number;
      readonly lent: LentWorkspace;
    }
  /** There is no workspace for the person: the stage stops. */
  | { readonly type: "takeover.failed"; readonly stage: string; readonly attempt: number; readonly reason: string }
  /** The person hands it back, with what they changed or without. */
  | { readonly type: "handback.requested"; readonly note: string; readonly discard: boolean }
  /** Their work is committed or set aside: the stage continues. */
  | {
      readonly type: "handback.settled";
      readonly stage: string;
      readonly attempt: number;
      readonly work: Pick<HandedBack, "commits" | "stat" | "discarded">;
    }
  /** The workspace cannot be taken back as it is; the person keeps it. */
  | { readonly type: "handback.failed"; readonly stage: string; readonly attempt: number; readonly reason: string }
  /** A person speaks to the agent of the current stage. */
  | { readonly type: "steer.requested"; readonly stage?: string; readonly text: string }
  /** An attempt has a message. */
  | {
      readonly type: "message.heard";
      readonly stage: string;
      readonly attempt: number;
      readonly number: number;
      readonly way: MessageWay;
    }
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
  | { readonly type: "warning.noticed"; readonly code: string; readonly message: string }
  /** The attempt is about to change something outside; refused if it is no longer wanted. */
  | ({ readonly type: "outward.intended"; readonly stage: string; readonly attempt: number } & OutwardIntent)
  | { readonly type: "outward.seen"; readonly key: string; readonly sight: OutwardSight }
  /** A person wants the landing of a canceled run taken back. */
  | { readonly type: "undo.requested" }
  /** A person does not want the work of an ended run: its branch goes. */
  | { readonly type: "discard.requested"; readonly branch: string; readonly commit: string };

export type Signal = SignalBody & {
  /** Unique within the run: the same id is applied once. */
  readonly id: string;
  readonly at: string;
  readonly actor: Actor;
};
