// The status words of a flow in the order in which a ticket meets them: the lanes of a board. Derived from the flow, so its words need no
// second list. Words that appear only at an end or after a failure come last.

import type { Flow, Route, Stage, StatusRule } from "../flow/flow.ts";

export function statusWords(flow: Flow): readonly string[] {
  const { status } = flow.words;
  const canceled = status.canceled ?? "canceled";
  const ends = [...flow.stages.flatMap(routesOf).filter(isEnd).flatMap(wordsOf), status.completed ?? "completed"];
  const troubles = [status.question, status.choice, flow.escalation.status ?? status.escalated, status.stopped];
  const stops = flow.stages.flatMap(routesOf).filter(({ goto }) => goto === "stop");
  const late = new Set(
    [...troubles, ...stops.flatMap(wordsOf), ...ends, canceled].filter((word) => word !== undefined),
  );
  const way = [
    status.queued ?? status.running ?? "queued",
    ...flow.stages.flatMap((stage) => wordsAt(flow, stage)),
    status.stalled,
  ].filter((word) => word !== undefined);
  return [
    ...new Set([...way.filter((word) => !late.has(word)), ...[...late].filter((word) => word !== canceled), canceled]),
  ];
}

function wordsAt(flow: Flow, stage: Stage): readonly (string | undefined)[] {
  const { status } = flow.words;
  switch (stage.kind) {
    case "gate":
      return [stage.status ?? status.waiting, ...wordsBetween(stage)];
    case "parallel":
      return Object.values(stage.tracks).flatMap((track) => track.stages.flatMap((inner) => wordsAt(flow, inner)));
    case "dynamic":
      return Object.values(stage.templates).flatMap((template) => wordsAt(flow, template));
    case "agent":
    case "builtin":
    case "router":
      return [stage.status.ready, stage.status.running ?? status.running, ...wordsBetween(stage)];
  }
}

/** Words that a route shows until the next stage has its own. */
function wordsBetween(stage: Stage): readonly string[] {
  return routesOf(stage)
    .filter((route) => !isEnd(route) && route.goto !== "stop")
    .flatMap(wordsOf);
}

function routesOf(stage: Stage): readonly Route[] {
  switch (stage.kind) {
    case "parallel":
      return Object.values(stage.tracks).flatMap((track) => track.stages.flatMap(routesOf));
    case "dynamic":
      return Object.values(stage.templates).flatMap(routesOf);
    case "gate":
    case "agent":
    case "builtin":
    case "router":
      return Object.values(stage.route);
  }
}

function isEnd({ goto }: Route): boolean {
  return goto === "end";
}

function wordsOf({ status }: Route): readonly string[] {
  return status === undefined ? [] : wordsOfRule(status);
}

function wordsOfRule(rule: StatusRule): readonly string[] {
  return typeof rule === "string" ? [rule] : [rule.is, rule.else];
}
