// The edges of a drawn flow: every exit of every stage, with its outcome and whether a person decides. Core resolves the targets; this
// file only names the nodes.

import type { Flow, GateStage, Route, Routes, Stage, WorkStage } from "../../../core/flow/flow.ts";
import { type Around, aroundStage, isRelative, readLead, routesFrom, stagesAfter } from "../../../core/flow/target.ts";
import { isShared, sharedRoutes } from "./shared.ts";

export type Edge = { readonly from: string; readonly to: string; readonly label: string; readonly isHuman: boolean };

/** Nodes that are not stages. */
export const NODE = {
  begin: "begin",
  done: "done",
  stopped: "stopped",
  canceled: "canceled",
  escalation: "escalation",
  /** Means each agent's stage where all do the same. */
  everyAgent: "every_agent",
  nextStage: "next_stage",
} as const;

/** Where a route starts: the node, the node of "next", and the stages that a target can name from there. */
type Here = {
  readonly flow: Flow;
  readonly node: string;
  readonly next: string;
  readonly around: Around;
  readonly nodeOf: (stage: Stage) => string;
  readonly routes: Routes;
  readonly isGate: boolean;
};
type Sequence = { readonly stages: readonly Stage[]; readonly after: string };

export function edgesOf(flow: Flow): readonly Edge[] {
  const shared = drawnOnce(sharedRoutes(flow));
  const all: Here = {
    flow,
    node: NODE.everyAgent,
    next: NODE.nextStage,
    around: aroundStage(flow.stages, ""),
    nodeOf: stageNode,
    routes: shared,
    isGate: false,
  };
  return merge([
    ...entryEdges(flow),
    ...flow.stages.flatMap((stage) => stageEdges(flow, stage, { stages: flow.stages, after: NODE.done }, shared)),
    ...Object.entries(shared).flatMap(([key, route]) => wayEdges(all, key, route)),
  ]);
}

/** A route to "the stage before" leads somewhere else from each stage, so it cannot be drawn once for all of them. */
function drawnOnce(routes: Routes): Routes {
  const leadsOf = (route: Route): readonly string[] => [
    route.goto,
    ...(route.else === undefined ? [] : [route.else]),
    ...Object.values(route.ask?.choices ?? {}),
  ];
  return Object.fromEntries(Object.entries(routes).filter(([, route]) => !leadsOf(route).some(isRelative)));
}

function entryEdges(flow: Flow): readonly Edge[] {
  const words = Object.entries(flow.enter);
  const first = flow.stages.find((stage) => !stage.enterOnly) ?? flow.stages[0];
  const edge = (stage: string, label: string): Edge => ({ from: NODE.begin, to: nodeId(stage), label, isHuman: false });
  if (words.length === 0) return first === undefined ? [] : [edge(first.id, "")];
  return words.flatMap(([word, rules]) =>
    rules.map(({ when, stage }) => edge(stage, when === undefined ? word : `${word} if ${when}`)),
  );
}

function stageEdges(flow: Flow, stage: Stage, sequence: Sequence, shared: Routes): readonly Edge[] {
  const next = nextOf(stage, sequence);
  switch (stage.kind) {
    case "parallel": {
      const inner = Object.entries(stage.tracks).flatMap(([track, { stages }]) =>
        stages.flatMap((work) => stageEdges(flow, work, { stages, after: trackId(stage, track) }, shared)),
      );
      return [...inner, { from: nodeId(stage.id), to: next, label: `done: ${stage.join.join(", ")}`, isHuman: false }];
    }
    case "dynamic": {
      // The order is known only in a run: every template can stand before every other.
      const templates = Object.values(stage.templates);
      const around: Around = { before: templates.toReversed(), find: aroundStage(flow.stages, stage.id).find };
      const nodeOf = (to: Stage): string =>
        templates.some((template) => template === to) ? templateId(stage, (to as WorkStage).agent) : stageNode(to);
      const inner = Object.entries(stage.templates).flatMap(([agent, template]) => {
        const { pass: _, ...routes } = template.route;
        return routeEdges(
          { flow, node: templateId(stage, agent), next, around, nodeOf, routes, isGate: false },
          shared,
        );
      });
      return [...inner, { from: nodeId(stage.id), to: next, label: "all passed", isHuman: false }];
    }
    case "gate":
    case "agent":
    case "builtin":
    case "router":
      return routeEdges(hereOf(flow, stage, next, sequence), shared);
  }
}

function hereOf(flow: Flow, stage: WorkStage | GateStage, next: string, { stages }: Sequence): Here {
  return {
    flow,
    node: nodeId(stage.id),
    next,
    around: aroundStage(stages, stage.id),
    nodeOf: stageNode,
    routes: routesFrom(stage),
    isGate: stage.kind === "gate",
  };
}

function routeEdges(here: Here, shared: Routes): readonly Edge[] {
  return Object.entries(here.routes)
    .filter(([key, route]) => here.isGate || !isShared(shared, key, route))
    .flatMap(([key, route]) => wayEdges(here, key, route));
}

function wayEdges(here: Here, key: string, route: Route): readonly Edge[] {
  const { flow, node: from, isGate, routes } = here;
  if (route.ask?.choices !== undefined) {
    return Object.entries(route.ask.choices).map(([answer, goto]) => ({
      from,
      to: targetOf(here, goto, route),
      label: `${key}, ${answer}`,
      isHuman: true,
    }));
  }
  const counter = route.counter === undefined ? undefined : flow.counters[route.counter];
  const limit = counter === undefined ? "" : counter.maxLoops === null ? ", no limit" : `, max ${counter.maxLoops}`;
  const counted = route.counter === undefined ? "" : ` (${route.counter}${limit})`;
  const asked = route.ask === undefined ? "" : `, asks ${route.ask.who}`;
  const isHuman = isGate || route.ask !== undefined;
  const edge: Edge = { from, to: targetOf(here, route.goto, route), label: `${key}${counted}${asked}`, isHuman };
  const repeated: readonly Edge[] = route.once
    ? [{ from, to: targetOf(here, route.else ?? "stop", route), label: `${key} a second time`, isHuman: false }]
    : [];
  // A budget that ends in a way of the stage is drawn with that way.
  if (counter === undefined || Object.hasOwn(routes, counter.onExhausted)) return [edge, ...repeated];
  const spent = counter.onExhausted === "stop" ? NODE.stopped : NODE.escalation;
  return [edge, ...repeated, { from, to: spent, label: `${route.counter} spent`, isHuman: false }];
}

function targetOf({ flow, node, next, around, nodeOf }: Here, target: string, route: Route): string {
  const lead = readLead(flow, route, target, around);
  switch (lead.type) {
    case "next":
    case "warn":
      return next;
    case "self":
      return node;
    case "stage":
      return nodeOf(lead.stage);
    case "end":
      return NODE.done;
    case "stop":
      return NODE.stopped;
    case "escalate":
      return NODE.escalation;
    case "cancel":
      return NODE.canceled;
  }
}

function nextOf(stage: Stage, { stages, after }: Sequence): string {
  const [following] = stagesAfter(stages, stage.id);
  return following === undefined ? after : nodeId(following.id);
}

function stageNode(stage: Stage): string {
  return nodeId(stage.id);
}

/** Several outcomes that lead the same way are one edge. */
function merge(edges: readonly Edge[]): readonly Edge[] {
  const merged = new Map<string, { readonly edge: Edge; readonly labels: Set<string> }>();
  for (const edge of edges) {
    const key = `${edge.from} ${edge.to} ${edge.isHuman}`;
    const found = merged.get(key) ?? { edge, labels: new Set() };
    if (edge.label !== "") found.labels.add(edge.label);
    merged.set(key, found);
  }
  return [...merged.values()].map(({ edge, labels }) => ({ ...edge, label: [...labels].join("; ") }));
}

/** Ids of stages have dashes and no underscores, so no two become equal; the prefix keeps clear of Mermaid's own words. */
export function nodeId(stage: string): string {
  return `s_${stage.replaceAll("-", "_")}`;
}

export function trackId(stage: Stage, track: string): string {
  return `${nodeId(stage.id)}__${track.replaceAll("-", "_")}`;
}

export function templateId(stage: Stage, agent: string): string {
  return `${nodeId(stage.id)}__${agent === "*" ? "any" : agent.replaceAll("-", "_")}`;
}
