// One vocabulary for the state of runs and tickets: a word, an icon and a tone for each. Colour never carries the meaning alone.

import { END_WORDS, type RunStateName, STATE_WORDS } from "../../../src/core/view/state-words.ts";

export type Tone = "quiet" | "active" | "attention" | "warning" | "good" | "bad" | "held";

/** The pictures beside words; `ui/icon.tsx` draws them. */
export type IconName =
  | "back"
  | "budget"
  | "check"
  | "choice"
  | "circle"
  | "clock"
  | "cross"
  | "ended"
  | "escalated"
  | "gate"
  | "hourglass"
  | "merge"
  | "paused"
  | "person"
  | "question"
  | "start"
  | "stopped"
  | "warning"
  | "working";

export type Shown = { readonly word: string; readonly icon: IconName; readonly tone: Tone };

export const SHOWN = {
  ready: { word: "Can start", icon: "start", tone: "active" },
  others: { word: "Waiting for others", icon: "clock", tone: "quiet" },
  refused: { word: "Cannot start", icon: "cross", tone: "bad" },
  person: { word: "Needs a person", icon: "person", tone: "attention" },
  merging: { word: STATE_WORDS.merging, icon: "merge", tone: "attention" },
  queued: { word: STATE_WORDS.queued, icon: "circle", tone: "quiet" },
  held: { word: STATE_WORDS.held, icon: "hourglass", tone: "held" },
  outside: { word: STATE_WORDS.outside, icon: "clock", tone: "quiet" },
  working: { word: STATE_WORDS.working, icon: "working", tone: "active" },
  taken: { word: STATE_WORDS.taken, icon: "person", tone: "attention" },
  waiting: { word: STATE_WORDS.waiting, icon: "person", tone: "attention" },
  revising: { word: "Revising", icon: "back", tone: "warning" },
  escalated: { word: STATE_WORDS.escalated, icon: "escalated", tone: "attention" },
  paused: { word: STATE_WORDS.paused, icon: "paused", tone: "quiet" },
  stopped: { word: STATE_WORDS.stopped, icon: "cross", tone: "bad" },
  completed: { word: STATE_WORDS.completed, icon: "check", tone: "good" },
  landed: { word: END_WORDS.landed, icon: "check", tone: "good" },
  notLanded: { word: END_WORDS.notLanded, icon: "check", tone: "attention" },
  canceled: { word: STATE_WORDS.canceled, icon: "ended", tone: "quiet" },
} as const satisfies Readonly<Record<string, Shown>>;

export type ShownName = keyof typeof SHOWN;

/**
 * The facts of a run or a ticket that decide its badge. The flow's status word is not among them, because each flow has different words.
 */
export type StateFacts = { readonly state: { readonly is: RunStateName }; readonly loops?: number };

/** `revising`: an agent works on something that was sent back. */
export function shownOf({ state: { is }, loops = 0 }: StateFacts): ShownName {
  return is === "working" && loops > 0 ? "revising" : is;
}

/** Of an earlier run, of which only the status is known; an open one is at least in line. */
export function shownOfStatus(status: "running" | "waiting" | "stopped" | "completed" | "canceled"): ShownName {
  return status === "running" ? "queued" : status;
}
