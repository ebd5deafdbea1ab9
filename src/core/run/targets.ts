// Where a stage can lead, for people who look at a flow: every way out with what leads there. Runs are not moved by this; routing.ts does that.

import { type Flow, MAIN_TRACK, type Route, type Stage, type WorkStage } from "../flow/flow.ts";
import type { Run } from "./run.ts";
import { agentsBefore, findStage, isWork, stageAfter, stagesOf } from "./sequence.ts";

export type Way = {
  /** A verdict, a health, or an answer of a person. */
  readonly on: string;
  /** Stages; several where tracks begin. Or one word that no stage has: end, stop, escalate, cancel. */
  readonly to: readonly string[];
  readonly counter: string | null;
};

/** What a flow is before any run of it. */
export const NOT_STARTED: Pick<Run, "expanded"> = { expanded: {} };

export function waysOf(flow: Flow, run: Pick<Run, "expanded">, track: string, stage: Stage): readonly Way[] {
  if (stage.kind === "parallel" || stage.kind === "dynamic") return [];
  const routes = stage.kind === "gate" ? Object.entries(stage.route) : Object.entries(withPass(stage));
  const targets = (goto: string, route: Route) => targetsOf({ flow, run, track, stage }, goto, route);
  return routes.flatMap(([key, route]): Way[] => {
    const counter = route.counter ?? null;
    if (route.ask?.choices === undefined) return [{ on: key, to: targets(route.goto, route), counter }];
    return Object.entries(route.ask.choices).map(([answer, goto]) => ({
      on: `${key}, ${answer}`,
      to: targets(goto, route),
      counter,
    }));
  });
}

function withPass(stage: WorkStage): WorkStage["route"] {
  return { pass: { goto: "next", carry: [], onlyBlamed: false, once: false }, ...stage.route };
}

type Here = {
  readonly flow: Flow;
  readonly run: Pick<Run, "expanded">;
  readonly track: string;
  readonly stage: Stage;
};

function targetsOf(here: Here, goto: string, route: Route): readonly string[] {
  const { flow, run, track, stage } = here;
  const before = (): readonly WorkStage[] => agentsBefore(flow, run, track, stage.id);
  const orElse = (found: WorkStage | undefined): readonly string[] => [found?.id ?? stage.id];
  switch (goto) {
    case "next":
    case "warn":
      return following(flow, run, track, stage.id);
    case "self":
      return [stage.id];
    case "end":
      return [route.status !== undefined && route.status === flow.words.status.canceled ? "cancel" : "end"];
    case "prev":
      return orElse(before()[0]);
    case "first":
      return orElse(before().at(-1));
    default: {
      if (goto.startsWith("agent:")) {
        const agent = goto.slice("agent:".length).toLowerCase();
        return orElse(before().find((earlier) => earlier.agent === agent));
      }
      const named = findStage(flow, run, MAIN_TRACK, goto);
      return named === undefined ? [goto] : headsOf(flow, run, named);
    }
  }
}

function following(flow: Flow, run: Pick<Run, "expanded">, track: string, id: string): readonly string[] {
  const next = stageAfter(flow, run, track, id);
  if (next !== undefined) return headsOf(flow, run, next);
  if (track === MAIN_TRACK) return ["end"];
  const fork = stagesOf(flow, run, MAIN_TRACK).find((stage) => stage.kind === "parallel" && track in stage.tracks);
  return fork === undefined ? ["end"] : following(flow, run, MAIN_TRACK, fork.id);
}

/** Where work begins when this stage is entered. A router's list that is not known yet is passed over. */
function headsOf(flow: Flow, run: Pick<Run, "expanded">, stage: Stage): readonly string[] {
  if (isWork(stage) || stage.kind === "gate") return [stage.id];
  if (stage.kind === "dynamic") return following(flow, run, MAIN_TRACK, stage.id);
  return Object.values(stage.tracks).flatMap(({ stages: [first] }) => (first === undefined ? [] : [first.id]));
}
