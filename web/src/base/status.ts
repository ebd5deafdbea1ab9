// One vocabulary for the state of runs and tickets: a word, a sign and a tone for each. Colour never carries the meaning alone.

export type Tone = "quiet" | "active" | "attention" | "warning" | "good" | "bad";

export type Shown = { readonly word: string; readonly sign: string; readonly tone: Tone };

export const SHOWN = {
  ready: { word: "Can start", sign: "▷", tone: "active" },
  held: { word: "Waiting for others", sign: "◔", tone: "quiet" },
  refused: { word: "Cannot start", sign: "✖", tone: "bad" },
  person: { word: "Needs a person", sign: "◆", tone: "attention" },
  merging: { word: "Awaiting merge", sign: "⇡", tone: "quiet" },
  queued: { word: "Queued", sign: "○", tone: "quiet" },
  running: { word: "Running", sign: "◉", tone: "active" },
  waiting: { word: "Waiting for you", sign: "◆", tone: "attention" },
  revising: { word: "Revising", sign: "↺", tone: "warning" },
  escalated: { word: "Escalated", sign: "⤴", tone: "attention" },
  paused: { word: "Paused", sign: "‖", tone: "quiet" },
  stopped: { word: "Stopped", sign: "✖", tone: "bad" },
  completed: { word: "Done", sign: "✔", tone: "good" },
  canceled: { word: "Canceled", sign: "⊘", tone: "quiet" },
} as const satisfies Readonly<Record<string, Shown>>;

export type ShownName = keyof typeof SHOWN;

/**
 * The facts of a run or a ticket that decide its badge. The flow's status word is not among them, because each flow has different words.
 */
export type StatusFacts = {
  readonly status: "running" | "waiting" | "stopped" | "completed" | "canceled";
  readonly paused?: boolean;
  /** The kinds of the inbox items that it waits for. */
  readonly waitsFor: readonly string[];
  readonly loops?: number;
};

/** `revising`: an agent works on something that was sent back. */
export function shownOf({ status, paused = false, waitsFor, loops = 0 }: StatusFacts): ShownName {
  if (paused && (status === "running" || status === "waiting")) return "paused";
  switch (status) {
    case "running":
      return loops > 0 ? "revising" : "running";
    case "waiting":
      return waitsFor.includes("escalation") ? "escalated" : "waiting";
    case "stopped":
    case "completed":
    case "canceled":
      return status;
  }
}
