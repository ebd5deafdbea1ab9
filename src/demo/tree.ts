// The run as a tree of its stages, one line each. Core provides the list and the states; the demo adds marks and a short text.

import type { Flow, Stage } from "../core/flow/flow.ts";
import type { Run, Track } from "../core/run/run.ts";
import { type LastEnd, type StageState, stageStates, whoOf } from "../core/view/stage-list.ts";
import type { DemoIo } from "./io.ts";
import { fit, type Mark, markOf, paint, plainLine } from "./look.ts";

/** `answers`: the answers of people at the gates, by stage. */
export function drawTree(
  run: Run,
  flow: Flow,
  answers: ReadonlyMap<string, string>,
  io: Pick<DemoIo, "color" | "columns">,
): readonly string[] {
  const listed = stageStates(flow, run, (id) => lastEnd(run, id));
  const width = Math.max(...listed.map(({ stage }) => stage.id.length));
  const whoWidth = Math.max(...listed.map(({ stage }) => whoOf(stage).length));
  const head = `  ${paint(io, "bold", fit(plainLine(run.subject.title), io.columns - 30))}  ${paint(io, "dim", plainLine(run.word))}`;
  const rows = listed.map(({ track, stage, state }, index) => {
    const text = textOf(run, track, stage, answers);
    const branch = index === listed.length - 1 ? "└" : "├";
    const room = io.columns - width - whoWidth - 14;
    const names = `${stage.id.padEnd(width)}  ${paint(io, "dim", whoOf(stage).padEnd(whoWidth))}`;
    return `  ${branch} ${markOf(io, markFor(state, run.tracks[track]))} ${names}  ${fit(plainLine(text), room)}`;
  });
  return [head, ...rows];
}

const MARKS: Readonly<Record<StageState, Mark>> = {
  done: "done",
  failed: "again",
  running: "running",
  ready: "running",
  waiting: "waits",
  taken: "waits",
  stopped: "stopped",
  open: "queued",
};

function markFor(state: StageState, track: Track | undefined): Mark {
  const isEscalated = state === "waiting" && track?.at === "waiting" && track.item.kind === "escalation";
  return isEscalated ? "escalated" : MARKS[state];
}

/** Uses the run's own data: the demo draws without reading the store. */
function lastEnd(run: Run, stage: string): LastEnd {
  const last = run.stages[stage]?.last;
  if (last === undefined) return undefined;
  return last.health === "complete" && (last.verdict ?? "pass") === "pass" ? "passed" : "failed";
}

function textOf(run: Run, track: string, stage: Stage, answers: ReadonlyMap<string, string>): string {
  const current = run.tracks[track];
  if (current !== undefined && "stage" in current && current.stage === stage.id && current.at !== "forked")
    return currentText(current);
  const answer = answers.get(stage.id);
  if (answer !== undefined) return answer;
  const memory = run.stages[stage.id];
  const last = memory?.last;
  if (memory === undefined || last === undefined) return "";
  const tries = memory.attempts === 1 ? "" : `, ${memory.attempts} attempts`;
  if (last.verdict === "pass") return `${last.word ?? "done"}${tries}`;
  return `${last.word ?? last.health}${last.issues === 0 ? "" : `, ${last.issues} issue${last.issues === 1 ? "" : "s"}`}${tries}`;
}

function currentText(track: Exclude<Track, { at: "forked" } | { at: "done" }>): string {
  switch (track.at) {
    case "ready":
    case "running": {
      const { loop, loopMax } = track.carry;
      const since = Math.max(0, Math.round((Date.now() - Date.parse(track.since)) / 1000));
      return `attempt ${track.attempt}${loop > 0 ? `, loop ${loop} of ${loopMax}` : ""}, ${since}s`;
    }
    case "waiting":
      switch (track.item.kind) {
        case "gate":
          return `waits for ${track.item.who}: ${track.item.answers.join(" or ")}`;
        case "question":
        case "choice":
          return `asks: ${track.item.questions.join(" ")}`;
        case "escalation":
          return `escalated: ${track.item.reason}`;
        case "budget":
          return `waits for ${track.item.who}: the budget is reached`;
      }
    case "taken":
      return `taken over by ${track.by}`;
    case "stopped":
      return `stopped: ${track.reason}`;
  }
}
