// Where a stage can lead, for people who look at a flow: every route with the outcome that takes it. routing.ts moves runs.

import { type Flow, MAIN_TRACK, type Route, type Stage } from "../flow/flow.ts";
import { readLead, routesFrom } from "../flow/target.ts";
import type { Run } from "./run.ts";
import { aroundOf, isWork, stageAfter, stagesOf } from "./sequence.ts";

export type Way = {
  /** A verdict, a health, or an answer of a person. */
  readonly on: string;
  /** Stages; several where tracks begin. Or one reserved word: end, stop, escalate, cancel. */
  readonly to: readonly string[];
  readonly counter: string | null;
};

/** A flow before any run of it. */
export const NOT_STARTED: Pick<Run, "expanded"> = { expanded: {} };

export function waysOf(flow: Flow, run: Pick<Run, "expanded">, track: string, stage: Stage): readonly Way[] {
  if (stage.kind === "parallel" || stage.kind === "dynamic") return [];
  const here: Here = { flow, run, track, stage };
  return Object.entries(routesFrom(stage)).flatMap(([key, route]): Way[] => {
    const counter = route.counter ?? null;
    if (route.ask?.choices === undefined) return [{ on: key, to: endsOf(here, route, route.goto), counter }];
    return Object.entries(route.ask.choices).map(([answer, goto]) => ({
      on: `${key}, ${answer}`,
      to: endsOf(here, route, goto),
      counter,
    }));
  });
}

type Here = {
  readonly flow: Flow;
  readonly run: Pick<Run, "expanded">;
  readonly track: string;
  readonly stage: Stage;
};

function endsOf({ flow, run, track, stage }: Here, route: Route, target: string): readonly string[] {
  const lead = readLead(flow, route, target, aroundOf(flow, run, track, stage.id));
  switch (lead.type) {
    case "next":
    case "warn":
      return following(flow, run, track, stage.id);
    case "self":
      return [stage.id];
    case "stage":
      return headsOf(flow, run, lead.stage);
    case "end":
    case "stop":
    case "escalate":
    case "cancel":
      return [lead.type];
  }
}

function following(flow: Flow, run: Pick<Run, "expanded">, track: string, id: string): readonly string[] {
  const next = stageAfter(flow, run, track, id);
  if (next !== undefined) return headsOf(flow, run, next);
  if (track === MAIN_TRACK) return ["end"];
  const fork = stagesOf(flow, run, MAIN_TRACK).find((stage) => stage.kind === "parallel" && track in stage.tracks);
  return fork === undefined ? ["end"] : following(flow, run, MAIN_TRACK, fork.id);
}

/** Where work begins when this stage is entered. A router's list that is not known yet is skipped. */
function headsOf(flow: Flow, run: Pick<Run, "expanded">, stage: Stage): readonly string[] {
  if (isWork(stage) || stage.kind === "gate") return [stage.id];
  if (stage.kind === "dynamic") return following(flow, run, MAIN_TRACK, stage.id);
  return Object.values(stage.tracks).flatMap(({ stages: [first] }) => (first === undefined ? [] : [first.id]));
}
