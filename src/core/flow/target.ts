// Where a route leads from a stage. The engine, the graph, the API and the flow check all use this module, so a picture never shows an edge
// that the engine does not take.

import { type Flow, type GateStage, plainRoute, type Route, type Routes, type Stage, type WorkStage } from "./flow.ts";

/** The meaning of a target, seen from one stage. */
export type RouteTarget =
  /** `next` is the following stage of the track, or its end; `warn` goes there although the stage did not pass. */
  | { readonly type: "next" | "warn" | "self" | "end" | "stop" | "escalate" | "cancel" }
  | { readonly type: "stage"; readonly stage: Stage }
  /** The track has no such stage, or no agent stage before this one. */
  | { readonly type: "missing" };

/** The stages that a target can name, seen from one stage. */
export type Around = {
  /** Agent stages that the work can go back to, nearest first. */
  readonly before: readonly WorkStage[];
  readonly find: (id: string) => Stage | undefined;
};

export function aroundStage(stages: readonly Stage[], id: string): Around {
  return { before: agentsBefore(stages, id), find: (name) => stages.find((stage) => stage.id === name) };
}

export function readTarget(target: string, { before, find }: Around): RouteTarget {
  switch (target) {
    case "next":
    case "warn":
    case "self":
    case "end":
    case "stop":
    case "escalate":
    case "cancel":
      return { type: target };
    case "prev":
      return orMissing(before[0]);
    case "first":
      return orMissing(before.at(-1));
    default: {
      if (!target.startsWith("agent:")) return orMissing(find(target));
      const agent = target.slice("agent:".length).toLowerCase();
      return orMissing(before.find((stage) => stage.agent === agent));
    }
  }
}

/** Whether a target means a different stage for each stage that names it. */
export function isRelative(target: string): boolean {
  return target === "prev" || target === "first" || target.startsWith("agent:");
}

/**
 * The engine's result for a route's target: `else` replaces a missing stage, a route without one stops, and an end with the flow's word for
 * a canceled run cancels.
 */
export function readLead(
  { words }: Pick<Flow, "words">,
  route: Pick<Route, "else" | "status">,
  target: string,
  around: Around,
): Exclude<RouteTarget, { type: "missing" }> {
  const direct = readTarget(target, around);
  const lead = direct.type === "missing" ? readTarget(route.else ?? "stop", around) : direct;
  if (lead.type === "missing") return { type: "stop" };
  const isCanceled = route.status !== undefined && route.status === (words.status.canceled ?? "canceled");
  return lead.type === "end" && isCanceled ? { type: "cancel" } : lead;
}

/** Every route of a stage: a gate has only its own; work that passes moves to the next stage unless its route says otherwise. */
export function routesFrom(stage: WorkStage | GateStage): Routes {
  return stage.kind === "gate" ? stage.route : { pass: plainRoute("next"), ...stage.route };
}

/** The stages after one in the same track, in order, without those reached only by `enter`. */
export function stagesAfter<S extends Pick<Stage, "id" | "enterOnly">>(stages: readonly S[], id: string): readonly S[] {
  return stages.slice(stages.findIndex((stage) => stage.id === id) + 1).filter((stage) => !stage.enterOnly);
}

/** Agent stages before one in the same track, nearest first, without those reached only by `enter`. */
function agentsBefore(stages: readonly Stage[], id: string): readonly WorkStage[] {
  const at = stages.findIndex((stage) => stage.id === id);
  return stages
    .slice(0, Math.max(at, 0))
    .filter((stage): stage is WorkStage => stage.kind === "agent" && !stage.enterOnly)
    .reverse();
}

function orMissing(stage: Stage | undefined): RouteTarget {
  return stage === undefined ? { type: "missing" } : { type: "stage", stage };
}
