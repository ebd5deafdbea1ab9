// The state of each stage of a run as a sign and a word. A stage that passed loses its check mark when an earlier stage runs again.

import type { StageMark } from "../graph/graph.tsx";
import type { RunStage } from "./types.ts";

const STATES: Readonly<Record<RunStage["state"], StageMark>> = {
  open: { icon: "circle", word: "Not yet", tone: "quiet", isActive: false },
  ready: { icon: "circle", word: "Queued", tone: "active", isActive: false },
  running: { icon: "working", word: "Working", tone: "active", isActive: true },
  waiting: { icon: "person", word: "Waiting for you", tone: "attention", isActive: false },
  taken: { icon: "person", word: "Taken over", tone: "attention", isActive: false },
  stopped: { icon: "cross", word: "Stopped", tone: "bad", isActive: false },
  done: { icon: "check", word: "Done", tone: "good", isActive: false },
  failed: { icon: "cross", word: "Failed", tone: "bad", isActive: false },
};
const AGAIN: StageMark = { icon: "circle", word: "Comes again", tone: "quiet", isActive: false };
const SENT_BACK: StageMark = { icon: "back", word: "Sent back", tone: "warning", isActive: false };
const ACTIVE = new Set<RunStage["state"]>(["ready", "running", "waiting", "taken", "stopped"]);

/** One mark per stage, in their order. */
export function marksOf(stages: readonly RunStage[]): readonly StageMark[] {
  const first = stages.findIndex(({ state }) => ACTIVE.has(state));
  const begin = stages[first];
  return stages.map((stage, index) => {
    const { verdict } = stage.attempts.at(-1) ?? { verdict: null };
    if (stage.state === "failed" && (verdict === "revise" || verdict === "redesign")) return SENT_BACK;
    const comesAgain = begin !== undefined && index > first && (begin.track === "main" || begin.track === stage.track);
    return stage.state === "done" && comesAgain ? AGAIN : STATES[stage.state];
  });
}

/** The routes of a stage in one sentence each, for people who do not see the lines. */
export function waysInWords(stage: Pick<RunStage, "ways" | "track">, counters: Counters): readonly string[] {
  return stage.ways.map(({ on, to, counter }) => {
    const count = counter === null ? "" : `, ${countText(counters, counter, stage.track)}`;
    return `${on} leads to ${to.map((each) => PLACES[each] ?? each).join(" and ")}${count}`;
  });
}

type Counters = readonly { readonly key: string; readonly loops: number; readonly max: number | null }[];

/** "revision 1 of 2"; counters per track are stored under the track's name. */
export function countText(counters: Counters, name: string, track: string): string {
  const own = counters.find(({ key }) => key === `${track}.${name}`) ?? counters.find(({ key }) => key === name);
  if (own === undefined) return name;
  return own.max === null ? `${name} ${own.loops}` : `${name} ${own.loops} of ${own.max}`;
}

const PLACES: Readonly<Record<string, string>> = {
  end: "the end",
  stop: "a stop",
  escalate: "an escalation",
  cancel: "cancelation",
};
