// The flow as a graph: every stage is reached and can reach the end, loops are limited, and a person reviews before the end.
// An edge is automatic unless a person answers on the way, and limited if a counter or `once` bounds it.

import type { Flow, Route } from "../flow/flow.ts";
import type { FlowFile } from "../flow/flow-file.ts";
import { isPassive } from "../flow/last-gates.ts";
import { aroundStage, isRelative, readTarget } from "../flow/target.ts";
import { type StagePlace, routesOf, sequenceOf, targetsOf } from "./places.ts";
import { type FlowProblem, type Path, problem, warning } from "./problem.ts";

type Edge = {
  readonly from: string;
  readonly to: string;
  readonly automatic: boolean;
  /** yes: bounded; open: counted without a bound; no: not counted. */
  readonly limited: "yes" | "open" | "no";
  readonly path: Path;
};

const END = "end";

/** `complete`: all targets exist. With a misspelt target, reachability would be guesswork. */
export function graphProblems(
  file: FlowFile,
  flow: Flow,
  places: readonly StagePlace[],
  complete: boolean,
): readonly FlowProblem[] {
  const nodes = places.filter(({ templateOf }) => templateOf === undefined);
  const edges = places.flatMap((place) => edgesOf(place, flow, places));
  const entries = entriesOf(flow, places);
  return [
    ...(complete ? reachProblems(nodes, edges, entries) : []),
    ...loopProblems(nodes, edges),
    ...gateProblems(file, nodes, edges, entries),
  ];
}

function reachProblems(
  nodes: readonly StagePlace[],
  edges: readonly Edge[],
  entries: readonly string[],
): readonly FlowProblem[] {
  const reached = walk(entries, (id) => edges.filter(({ from }) => from === id).map(({ to }) => to));
  const unreached = nodes.filter(({ stage }) => !reached.has(stage.id));
  const problems = unreached.map(({ stage, path }) =>
    problem(
      "flow_graph_invalid",
      path,
      `stage ${stage.id} is never reached`,
      stage.enterOnly ? 'name it under "enter"' : "lead a route to it, or remove it",
    ),
  );
  if (!reached.has(END)) {
    return [
      ...problems,
      problem(
        "flow_graph_invalid",
        ["stages"],
        "no way leads to the end of the flow",
        'some stage has to lead to "end", or to next after the last stage',
      ),
    ];
  }
  const ending = walk([END], (id) => edges.filter(({ to }) => to === id).map(({ from }) => from));
  const stuck = nodes.filter(({ stage }) => reached.has(stage.id) && !ending.has(stage.id));
  return [
    ...problems,
    ...stuck.map(({ stage, path }) =>
      problem("flow_graph_invalid", path, `from stage ${stage.id} no way leads to the end`),
    ),
  ];
}

/** A cycle without a person and without a limit would run, and cost, forever. */
function loopProblems(nodes: readonly StagePlace[], edges: readonly Edge[]): readonly FlowProblem[] {
  const gates = new Set(nodes.flatMap(({ stage }) => (stage.kind === "gate" ? [stage.id] : [])));
  const turning = edges.filter(
    ({ from, to, automatic, limited }) => automatic && limited !== "yes" && !gates.has(from) && !gates.has(to),
  );
  const order = nodes.map(({ stage }) => stage.id);
  const endless = cycles(
    order,
    turning.filter(({ limited }) => limited === "no"),
  );
  const open = cycles(order, turning).filter(({ edge }) => !endless.some((other) => other.edge === edge));
  const hint = 'give the route that leads back a "counter"';
  return [
    ...endless.map(({ edge, ids }) =>
      problem("loop_without_limit", edge.path, `${ids.join(" -> ")} can go round without a limit`, hint),
    ),
    ...open.map(({ edge, ids }) =>
      warning(
        "loop_without_limit",
        edge.path,
        `${ids.join(" -> ")} is counted, but its counter has no limit`,
        'give the counter "max_attempts"',
      ),
    ),
  ];
}

/** A run must not end with work that no person has reviewed, unless the flow explicitly allows it. */
function gateProblems(
  file: FlowFile,
  nodes: readonly StagePlace[],
  edges: readonly Edge[],
  entries: readonly string[],
): readonly FlowProblem[] {
  const reached = walk(entries, (id) => edges.filter(({ from }) => from === id).map(({ to }) => to));
  // The last stage that can change the work must be a gate: then all earlier work has passed one. Landing only moves what passed it.
  const passive = new Set(nodes.flatMap(({ stage }) => (isPassive(stage) ? [stage.id] : [])));
  const ends = walk([END], (id) =>
    edges.filter(({ from, to }) => to === id && passive.has(from)).map(({ from }) => from),
  );
  const ungated = nodes.filter(
    ({ stage }) =>
      stage.kind !== "gate" &&
      !passive.has(stage.id) &&
      reached.has(stage.id) &&
      edges.some(({ from, to }) => from === stage.id && ends.has(to)),
  );
  if (ungated.length === 0) return [];
  const names = ungated.map(({ stage }) => stage.id).join(", ");
  const path = ungated[0]?.path ?? ["stages"];
  const message = `the run can end after ${names} without a person having looked`;
  if (file.allow_ungated === true) return [warning("flow_ungated", ["allow_ungated"], message)];
  return [
    problem(
      "flow_ungated",
      path,
      message,
      'put a stage of kind gate behind it, or write "allow_ungated: true" if that is meant',
    ),
  ];
}

function entriesOf(flow: Flow, places: readonly StagePlace[]): readonly string[] {
  const named = Object.values(flow.enter).flatMap((rules) => rules.map(({ stage }) => stage));
  return [...startOf(sequenceOf(places, ""), 0, [END]), ...named];
}

/** Where a sequence continues from a position: the next stage, and those after it while stages may be skipped. */
function startOf(sequence: readonly StagePlace[], from: number, after: readonly string[]): readonly string[] {
  const ids: string[] = [];
  for (const { stage } of sequence.slice(from)) {
    if (stage.enterOnly) continue;
    ids.push(stage.id);
    if (stage.when === undefined) return ids;
  }
  return [...ids, ...after];
}

function nextOf(place: StagePlace, places: readonly StagePlace[]): readonly string[] {
  const sequence = sequenceOf(places, place.sequence);
  const position = sequence.findIndex(({ stage }) => stage.id === (place.templateOf ?? place.stage.id));
  const parallel = places.find(({ stage, templateOf }) => stage.id === place.parallel && templateOf === undefined);
  const after = place.parallel === undefined || parallel === undefined ? [END] : nextOf(parallel, places);
  return startOf(sequence, position + 1, after);
}

function edgesOf(place: StagePlace, flow: Flow, places: readonly StagePlace[]): readonly Edge[] {
  const { stage, path } = place;
  const from = place.templateOf ?? stage.id;
  const plain = (to: string): Edge => ({ from, to, automatic: true, limited: "no", path });
  if (stage.kind === "parallel") {
    const starts = Object.keys(stage.tracks).flatMap((track) =>
      startOf(sequenceOf(places, `${stage.id}/${track}`), 0, nextOf(place, places)),
    );
    return (starts.length === 0 ? nextOf(place, places) : starts).map(plain);
  }
  if (stage.kind === "dynamic") return nextOf(place, places).map(plain);
  const passes = stage.kind === "gate" || Object.hasOwn(stage.route, "pass") ? [] : nextOf(place, places).map(plain);
  const routed = routesOf(place).flatMap((placed) => {
    const { route } = placed;
    const automatic = stage.kind !== "gate" && route.ask === undefined;
    return targetsOf(placed).flatMap(({ target, path: at }) => {
      const isElse = at.at(-1) === "else";
      const limited = limitOf(route, flow, isElse);
      return nodesAt(place, target, places).map((to): Edge => ({ from, to, automatic, limited, path: at }));
    });
  });
  return [...passes, ...routed];
}

function limitOf(route: Route, flow: Flow, isElse: boolean): Edge["limited"] {
  const counter = route.counter === undefined ? undefined : flow.counters[route.counter];
  if (counter !== undefined) return counter.maxLoops === null ? "open" : "yes";
  // The route taken once `once` is used up is not itself bounded.
  return route.once && !isElse ? "yes" : "no";
}

/** The nodes that a target means, seen from a place; none for targets that stop. */
function nodesAt(place: StagePlace, target: string, places: readonly StagePlace[]): readonly string[] {
  const own = place.templateOf ?? place.stage.id;
  // The order of a dynamic stage is known only in a run; its templates lead back to the stage itself.
  if (place.templateOf !== undefined && isRelative(target)) return [own];
  const stages = sequenceOf(places, place.sequence).map(({ stage }) => stage);
  const found = readTarget(target, aroundStage(stages, own));
  switch (found.type) {
    case "next":
    case "warn":
      return nextOf(place, places);
    case "self":
      return [own];
    case "stage":
      return [found.stage.id];
    case "end":
      return place.sequence === "" ? [END] : nextOf(place, places);
    case "stop":
    case "escalate":
    case "cancel":
    case "missing":
      return [];
  }
}

function walk(starts: readonly string[], onwards: (id: string) => readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [...starts];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...onwards(id));
  }
  return seen;
}

/** The edges that close a cycle, each with the stages of its cycle, found by one depth-first walk. */
function cycles(
  order: readonly string[],
  edges: readonly Edge[],
): readonly { readonly edge: Edge; readonly ids: readonly string[] }[] {
  const outgoing = new Map<string, Edge[]>();
  for (const edge of edges) outgoing.set(edge.from, [...(outgoing.get(edge.from) ?? []), edge]);
  const found: { edge: Edge; ids: readonly string[] }[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (id: string): void => {
    trail.push(id);
    for (const edge of outgoing.get(id) ?? []) {
      const at = trail.indexOf(edge.to);
      if (at !== -1) found.push({ edge, ids: [...trail.slice(at), edge.to] });
      else if (!done.has(edge.to)) visit(edge.to);
    }
    trail.pop();
    done.add(id);
  };
  for (const id of order) if (!done.has(id)) visit(id);
  return found;
}
