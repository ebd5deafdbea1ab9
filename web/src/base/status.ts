// One vocabulary for the state of runs and tickets: a word, a sign and a tone for each. Colour never carries the meaning alone.

import { END_WORDS, type RunStateName, STATE_WORDS } from "../../../src/core/view/state-words.ts";

export type Tone = "quiet" | "active" | "attention" | "warning" | "good" | "bad";

export type Shown = { readonly word: string; readonly sign: string; readonly tone: Tone };

export const SHOWN = {
  ready: { word: "Can start", sign: "▷", tone: "active" },
  others: { word: "Waiting for others", sign: "◔", tone: "quiet" },
  refused: { word: "Cannot start", sign: "✖", tone: "bad" },
  person: { word: "Needs a person", sign: "◆", tone: "attention" },
  merging: { word: STATE_WORDS.merging, sign: "⇡", tone: "attention" },
  queued: { word: STATE_WORDS.queued, sign: "○", tone: "quiet" },
  held: { word: STATE_WORDS.held, sign: "◷", tone: "warning" },
  outside: { word: STATE_WORDS.outside, sign: "◔", tone: "quiet" },
  working: { word: STATE_WORDS.working, sign: "◉", tone: "active" },
  waiting: { word: STATE_WORDS.waiting, sign: "◆", tone: "attention" },
  revising: { word: "Revising", sign: "↺", tone: "warning" },
  escalated: { word: STATE_WORDS.escalated, sign: "⤴", tone: "attention" },
  paused: { word: STATE_WORDS.paused, sign: "‖", tone: "quiet" },
  stopped: { word: STATE_WORDS.stopped, sign: "✖", tone: "bad" },
  completed: { word: STATE_WORDS.completed, sign: "✔", tone: "good" },
  landed: { word: END_WORDS.landed, sign: "✔", tone: "good" },
  notLanded: { word: END_WORDS.notLanded, sign: "✔", tone: "attention" },
  canceled: { word: STATE_WORDS.canceled, sign: "⊘", tone: "quiet" },
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
