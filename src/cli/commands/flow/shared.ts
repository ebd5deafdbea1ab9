// The routes that all agents of a flow share. Text and graph show them once, so that the differences stand out.

import type { Flow, Route, Routes, WorkStage } from "../../../core/flow/flow.ts";
import { canonicalJson } from "../../../core/json.ts";

/** The routes that every agent's stage has, word for word; none where there is only one such stage. */
export function sharedRoutes(flow: Flow): Routes {
  const [first, ...others] = agentStages(flow);
  if (first === undefined || others.length === 0) return {};
  return Object.fromEntries(
    Object.entries(first.route).filter(([key, route]) => others.every((other) => isSame(other.route[key], route))),
  );
}

export function isShared(shared: Routes, key: string, route: Route): boolean {
  return Object.hasOwn(shared, key) && isSame(shared[key], route);
}

function agentStages(flow: Flow): readonly WorkStage[] {
  return flow.stages.flatMap((stage): readonly WorkStage[] => {
    if (stage.kind === "parallel") return Object.values(stage.tracks).flatMap(({ stages }) => stages);
    if (stage.kind === "dynamic") return Object.values(stage.templates);
    return stage.kind === "agent" ? [stage] : [];
  });
}

function isSame(one: Route | undefined, other: Route): boolean {
  return one !== undefined && canonicalJson(one) === canonicalJson(other);
}
