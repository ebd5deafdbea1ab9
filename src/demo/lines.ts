// One line for a change that a reader wants to know of; undefined for the bookkeeping in between.

import type { EventType, RunEvent } from "../core/run/event.ts";
import type { Flow } from "../core/flow/flow.ts";
import { issueText } from "../core/flow/outcome.ts";
import type { Run } from "../core/run/run.ts";
import type { DemoIo } from "./io.ts";
import { fit, type Mark, markOf, plainLine } from "./look.ts";

const STAGE_WIDTH = 6;
/** Time, mark and gaps before the text. */
const MARGIN = STAGE_WIDTH + 14;

export function lineFor(
  event: RunEvent,
  run: Run,
  flow: Flow,
  io: Pick<DemoIo, "color" | "columns">,
): string | undefined {
  const say = SAYINGS[event.type] as ((event: RunEvent, run: Run, flow: Flow) => Saying | undefined) | undefined;
  const said = say?.(event, run, flow);
  if (said === undefined) return undefined;
  const [mark, stage, text] = said;
  const room = io.columns > 2 * MARGIN ? io.columns - MARGIN : 160;
  return `${markOf(io, mark)} ${stage.padEnd(STAGE_WIDTH)}  ${fit(plainLine(text), room)}`;
}

type Saying = readonly [mark: Mark, stage: string, text: string];
type Sayings = {
  readonly [T in EventType]?: (event: RunEvent & { type: T }, run: Run, flow: Flow) => Saying | undefined;
};

const SAYINGS: Sayings = {
  "gate.opened": ({ item }) => {
    const answers = item.kind === "gate" ? item.answers.join(" or ") : "";
    return ["waits", item.stage, `gate: ${item.who} decides, ${answers}`];
  },
  "gate.answered": ({ stage, answer }) => ["done", stage, `gate answered: ${answer}`],
  "stage.started": ({ track, stage, attempt }, run, flow) => {
    const state = run.tracks[track];
    const carry = state !== undefined && "carry" in state ? state.carry : undefined;
    const loop = carry !== undefined && carry.loop > 0 ? `, loop ${carry.loop} of ${carry.loopMax}` : "";
    return ["running", stage, `attempt ${attempt} by ${agentOf(flow, stage)}${loop}`];
  },
  "stage.finished": ({ stage, outcome }) => {
    const { verdict, health, word, summary, issues, reason, cause } = outcome;
    if (verdict === "pass") return ["done", stage, `${word ?? "done"}: ${summary ?? ""}`];
    if (verdict !== undefined) return ["again", stage, `${word ?? verdict}: ${issues.map(issueText).join("; ")}`];
    // What blocks it is said by the question that follows.
    return health === "blocked" ? undefined : ["stopped", stage, `${health}: ${reason ?? cause ?? "no reason given"}`];
  },
  "question.asked": ({ item }) => {
    const questions = item.kind === "question" || item.kind === "choice" ? item.questions : [];
    return ["waits", item.stage, `question: ${questions.join(" ")}`];
  },
  "question.answered": ({ stage, answer }) => ["done", stage, `question answered: ${answer}`],
  "counter.changed": ({ key, from, to }, _run, flow) => {
    const max = flow.counters[key]?.maxLoops;
    return to > from
      ? ["again", "", `sent back: ${key} loop ${to}${max === undefined || max === null ? "" : ` of ${max}`}`]
      : undefined;
  },
  "escalation.opened": ({ item }) => {
    const reason = item.kind === "escalation" ? item.reason : "";
    return ["escalated", item.stage, `escalation: ${reason}`];
  },
  "escalation.resolved": ({ stage, choice, note }) => {
    return ["done", stage, `escalation resolved: ${choice}${note === "" ? "" : `, with the note: ${note}`}`];
  },
  "run.completed": (_event, run) => ["done", "run", `completed, status ${run.word}`],
  "run.canceled": ({ reason }) => ["stopped", "run", `canceled: ${reason}`],
  "run.stopped": ({ reason }) => ["stopped", "run", `stopped: ${reason}`],
};

function agentOf(flow: Flow, id: string): string {
  const stage = flow.stages.find((candidate) => candidate.id === id);
  return stage !== undefined && "shownAgent" in stage ? stage.shownAgent : "";
}
