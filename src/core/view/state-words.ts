// The one table of words for the state of a run. Pages, API and commands take them from here.

export const RUN_STATES = [
  "working",
  "queued",
  "held",
  "outside",
  "merging",
  "taken",
  "waiting",
  "escalated",
  "paused",
  "stopped",
  "completed",
  "canceled",
] as const;

export type RunStateName = (typeof RUN_STATES)[number];

/** As people read it. Whether completed work has landed is a question of its end: END_WORDS. */
export const STATE_WORDS: Readonly<Record<RunStateName, string>> = {
  working: "Working",
  queued: "In line",
  held: "Held",
  outside: "Waiting for an agent outside",
  merging: "Waiting for its merge",
  taken: "Taken over",
  waiting: "Waiting for you",
  escalated: "Escalated to you",
  paused: "Paused",
  stopped: "Stopped",
  completed: "Done",
  canceled: "Canceled",
};

/** Of a completed run whose work is known: where it is. */
export const END_WORDS = { landed: "Landed", notLanded: "Done, not landed" } as const;
