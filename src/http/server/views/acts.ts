// The acts that a run allows now. Each act is tried on the current run by the rules that decide it later; nothing is stored.

import type { z } from "zod";
import type { actListSchema } from "../../contract/schemas/act.ts";
import { type Flow, MAIN_TRACK } from "../../../core/flow/flow.ts";
import { lateLanding } from "../../../core/run/outward.ts";
import { isEnded, type Run, takenOver } from "../../../core/run/run.ts";
import { isWork, stagesOf } from "../../../core/run/sequence.ts";
import type { SignalBody } from "../../../core/run/signal.ts";
import { transition } from "../../../core/run/transition.ts";
import { listStages } from "../../../core/view/stage-list.ts";

type Act = z.input<typeof actListSchema>["acts"][number];

export function actsOf(flow: Flow, run: Run, at: string): Act[] {
  const whyNot = (signal: SignalBody): string | null => {
    if (isEnded(run) && signal.type !== "undo.requested") return `the run is ${run.status} (${run.word})`;
    return transition(flow, run, { ...signal, id: "", at, actor: "human:?" }).ignored ?? null;
  };
  const about = (act: Act["act"], stage: string | null, signal: SignalBody): Act => ({
    act,
    stage,
    why: whyNot(signal),
  });
  const current = currentStages(run);
  const atCurrent = (act: "retry" | "skip", signal: (stage: string) => SignalBody): Act[] =>
    current.length === 0
      ? [{ act, stage: null, why: isEnded(run) ? `the run is ${run.status} (${run.word})` : "no stage is current" }]
      : current.map((stage) => about(act, stage, signal(stage)));
  return [
    about("pause", null, { type: "pause.requested", reason: "" }),
    ...takeovers(run, current, about),
    ...working(run).map((stage) => about("stop", stage, { type: "stop.requested", stage, reason: "" })),
    about("resume", null, { type: "resume.requested" }),
    ...atCurrent("retry", (stage) => ({ type: "retry.requested", stage, note: "" })),
    ...backTo(flow, run, current, (stage) => about("rerun", stage, { type: "retry.requested", stage, note: "" })),
    ...atCurrent("skip", (stage) => ({ type: "skip.requested", stage, reason: "tried out" })),
    about("cancel", null, { type: "cancel.requested", reason: "" }),
    ...(lateLanding(run) === undefined ? [] : [about("undo", null, { type: "undo.requested" })]),
  ];
}

/** Only what is possible: most stages cannot be taken over, and most runs are not. */
function takeovers(
  run: Run,
  current: readonly string[],
  about: (act: Act["act"], stage: string | null, signal: SignalBody) => Act,
): Act[] {
  const taken = takenOver(run)?.track;
  if (taken !== undefined)
    return [about("handback", taken.stage, { type: "handback.requested", note: "", discard: false })];
  return current
    .map((stage) => about("takeover", stage, { type: "takeover.requested", stage }))
    .filter(({ why }) => why === null);
}

/** Earlier stages that it can return to; without any, the reason. */
function backTo(flow: Flow, run: Run, current: readonly string[], about: (stage: string) => Act): Act[] {
  const worked = listStages(stagesOf(flow, run, MAIN_TRACK)).flatMap(({ stage }) =>
    isWork(stage) && !current.includes(stage.id) && run.stages[stage.id]?.last !== undefined ? [stage.id] : [],
  );
  const acts = worked.map(about);
  const possible = acts.filter(({ why }) => why === null);
  if (possible.length > 0) return possible;
  return [{ act: "rerun", stage: null, why: acts.at(-1)?.why ?? "no earlier stage has worked yet" }];
}

/** Stages at which an agent works here. */
function working(run: Run): readonly string[] {
  return Object.values(run.tracks).flatMap((track) =>
    track.at === "running" && track.outside !== true ? [track.stage] : [],
  );
}

function currentStages(run: Run): readonly string[] {
  return Object.values(run.tracks).flatMap((track) =>
    track.at === "done" || track.at === "forked" ? [] : [track.stage],
  );
}
