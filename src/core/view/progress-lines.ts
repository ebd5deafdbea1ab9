// The progress of a run as lines, one per change that matters to a reader: the flow's own log line if it has one, else the event's sentence
// after a mark. The terminal and the daemon's log show the same lines; each has its own way to write times and items.

import type { EventType, RunEvent } from "../run/event.ts";
import type { Flow } from "../flow/flow.ts";
import type { Outcome } from "../flow/outcome.ts";
import { isPassive } from "../flow/last-gates.ts";
import { counterLimit } from "../run/counters.ts";
import { outcomeWord, sentenceOf } from "./event-sentence.ts";
import { phaseLine, phasesOf } from "./phase-line.ts";
import { type InboxItem, openItems, type Run } from "../run/run.ts";
import { findWork, stagesOf } from "../run/sequence.ts";
import { tokensOf } from "../budget/usage.ts";

const WIDTH = 300;

/** The inputs of a line besides the event: its run, and when attempts began, remembered from call to call. */
export type Progress = {
  readonly flow: Flow;
  readonly run: Run;
  readonly number: number;
  readonly startedAt: Map<string, number>;
  readonly wording: ProgressWording;
};

/** How the place that shows the lines writes them. */
export type ProgressWording = {
  /** The text on one line, cut to a width, harmless for this place. */
  readonly oneLine: (text: string, width: number) => string;
  readonly timeOf: (at: string, now: number) => string;
  /** An open item, with what a person can do about it. */
  readonly waitingLines: (item: InboxItem, number: number, run: Run) => readonly string[];
};

/** The lines for the events of one run, in order. */
export function progressLines(progress: Progress, events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event, index) => linesOf(progress, event, events.slice(index + 1)));
}

/** The events that get a line, with their mark. The words are core's. */
const MARKS: Readonly<Partial<Record<EventType, string>>> = {
  "stage.started": "▶",
  "stage.expanded": " ",
  "stage.interrupted": "!",
  "stage.skipped": "⤼",
  "stage.postponed": "⏲",
  "stage.held": "⏲",
  "stage.moved": "⇄",
  "stage.released": "▶",
  "counter.changed": "↺",
  "counter.spent": "↺",
  "warning.raised": "!",
  "gate.answered": "✔",
  "question.answered": "✔",
  "escalation.resolved": "✔",
  "budget.answered": "✔",
  "budget.warned": "!",
  "run.stalled": "!",
  "run.stopped": "✖",
  "run.paused": "⏸",
  "run.unpaused": "▶",
  "run.canceled": "⊘",
  "run.completed": "✔",
  "ticket.edited": "✎",
  "settings.renewed": "✎",
  "runners.chosen": "✎",
  "message.sent": "✎",
  "message.delivered": "✔",
};

function linesOf(progress: Progress, event: RunEvent, later: readonly RunEvent[]): readonly string[] {
  const own = OWN_LINES[event.type] as LinesOf<RunEvent> | undefined;
  return own === undefined ? marked(progress, event) : own(progress, event, later);
}

type LinesOf<E> = (progress: Progress, event: E, later: readonly RunEvent[]) => readonly string[];
type EventOf<T extends EventType> = Extract<RunEvent, { readonly type: T }>;

/** Printed only if the item is still open: of the items in old events most are answered already. */
const itemLines: LinesOf<EventOf<"gate.opened" | "question.asked" | "escalation.opened" | "budget.reached">> = (
  { run, number, wording },
  { item },
) => (openItems(run).some((open) => open.number === item.number) ? wording.waitingLines(item, number, run) : []);

/** Events whose lines are more than core's sentence behind a mark. */
const OWN_LINES: { readonly [T in EventType]?: LinesOf<EventOf<T>> } = {
  "stage.started"(progress, event) {
    const { flow, run, startedAt } = progress;
    startedAt.set(`${event.stage}#${event.attempt}`, Date.parse(event.at));
    const place = placeOf(flow, run, event.track, event.stage);
    if (place === undefined) return [];
    return flow.log.start === undefined ? marked(progress, event) : [fill(flow.log.start, place)];
  },
  "stage.finished": (progress, event, later) => [finishedLine(progress, event, later)],
  "stage.expanded": (progress, event) => (progress.flow.log.start === undefined ? marked(progress, event) : []),
  "stage.skipped": (progress, event) => (event.actor.startsWith("human:") ? marked(progress, event) : []),
  "counter.changed": (progress, event) => (event.to === 0 ? [] : marked(progress, event)),
  "gate.opened": itemLines,
  "question.asked": itemLines,
  "escalation.opened": itemLines,
  "budget.reached": itemLines,
  "run.completed": (progress, event) => {
    const { done } = progress.flow.log;
    return done === undefined ? marked(progress, event) : [done];
  },
};

function marked({ flow, run, wording }: Progress, event: RunEvent): readonly string[] {
  const mark = MARKS[event.type];
  if (mark === undefined) return [];
  const sentence = sentenceOf(event, {
    agentOf: (track, stage) => findWork(flow, run, track, stage)?.shownAgent ?? "",
    limitOf: (key) => counterLimit(flow, key),
    timeOf: (at) => wording.timeOf(at, Date.parse(event.at)),
  });
  return [`${mark} ${wording.oneLine(sentence, WIDTH)}`];
}

/** The flow's own log line, else a line per phase with duration, tokens and where the run went. */
function finishedLine(progress: Progress, event: Finished, later: readonly RunEvent[]): string {
  const { flow, run, startedAt, wording } = progress;
  const { outcome } = event;
  const place = placeOf(flow, run, event.track, event.stage);
  const why = outcome.health === "complete" ? "" : `: ${wording.oneLine(outcome.reason ?? outcome.cause ?? "", WIDTH)}`;
  if (flow.log.end !== undefined && place !== undefined)
    return outcome.health === "complete" ? fill(flow.log.end, place) : `✖ ${place.agent} ${outcome.health}${why}`;
  const status = `${outcomeWord(outcome)}${why}`;
  const next = nextOf(event.track, later);
  const chose = outcome.stages === undefined ? "" : `: ${wording.oneLine(choiceOf(outcome), WIDTH)}`;
  if (place === undefined) return `✔ ${event.stage}: ${status}${chose} → ${next}`;
  const begun = startedAt.get(`${event.stage}#${event.attempt}`);
  return phaseLine({
    ...phaseOf(flow, event.stage, place),
    iteration: event.attempt,
    status,
    tokens: tokensTold(event.stage, event.attempt, later),
    durationMs: begun === undefined ? null : Date.parse(event.at) - begun,
    next,
  });
}

/** The agents that a router chose, and the rule where no model did. Its own words stay out: they hold the attempt's nonce. */
function choiceOf({ stages = [], reason }: Outcome): string {
  const names = stages.map(({ agent, teams }) => (teams ? `${agent} (team)` : agent)).join(", ");
  return reason === undefined ? names : `${names} by ${reason}`;
}

type Finished = Extract<RunEvent, { type: "stage.finished" }>;

type StagePlace = { readonly n: number; readonly total: number; readonly agent: string };

/** The position of an agent's stage in its track; builtins and the router are not counted. */
function placeOf(flow: Flow, run: Run, track: string, stage: string): StagePlace | undefined {
  const work = findWork(flow, run, track, stage);
  if (work === undefined || work.kind !== "agent") return undefined;
  const agents = stagesOf(flow, run, track).filter(
    (each) => each.kind === "agent" && !each.enterOnly && !isPassive(each),
  );
  const at = agents.findIndex((each) => each.id === stage);
  return at === -1
    ? { n: 1, total: 1, agent: work.shownAgent }
    : { n: at + 1, total: agents.length, agent: work.shownAgent };
}

/** The position of the stage among all phases of the flow; values that the runner does not report are unknown. */
function phaseOf(flow: Flow, stage: string, place: StagePlace) {
  const phases = phasesOf(flow);
  const at = phases.findIndex(({ id }) => id === stage);
  const [number, total] = at === -1 ? [place.n, place.total] : [at + 1, phases.length];
  return { number, total, role: place.agent, model: phases[at]?.model ?? null, toolUses: null };
}

/** The attempt's usage in the same decision. */
function tokensTold(stage: string, attempt: number, later: readonly RunEvent[]): number | null {
  const recorded = later.find(
    (event) => event.type === "usage.recorded" && event.stage === stage && event.attempt === attempt,
  );
  return recorded?.type === "usage.recorded" ? tokensOf(recorded.usage) : null;
}

function fill(template: string, { n, total, agent }: StagePlace): string {
  return template.replaceAll("{n}", String(n)).replaceAll("{total}", String(total)).replaceAll("{agent}", agent);
}

/** Where the same decision led: the first later event that shows the new state of the track, or the run. */
function nextOf(track: string, later: readonly RunEvent[]): string {
  for (const event of later) {
    if (event.type === "stage.finished") break;
    if (event.type === "stage.postponed") return "later again";
    if (event.type === "stage.ready") return event.stage;
    if (event.type === "stage.stopped") return "stopped";
    if (event.type === "track.done" && event.track === track) return "joins the others";
    if (event.type === "run.completed") return "end";
    if (event.type === "run.canceled") return "canceled";
    if (event.type === "gate.opened" || event.type === "question.asked" || event.type === "escalation.opened") {
      return `${event.item.kind} ${event.item.stage}`;
    }
  }
  return "…";
}
