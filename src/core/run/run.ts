// The current state of a run: one passage of a ticket through a flow. Its size does not grow with the number of attempts: history is in the
// events, the run keeps only the state that the next decision needs.

import type { BudgetScope, BudgetUnit, BudgetUse, Raise, Reserved, Spent } from "../budget/budget.ts";
import type { Postponed } from "./postponement.ts";
import type { JsonObject } from "../json.ts";
import type { MessageBook } from "./message.ts";
import type { Findings } from "../finding/finding.ts";
import type { ImportMark } from "./import-mark.ts";
import type { OutwardAct } from "./outward-act.ts";
import type { Health, Issue, RoutedStage, Verdict } from "../flow/outcome.ts";
import type { TakenRung } from "../flow/ladder.ts";

/** The work. `id` has the source's own form (uuid, AGI-7, v0.1:1.1.1). */
export type Subject = { readonly id: string; readonly title: string; readonly body: string };

/** The sender's input for the next attempt. */
export type Carry = {
  /** The stage that sent it, or the person. */
  readonly from: string;
  readonly reason: "first" | "next" | "sent-back" | "answered" | "again" | "interrupted" | "forced";
  /** Names of the flow's `carry` list, for the prompt. */
  readonly names: readonly string[];
  readonly issues: readonly Issue[];
  readonly questions: readonly string[];
  /** A person's answer, comment or note. */
  readonly said?: string;
  /** The count of this route's counter, 0 outside loops. */
  readonly loop: number;
  readonly loopMax: number | null;
  /** The handoff that brings it, by number within the run; 0 = none. */
  readonly handoff: number;
  /** That handoff was closed before it was taken: the next one comes from the same sender. */
  readonly untaken?: true;
  /** The stage that the work came from, while its receiver continues after a question or an escalation; only in stories. */
  readonly origin?: string;
  /** People's words to the receiver meanwhile; only in stories. */
  readonly told?: Told;
  /** Why the attempt before was stopped in the middle of its work, in a sentence for its agent: its session is resumed. */
  readonly cutOff?: string;
  /** A person had taken the stage over before this attempt, which continues the same session. */
  readonly handedBack?: HandedBack;
};

/** A person's changes while they had taken over a stage, as Passrail found them. */
export type HandedBack = {
  /** The person, without the kind of actor. */
  readonly by: string;
  readonly note: string;
  /** Their commits, with the one that Passrail made of their uncommitted changes. */
  readonly commits: number;
  /** A line per changed file; empty for no change, and without git. */
  readonly stat: string;
  /** The person did not want it: the files are as they were before, and the work is kept under this ref. */
  readonly discarded: string | null;
};

/** People's words to a stage of a story about its work. */
export type Told = {
  readonly answers: readonly { readonly question: string; readonly answer: string }[];
  readonly notes: readonly string[];
};

/** A file that a run was started with has another content now. */
export type InputChange = {
  /** The fact that names it: plan.spec. */
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
};

/** A request of a working agent that its program does not simply allow. `request`: its name within the attempt. `until`: then silence denies it. */
type HeldPermission = { readonly attempt: number; readonly request: string; readonly until: string };

/**
 * A question of an agent that waits alive for the answer. `request`: its name within the attempt. `isOver`: the agent has stopped waiting,
 * and its attempt ends with the question.
 */
type HeldQuestion = {
  readonly attempt: number;
  readonly request: string;
  readonly until: string;
  readonly isOver?: true;
};

/** `word`: the run's status word before the question, which comes back with the answer. */
type HeldInputs = { readonly attempt: number; readonly changes: readonly InputChange[]; readonly word: string };

export type InboxItem = {
  /** Number within the run; with the run's id it is the item's id. */
  readonly number: number;
  readonly stage: string;
  readonly who: string;
  readonly openedAt: string;
} & (
  | {
      readonly kind: "gate";
      readonly answers: readonly string[];
      /** Notes for the person, apart from the work. */
      readonly notes?: readonly string[];
    }
  | {
      readonly kind: "question";
      readonly questions: readonly string[];
      readonly goto: string;
      readonly key: string;
      /** An agent at work waits for this answer; its attempt continues with it. */
      readonly live?: HeldQuestion;
    }
  | {
      readonly kind: "choice";
      readonly questions: readonly string[];
      readonly choices: Readonly<Record<string, string>>;
      readonly key: string;
      /** Files of the start that have changed since; the attempt that would read them waits. */
      readonly inputs?: HeldInputs;
      /** An agent at work waits for this answer; its attempt continues. */
      readonly permission?: HeldPermission;
    }
  | {
      readonly kind: "escalation";
      readonly reason: string;
      readonly issues: readonly Issue[];
      readonly choices: Readonly<Record<string, string>>;
      /** Where "again" leads, and the counter that it resets. */
      readonly again: string;
      readonly counter?: string;
    }
  /** An attempt that would exceed a limit: raise it, or stop. */
  | {
      readonly kind: "budget";
      readonly scope: BudgetScope;
      readonly key: string;
      readonly unit: BudgetUnit;
      readonly used: number;
      readonly limit: number;
      readonly needed: number;
      /** The limit without any raise; a raise without an amount is as large. */
      readonly size: number;
      /** The attempt that waits; it has not started. */
      readonly attempt: number;
      /** The attempt before it reached the limit in the middle of its work. */
      readonly stopped?: true;
    }
);

/** The position of one track of a run. A run without parallel stages has only the track `main`. */
export type Track =
  | {
      readonly at: "ready";
      readonly stage: string;
      readonly attempt: number;
      readonly carry: Carry;
      readonly since: string;
      /** It starts automatically, but not before this time, because of a failure outside the work. */
      readonly notBefore?: string;
      readonly because?: string;
      /** The runner whose limit it waits for. */
      readonly runner?: string;
      /** Or any of these, where its stage has a ladder. */
      readonly ladder?: readonly string[];
    }
  | {
      readonly at: "running";
      readonly stage: string;
      readonly attempt: number;
      readonly carry: Carry;
      readonly since: string;
      /** It has a reservation, with this runner and model. */
      readonly metered?: Pick<Reserved, "runner" | "model">;
      /** The rung of the ladder that it took; absent for a stage without one. */
      readonly rung?: TakenRung;
      /** An outside worker has it: there is no process to look for. */
      readonly outside?: true;
      /** Its agent asks a person for permission, or a question, and waits. */
      readonly asks?: AskedPermission | AskedQuestion;
      /** The last such answer, by the name of its request: a repeated request gets it. */
      readonly permitted?: { readonly request: string; readonly answer: PermissionAnswer };
      /** The last answer to a question of its agent. */
      readonly answered?: AnsweredQuestion;
    }
  | { readonly at: "waiting"; readonly stage: string; readonly item: InboxItem; readonly carry: Carry }
  /** A person works in its session and its workspace. No stage of the run starts before they hand it back. */
  | {
      readonly at: "taken";
      readonly stage: string;
      /** The attempt that ended for it, or that never started. */
      readonly attempt: number;
      readonly carry: Carry;
      readonly since: string;
      /** The person, without the kind of actor. */
      readonly by: string;
      /** Absent while its agent still ends. */
      readonly lent?: LentWorkspace;
      /** They have asked to hand it back; the engine looks at the workspace. */
      readonly returning?: Returning;
      /** Why that was refused the last time. */
      readonly refused?: string;
    }
  /** Stopped with a reason; a person can retry or cancel. */
  | {
      readonly at: "stopped";
      readonly stage: string;
      readonly reason: string;
      readonly carry: Carry;
      readonly since: string;
    }
  /** The main track while its tracks work. */
  | { readonly at: "forked"; readonly stage: string }
  /** A track that reached the join. */
  | { readonly at: "done" };

/** The workspace that a person works in. */
export type LentWorkspace = {
  readonly dir: string;
  /** The commit at which the person begins; null without git. */
  readonly base: string | null;
};

/** How a person hands a stage back. `discard`: without their changes. */
export type Returning = { readonly by: string; readonly note: string; readonly discard: boolean };

/** The run's memory of a stage: the number of its last attempt and how that ended. */
export type StageMemory = {
  readonly attempts: number;
  /** Crashes since the stage last ended without one. */
  readonly interruptions: number;
  /** How often in a row it was postponed; absent when it was not. */
  readonly postponed?: Postponed;
  readonly last?: {
    readonly health: Health;
    readonly verdict?: Verdict;
    readonly word?: string;
    readonly score?: number;
    readonly issues: number;
    readonly openQuestions: number;
    /** Its verdict did not carry the attempt's nonce. */
    readonly unsigned?: true;
  };
};

export type CounterState = {
  readonly loops: number;
  /** Fingerprint of the last issues and how often they repeated in a row. */
  readonly issues?: string;
  readonly streak: number;
};

export type RunState =
  | { readonly status: "running" }
  | { readonly status: "waiting"; readonly since: string }
  | { readonly status: "stopped"; readonly since: string; readonly reason: string }
  | { readonly status: "completed"; readonly endedAt: string }
  | { readonly status: "canceled"; readonly endedAt: string; readonly by: string; readonly reason: string };

export type Run = RunState & {
  readonly id: string;
  readonly flow: string;
  readonly flowHash: string;
  readonly subject: Subject;
  /** Named facts for conditions and prompts: input, plan, ticket, config. */
  readonly facts: JsonObject;
  readonly createdAt: string;
  /** The source's status word. */
  readonly word: string;
  readonly paused: boolean;
  readonly tracks: Readonly<Record<string, Track>>;
  readonly stages: Readonly<Record<string, StageMemory>>;
  readonly counters: Readonly<Record<string, CounterState>>;
  /** Routes marked `once` that have been taken. */
  readonly taken: readonly string[];
  /** Stages of dynamic stages, by the dynamic stage's id. */
  readonly expanded: Readonly<Record<string, readonly ExpandedStage[]>>;
  /** Numbers assigned so far. */
  readonly handoffs: number;
  readonly items: number;
  /** Absent until there is a usage report, a raise or a warning. */
  readonly spent?: Spent;
  readonly raised?: readonly Raise[];
  /** The last warning per scope and unit. */
  readonly warned?: readonly Omit<BudgetUse, "used">[];
  /** Acts outside that are open, or whose effect outlived their attempt. Absent if there are none. */
  readonly outward?: readonly OutwardAct[];
  /** Absent until a stage with `findings` has raised one. */
  readonly findings?: Findings;
  /** Absent until a person has spoken to an agent. */
  readonly messages?: MessageBook;
  /** The run came from a file of another machine; absent for a run of this one. */
  readonly imported?: ImportMark;
};

/** One stage of a dynamic stage: which template, under which id. */
export type ExpandedStage = RoutedStage & { readonly id: string };

export function isEnded(run: Run): boolean {
  return run.status === "completed" || run.status === "canceled";
}

/** The track that a person has taken over; a run has at most one. */
export function takenOver(run: Run): { readonly name: string; readonly track: Track & { at: "taken" } } | undefined {
  for (const [name, track] of Object.entries(run.tracks)) if (track.at === "taken") return { name, track };
  return undefined;
}

/** The items that wait for a person, in the order in which they were opened. */
export function openItems(run: Run): readonly InboxItem[] {
  return Object.values(run.tracks)
    .flatMap((track) => itemOf(track) ?? [])
    .sort((a, b) => a.number - b.number);
}

/** The item that a track waits for, or that its agent at work waits for. */
function itemOf(track: Track): InboxItem | undefined {
  if (track.at === "waiting") return track.item;
  return track.at === "running" ? track.asks : undefined;
}

/** The item that asks about changed files of the start; while it is open, no stage of the run starts. */
export function pendingInputs(run: Run): InboxItem | undefined {
  return openItems(run).find(asksAboutInputs);
}

export function asksAboutInputs(item: InboxItem): item is AskedInputs {
  return item.kind === "choice" && item.inputs !== undefined;
}

/** The answers to a request for permission: this one time, every time in this attempt, or not. */
export const PERMISSION_ANSWERS = ["once", "for-this-attempt", "deny"] as const;
export type PermissionAnswer = (typeof PERMISSION_ANSWERS)[number];
export type AskedPermission = InboxItem & { kind: "choice" } & { readonly permission: HeldPermission };

export function asksPermission(item: InboxItem): item is AskedPermission {
  return item.kind === "choice" && item.permission !== undefined;
}

export type AskedQuestion = InboxItem & { kind: "question" } & { readonly live: HeldQuestion };

/** An answer that was stored while the attempt ran. `inPlace`: its agent still waited for it. */
export type AnsweredQuestion = {
  readonly number: number;
  readonly request: string;
  readonly questions: readonly string[];
  readonly answer: string;
  readonly openedAt: string;
  readonly inPlace: boolean;
};

/** Whether an agent at work asked this question, and its attempt has not ended yet. */
export function asksAtWork(item: InboxItem): item is AskedQuestion {
  return item.kind === "question" && item.live !== undefined;
}

export type AskedInputs = InboxItem & { kind: "choice" } & { readonly inputs: HeldInputs };

/** The attempt that an item keeps from starting; undefined if the item came after the stage's work. */
export function heldAttempt(item: InboxItem): number | undefined {
  if (item.kind === "budget") return item.attempt;
  return item.kind === "choice" ? item.inputs?.attempt : undefined;
}

/** The answers on offer; empty for a question, which takes any text. */
export function answersOf(item: InboxItem): readonly string[] {
  switch (item.kind) {
    case "gate":
      return item.answers;
    case "question":
      return [];
    case "choice":
    case "escalation":
      return Object.keys(item.choices);
    case "budget":
      return ["raise", "stop"];
  }
}
