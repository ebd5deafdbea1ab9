// One line per change that a reader wants to see; undefined for internal events. Core provides the words, the demo adds a mark.

import type { EventType, RunEvent } from "../core/run/event.ts";
import type { Flow } from "../core/flow/flow.ts";
import { counterLimit } from "../core/run/counters.ts";
import type { Run } from "../core/run/run.ts";
import { sayEvent, shortSentence } from "../core/view/event-sentence.ts";
import type { DemoIo } from "./io.ts";
import { fit, type Mark, markOf, plainLine } from "./look.ts";

const STAGE_WIDTH = 6;
/** Time, mark and gaps before the text. */
const MARGIN = STAGE_WIDTH + 14;

const MARKS: Readonly<Partial<Record<EventType, Mark>>> = {
  "gate.opened": "waits",
  "gate.answered": "done",
  "stage.started": "running",
  "question.asked": "waits",
  "question.answered": "done",
  "counter.changed": "again",
  "escalation.opened": "escalated",
  "escalation.resolved": "done",
  "run.completed": "done",
  "run.canceled": "stopped",
  "run.stopped": "stopped",
};

export function lineFor(
  event: RunEvent,
  run: Run,
  flow: Flow,
  io: Pick<DemoIo, "color" | "columns">,
): string | undefined {
  const mark = markFor(event);
  if (mark === undefined) return undefined;
  const said = sayEvent(event, {
    agentOf: (_track, id) => agentOf(flow, id),
    limitOf: (key) => counterLimit(flow, key),
  });
  const stage = event.type.startsWith("run.") ? "run" : said.stage;
  const text = plainLine(`${shortSentence(said)}${added(event, run)}`);
  const room = io.columns > 2 * MARGIN ? io.columns - MARGIN : 160;
  return `${markOf(io, mark)} ${stage.padEnd(STAGE_WIDTH)}  ${fit(text, room)}`;
}

function markFor(event: RunEvent): Mark | undefined {
  if (event.type === "counter.changed" && event.to <= event.from) return undefined;
  if (event.type !== "stage.finished") return MARKS[event.type];
  const { verdict, health } = event.outcome;
  if (verdict !== undefined) return verdict === "pass" ? "done" : "again";
  // A blocked stage asks a question, which has a separate line.
  return health === "blocked" ? undefined : "stopped";
}

/** Details from the run: the loop that an attempt belongs to, and the status at the end. */
function added(event: RunEvent, run: Run): string {
  if (event.type === "run.completed") return `, status ${run.word}`;
  const state = event.type === "stage.started" ? run.tracks[event.track] : undefined;
  const carry = state !== undefined && "carry" in state ? state.carry : undefined;
  return carry !== undefined && carry.loop > 0 ? `, loop ${carry.loop} of ${carry.loopMax}` : "";
}

function agentOf(flow: Flow, id: string): string {
  const stage = flow.stages.find((candidate) => candidate.id === id);
  return stage !== undefined && "shownAgent" in stage ? stage.shownAgent : "";
}
