// Routes: keys that can happen, targets that exist, answers that lead somewhere.

import { CHECKS_FAILED } from "../flow/check-result.ts";
import type { Flow } from "../flow/flow.ts";
import type { FlowFile } from "../flow/flow-file.ts";
import { HEALTHS, VERDICTS } from "../flow/outcome.ts";
import { aroundStage } from "../flow/target.ts";
import { counterProblems } from "./counters.ts";
import { type StagePlace, type PlacedRoute, routesOf, sequenceOf, targetsOf } from "./places.ts";
import { type FlowProblem, type Path, problem } from "./problem.ts";
import { TARGET_WORDS } from "./stages.ts";
import { didYouMean } from "./suggest.ts";

const OUTCOME_KEYS: readonly string[] = [...VERDICTS, ...HEALTHS.filter((health) => health !== "complete")];
const ESCALATION_WORDS = ["again", "accept", "cancel"];

export function routeProblems(
  file: FlowFile,
  flow: Flow,
  places: readonly StagePlace[],
  known: ReadonlySet<string>,
): readonly FlowProblem[] {
  const forced = Object.values(flow.counters).map((counter) => counter.onExhausted);
  const problems = places.flatMap((place) => {
    const routes = routesOf(place);
    return [
      ...keyProblems(place, routes, flow, forced),
      ...showProblems(place),
      ...routes.flatMap((route) => [
        ...targetProblems(place, route, places, known),
        ...wayProblems(place, route, flow, places),
      ]),
    ];
  });
  // A route of `defaults` applies to every stage, but a fault in it is reported once.
  const shared = showProblems({ written: { route: file.defaults?.route }, path: ["defaults"] });
  return unique([...problems, ...shared, ...escalationProblems(file, places), ...counterProblems(file, flow, places)]);
}

function keyProblems(
  { stage, path }: StagePlace,
  routes: readonly PlacedRoute[],
  flow: Flow,
  forced: readonly string[],
): readonly FlowProblem[] {
  if (stage.kind === "gate") {
    return routes.some(({ key }) => key === "approve")
      ? []
      : [
          problem(
            "gate_without_approve",
            [...path, "route"],
            `gate ${stage.id} has no way for "approve"`,
            'add "approve: next" to its route',
          ),
        ];
  }
  const hasChecks =
    stage.kind !== "parallel" && stage.kind !== "dynamic" && (stage.checks ?? stage.evidence) !== undefined;
  const allowed = new Set([
    ...OUTCOME_KEYS,
    ...(hasChecks ? [CHECKS_FAILED] : []),
    ...forced.filter((name) => name !== "escalate" && name !== "stop"),
  ]);
  return routes.flatMap(({ key, path: at }) => {
    if (allowed.has(key)) return [];
    const meaning = Object.hasOwn(flow.words.verdict, key)
      ? flow.words.verdict[key]
      : key === "complete"
        ? "pass"
        : undefined;
    const hint =
      meaning === undefined ? didYouMean(key, allowed, "keys") : `routes go by what a word means: write "${meaning}"`;
    return [problem("unknown_route_key", at, `"${key}" is not something that can happen in stage ${stage.id}`, hint)];
  });
}

function targetProblems(
  place: StagePlace,
  placed: PlacedRoute,
  places: readonly StagePlace[],
  known: ReadonlySet<string>,
): readonly FlowProblem[] {
  return targetsOf(placed).flatMap(({ target, path, isChoice }) => {
    if (isChoice && target === "cancel") return [];
    const found = target.startsWith("agent:")
      ? agentProblem(place, target, path, places, known)
      : targetProblem(place, target, path, places, placed.route.else !== undefined);
    return found === undefined ? [] : [found];
  });
}

function targetProblem(
  place: StagePlace,
  target: string,
  path: Path,
  places: readonly StagePlace[],
  hasElse: boolean,
): FlowProblem | undefined {
  const { stage, sequence } = place;
  const mine = sequenceOf(places, sequence);
  const inTrack = sequence !== "";
  if (target === "end" && inTrack) {
    return problem(
      "flow_graph_invalid",
      path,
      `stage ${stage.id} is in track ${sequence} and cannot end the run`,
      'a track is done after its last stage: write "next"',
    );
  }
  if (target === "prev" || target === "first") {
    const around = aroundStage(
      mine.map((other) => other.stage),
      stage.id,
    );
    const before = place.templateOf === undefined ? around.before : [stage];
    if (before.length > 0 || hasElse) return undefined;
    return problem(
      "flow_graph_invalid",
      path,
      `there is no agent's stage before ${stage.id}, so "${target}" leads nowhere`,
    );
  }
  if (TARGET_WORDS.includes(target)) return undefined;
  if (mine.some((other) => other.stage.id === target)) return undefined;
  const elsewhere = places.find((other) => other.stage.id === target && other.templateOf === undefined);
  if (elsewhere === undefined) {
    const ids = [...mine.map((other) => other.stage.id), ...TARGET_WORDS];
    return problem(
      "flow_graph_invalid",
      path,
      `stage ${stage.id} leads to "${target}", which is no stage`,
      didYouMean(target, ids, "targets"),
    );
  }
  const hint =
    elsewhere.parallel !== undefined && !inTrack
      ? `go to the parallel stage "${elsewhere.parallel}"`
      : "a route stays inside its track";
  return problem("flow_graph_invalid", path, `stage ${stage.id} leads to "${target}", which is in another track`, hint);
}

/** The agent must play a stage of the same track; in a dynamic stage that takes any agent, it must exist. */
function agentProblem(
  place: StagePlace,
  target: string,
  path: Path,
  places: readonly StagePlace[],
  known: ReadonlySet<string>,
): FlowProblem | undefined {
  const name = target.slice("agent:".length).toLowerCase();
  const mine = places.filter((other) => other.sequence === place.sequence && other.stage.kind === "agent");
  const isOpen = mine.some((other) => other.templateOf === place.templateOf && other.path.at(-1) === "*");
  const names = isOpen ? known : new Set(mine.map((other) => (other.stage.kind === "agent" ? other.stage.agent : "")));
  if (names.has(name)) return undefined;
  const hint = didYouMean(name, names, "agents of the flow");
  return problem("flow_graph_invalid", path, `no stage here is played by an agent "${name}"`, hint);
}

function wayProblems(
  { stage }: StagePlace,
  { route, path }: PlacedRoute,
  flow: Flow,
  places: readonly StagePlace[],
): readonly FlowProblem[] {
  const problems: FlowProblem[] = [];
  if (route.counter !== undefined && !Object.hasOwn(flow.counters, route.counter)) {
    const hint = didYouMean(route.counter, Object.keys(flow.counters), "counters");
    problems.push(problem("unknown_counter", [...path, "counter"], `there is no counter "${route.counter}"`, hint));
  }
  if (route.onlyBlamed && places.find((other) => other.stage.id === route.goto)?.stage.kind !== "parallel") {
    problems.push(
      problem(
        "only_without_tracks",
        [...path, "only"],
        `"only: blamed-tracks" needs a goto to a parallel stage; ${stage.id} leads to "${route.goto}"`,
      ),
    );
  }
  return problems;
}

/** Without a question, `show` has no reader. */
function showProblems({ written, path }: Pick<StagePlace, "written" | "path">): readonly FlowProblem[] {
  return Object.entries(written.route ?? {}).flatMap(([key, route]) =>
    typeof route === "string" || route.show === undefined || route.ask !== undefined
      ? []
      : [
          problem(
            "show_without_ask",
            [...path, "route", key, "show"],
            `"show" has no effect in a route that asks no person`,
            'add "ask: <who>", or remove "show"; a run that stops always shows the reason',
          ),
        ],
  );
}

function escalationProblems(file: FlowFile, places: readonly StagePlace[]): readonly FlowProblem[] {
  const choices = file.escalation?.choices;
  if (choices === undefined || Array.isArray(choices)) return [];
  const known = [...ESCALATION_WORDS, ...TARGET_WORDS, ...places.map(({ stage }) => stage.id)];
  return Object.entries(choices).flatMap(([answer, target]) =>
    known.includes(target)
      ? []
      : [
          problem(
            "flow_graph_invalid",
            ["escalation", "choices", answer],
            `the answer "${answer}" leads to "${target}", which is no target`,
            didYouMean(target, known, "targets"),
          ),
        ],
  );
}

function unique(problems: readonly FlowProblem[]): readonly FlowProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ code, path }) => {
    const key = `${code} ${path.join("/")}`;
    if (path[0] !== "defaults") return true;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
