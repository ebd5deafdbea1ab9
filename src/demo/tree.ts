// The run as a tree of its stages, one line each: a pure function of what the run is now.

import type { Flow, Stage } from "../core/flow/flow.ts";
import { isWork } from "../core/run/sequence.ts";
import type { Run, Track } from "../core/run/run.ts";
import type { DemoIo } from "./io.ts";
import { fit, type Mark, markOf, paint, plainLine } from "./look.ts";

/** `answers`: what people said at the gates, by stage. */
export function drawTree(
  run: Run,
  flow: Flow,
  answers: ReadonlyMap<string, string>,
  io: Pick<DemoIo, "color" | "columns">,
): readonly string[] {
  const width = Math.max(...flow.stages.map(({ id }) => id.length));
  const whoWidth = Math.max(...flow.stages.map((stage) => whoOf(stage).length));
  const head = `  ${paint(io, "bold", fit(plainLine(run.subject.title), io.columns - 30))}  ${paint(io, "dim", plainLine(run.word))}`;
  const rows = flow.stages.map((stage, index) => {
    const [mark, text] = stateOf(stage, run, answers);
    const branch = index === flow.stages.length - 1 ? "└" : "├";
    const room = io.columns - width - whoWidth - 14;
    const names = `${stage.id.padEnd(width)}  ${paint(io, "dim", whoOf(stage).padEnd(whoWidth))}`;
    return `  ${branch} ${markOf(io, mark)} ${names}  ${fit(plainLine(text), room)}`;
  });
  return [head, ...rows];
}

function whoOf(stage: Stage): string {
  if (stage.kind === "gate") return stage.who;
  return isWork(stage) ? stage.shownAgent : stage.kind;
}

function stateOf(stage: Stage, run: Run, answers: ReadonlyMap<string, string>): readonly [Mark, string] {
  const track = Object.values(run.tracks).find((candidate) => "stage" in candidate && candidate.stage === stage.id);
  const current = track === undefined ? undefined : currentState(track);
  if (current !== undefined) return current;
  const answer = answers.get(stage.id);
  if (answer !== undefined) return ["done", answer];
  const memory = run.stages[stage.id];
  const last = memory?.last;
  if (memory === undefined || last === undefined) return ["queued", ""];
  const tries = memory.attempts === 1 ? "" : `, ${memory.attempts} attempts`;
  if (last.verdict === "pass") return ["done", `${last.word ?? "done"}${tries}`];
  return [
    "again",
    `${last.word ?? last.health}${last.issues === 0 ? "" : `, ${last.issues} issue${last.issues === 1 ? "" : "s"}`}${tries}`,
  ];
}

function currentState(track: Track): readonly [Mark, string] | undefined {
  switch (track.at) {
    case "ready":
    case "running": {
      const { loop, loopMax } = track.carry;
      const since = Math.max(0, Math.round((Date.now() - Date.parse(track.since)) / 1000));
      return ["running", `attempt ${track.attempt}${loop > 0 ? `, loop ${loop} of ${loopMax}` : ""}, ${since}s`];
    }
    case "waiting":
      switch (track.item.kind) {
        case "gate":
          return ["waits", `waits for ${track.item.who}: ${track.item.answers.join(" or ")}`];
        case "question":
        case "choice":
          return ["waits", `asks: ${track.item.questions.join(" ")}`];
        case "escalation":
          return ["escalated", `escalated: ${track.item.reason}`];
        case "budget":
          return ["waits", `waits for ${track.item.who}: the budget is reached`];
      }
    case "stopped":
      return ["stopped", `stopped: ${track.reason}`];
    case "forked":
    case "done":
      return undefined;
  }
}
