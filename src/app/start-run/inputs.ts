// Turns the named values of a start into facts, placed where the flow's conditions read them.

import { factPathsOf, holds } from "../../core/flow/condition.ts";
import type { Flow, Route, Stage } from "../../core/flow/flow.ts";
import { type Json, type JsonObject, lookUp } from "../../core/json.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { isWork } from "../../core/run/sequence.ts";
import { inputsOf } from "../../core/input/inputs-of.ts";
import { optional } from "../../core/optional.ts";

export type Inputs = { readonly facts: JsonObject; readonly warnings: readonly string[] };

const SEGMENT = /^[A-Za-z_][A-Za-z0-9_-]{0,79}$/u;
const FORBIDDEN = new Set(["__proto__", "prototype", "constructor"]);

/** `plan.new_infra` is that fact. A bare `new_infra` is input.new_infra and every fact of the flow with that last name. */
export function placeInputs(flow: Flow, given: readonly (readonly [name: string, value: Json])[]): Result<Inputs> {
  const facts: Tree = {};
  const warnings: string[] = [];
  const known = factsOfFlow(flow);
  for (const [name, value] of given) {
    const path = name.split(".");
    if (!path.every((part) => SEGMENT.test(part) && !FORBIDDEN.has(part)))
      return err(invalid(`input "${name}" is not a name`, "for example plan.new_infra"));
    const [only] = path;
    const paths =
      path.length > 1 || only === undefined
        ? [path]
        : [["input", only], ...known.filter((fact) => fact.at(-1) === only)];
    for (const place of paths) {
      const full = put(facts, place, value);
      if (full !== undefined)
        return err(invalid(`input ${name}: ${full} has a value already and cannot hold ${place.at(-1)}`));
    }
    const isRead = paths.some((place) => known.some((fact) => fact.join(".") === place.join(".")));
    if (!isRead) {
      const list = known.map((fact) => fact.join(".")).join(", ");
      warnings.push(
        `the flow ${flow.name} does not read ${name}; ${list === "" ? "it reads no input" : `it reads: ${list}`}`,
      );
    }
  }
  return ok({ facts, warnings });
}

/** The facts contradict the flow's `choose`. A person who gives none of these facts chose the flow by name. */
export function otherWork({ name, chooseWhen, family }: Flow, facts: JsonObject): Problem | undefined {
  if (chooseWhen === undefined) return undefined;
  const isGiven = factPathsOf(chooseWhen).some((path) => lookUp(facts, path) !== undefined);
  if (!isGiven || holds(chooseWhen, (path) => lookUp(facts, path))) return undefined;
  return {
    code: "flow_does_not_fit",
    message: `The flow ${name} is for work where ${chooseWhen}.`,
    hint:
      family === undefined ? "passrail flow list   names the others" : `passrail run ${family} …   chooses the flow`,
  };
}

/** A copy with this fact. */
export function withFact(facts: JsonObject, [key = "", ...rest]: readonly string[], value: Json): JsonObject {
  if (rest.length === 0) return { ...facts, [key]: value };
  const inner = Object.hasOwn(facts, key) ? facts[key] : undefined;
  const held = inner === null || typeof inner !== "object" || Array.isArray(inner) ? {} : (inner as JsonObject);
  return { ...facts, [key]: withFact(held, rest, value) };
}

/** `name=value` from the command line: true, false and plain numbers become values, everything else is text. */
export function readPair(pair: string): Result<readonly [name: string, value: Json]> {
  const at = pair.indexOf("=");
  if (at < 1) return err(invalid(`--input "${pair}" is not key=value`, "for example --input plan.new_infra=true"));
  return ok([pair.slice(0, at), valueOf(pair.slice(at + 1))]);
}

/** Refuses names that Passrail sets itself. */
export function refuseReserved(facts: JsonObject): Problem | undefined {
  const own = [
    ...RESERVED.map((name) => ["config", name]),
    ...TICKET_PLACE.map((name) => ["ticket", name]),
    ["runners"],
    ["chosen"],
    ["last"],
    ["pinned"],
    ["repositories"],
  ].find((path) => lookUp(facts, path) !== undefined);
  if (own === undefined) return undefined;
  return { code: "input_reserved", message: `--input ${own.join(".")} is set by Passrail itself.` };
}

/**
 * Facts that only the ticket folder provides: the file's path, and the work that its branch must contain. A ticket file cannot set them.
 */
const TICKET_PLACE = ["file", "project", "contains"];

export function withoutPlace(ticket: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(ticket).filter(([name]) => !TICKET_PLACE.includes(name)));
}

const RESERVED = [
  "adopt_branch",
  "budget",
  "project",
  "joint",
  "workspace",
  "verdict_repair",
  "runner",
  "model",
  "repository_settings",
  "router_fallback",
  "repository_files",
  "checks",
  "check_cache",
  "memo",
  "test_files",
];

type Tree = { [key: string]: Json | Tree };

/** Names the part of the path that is already taken. */
function put(tree: Tree, path: readonly string[], value: Json): string | undefined {
  let here = tree;
  for (const part of path.slice(0, -1)) {
    const inner = here[part] ?? {};
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) return part;
    here[part] = inner;
    here = inner as Tree;
  }
  here[path.at(-1) ?? ""] = value;
  return undefined;
}

function invalid(message: string, hint?: string): Problem {
  return { code: "invalid_input", message, ...optional({ hint }) };
}

function valueOf(text: string): Json {
  if (text === "true" || text === "false") return text === "true";
  // 007 and 1e3 stay text: reading never changes a fact.
  return text !== "" && Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : text;
}

/** Every fact that this flow may look up and that the run does not produce. */
function factsOfFlow(flow: Flow): readonly (readonly string[])[] {
  const conditions = [
    flow.chooseWhen,
    ...Object.values(flow.enter).flatMap((rules) => rules.map(({ when }) => when)),
    ...flow.stages.flatMap(conditionsOf),
  ].filter((text) => text !== undefined);
  const paths = [
    ...conditions.flatMap((text) => factPathsOf(text)),
    ...flow.stages.flatMap((stage) => (stage.kind === "dynamic" ? stage.from.map((name) => name.split(".")) : [])),
    ...(Object.keys(flow.enter).length === 0 ? [] : [["ticket", "status"]]),
    ...inputsOf(flow).flatMap(({ name, states }) =>
      [name, ...states.map(({ fact }) => fact)].map((fact) => fact.split(".")),
    ),
  ];
  const routers = new Set(flow.stages.flatMap((stage) => (stage.kind === "router" ? [`${stage.id}.stages`] : [])));
  const own = paths.filter((path) => path[0] !== "last" && !routers.has(path.join(".")));
  return [...new Map(own.map((path) => [path.join("."), path])).values()];
}

function conditionsOf(stage: Stage): readonly (string | undefined)[] {
  if (stage.kind === "parallel")
    return [stage.when, ...Object.values(stage.tracks).flatMap(({ stages }) => stages.flatMap(conditionsOf))];
  if (stage.kind === "dynamic") return [stage.when, ...Object.values(stage.templates).flatMap(conditionsOf)];
  return [
    stage.when,
    ...(isWork(stage) || stage.kind === "gate" ? Object.values(stage.route).map(statusCondition) : []),
  ];
}

function statusCondition({ status }: Route): string | undefined {
  return typeof status === "object" ? status.when : undefined;
}
