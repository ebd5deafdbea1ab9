// One vocabulary for how things stand: a word, a sign and a tone for each. Never the tone alone.

export type Tone = "quiet" | "active" | "attention" | "warning" | "good" | "bad";

export type Shown = { readonly word: string; readonly sign: string; readonly tone: Tone };

export const SHOWN = {
  ready: { word: "Can start", sign: "▷", tone: "active" },
  held: { word: "Waits for others", sign: "◔", tone: "quiet" },
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

/** How a run is shown. `revising`: it works on something that was sent back. */
export function shownOf(run: {
  readonly status: string;
  readonly paused?: boolean;
  readonly word?: string;
  readonly loops?: number;
}): ShownName {
  if (run.paused === true && (run.status === "running" || run.status === "waiting")) return "paused";
  switch (run.status) {
    case "running":
      return (run.loops ?? 0) > 0 ? "revising" : "running";
    case "waiting":
      return run.word === "escalated" ? "escalated" : "waiting";
    case "stopped":
    case "completed":
    case "canceled":
      return run.status;
    default:
      return "queued";
  }
}
